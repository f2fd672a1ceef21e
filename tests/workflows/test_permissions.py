"""What a run may use is the harness's decision: a tool that is withheld never runs, whatever a planner writes."""

import pytest
from temporalio.client import Client

from harness.errors import ErrorCode
from harness.run import RunResult, RunStatus
from harness.trace import TraceEvent, TraceKind
from tests.builders import node, plan
from tests.stage import fan_in, stage

pytestmark = pytest.mark.asyncio(loop_scope="session")


def event_of(result: RunResult, kind: TraceKind) -> TraceEvent:
    return next(event for event in result.trace if event.kind is kind)


async def test_a_denied_tool_never_runs_though_every_plan_names_it(client: Client) -> None:
    async with stage(client, fan_in("a", "b")) as it:
        result = await it.run(deny=("b",), max_replans=1)

    assert result.status is RunStatus.FAILED_VALIDATION
    assert result.error == (
        "node 'n_b': the run may not use tool 'b': it is denied by 'b'; it would be allowed without that (--deny)"
    )
    assert it.tools.calls == []
    assert len(it.model.requests) == 2
    assert '"name":"b"' not in it.model.requests[0].user
    assert "the run may not use tool 'b'" in it.model.requests[1].user
    assert event_of(result, TraceKind.PERMISSIONS_APPLY).data["withheld"] == {
        "count": 1,
        "first": [{"name": "b", "reason": "it is denied by 'b'; it would be allowed without that (--deny)"}],
    }


async def test_a_planner_that_is_told_plans_without_the_denied_tool(client: Client) -> None:
    async with stage(client, fan_in("a", "b"), fan_in("a")) as it:
        result = await it.run(deny=("b",))

    assert result.status is RunStatus.SUCCEEDED
    assert [call.tool for call in it.tools.calls] == ["a", "write_report"]


async def test_only_allowed_tools_and_the_report_are_shown(client: Client) -> None:
    async with stage(client, fan_in("a")) as it:
        result = await it.run(allow=("a", "[bc]"))

    shown = it.model.requests[0].user
    assert result.status is RunStatus.SUCCEEDED
    assert [f'"name":"{name}"' in shown for name in ("a", "b", "c", "d", "write", "write_report")] == [
        *([True] * 3),
        *([False] * 2),
        True,
    ]


async def test_a_write_runs_only_where_the_run_allows_writes(client: Client) -> None:
    async with stage(client, fan_in("write")) as it:
        refused = await it.run(allow_writes=False, max_replans=0)
        calls = len(it.tools.calls)
        allowed = await it.run(allow_writes=True)

    assert refused.status is RunStatus.FAILED_VALIDATION
    assert "it would be allowed in a run that may write (--allow-writes)" in (refused.error or "")
    assert calls == 0
    assert allowed.status is RunStatus.SUCCEEDED
    assert it.tools.count("write") == 1


async def test_a_permission_must_be_granted(client: Client) -> None:
    async with stage(client, fan_in("a"), toolkit=lambda tools: tools.toolkit(permission="mail")) as it:
        refused = await it.run(max_replans=0)
        granted = await it.run(allow=("permission:mail",))

    assert refused.status is RunStatus.FAILED_VALIDATION
    assert "the permission 'mail' is not granted" in (refused.error or "")
    assert granted.status is RunStatus.SUCCEEDED


@pytest.mark.parametrize(
    ("deny", "said"),
    [
        (("write_report",), "the run may use no tool that writes the report (FINAL_SYNTHESIS) of toolkit 'stage'"),
        (("*", "typo"), "the run may use no tool of toolkit 'stage'"),
    ],
)
async def test_a_run_without_a_report_ends_before_a_model_is_asked(
    client: Client, deny: tuple[str, ...], said: str
) -> None:
    async with stage(client, fan_in("a")) as it:
        result = await it.run(deny=deny)

    assert (result.status, result.error_code) == (RunStatus.FAILED_PLANNING, ErrorCode.INVALID_ARGUMENT)
    assert (result.error or "").startswith(said)
    assert ("no tool matches 'typo'" in (result.error or "")) == ("typo" in deny)
    assert it.model.requests == []


async def test_a_pattern_that_matches_nothing_is_in_the_trace(client: Client) -> None:
    async with stage(client, fan_in("a")) as it:
        result = await it.run(deny=("wirte",))

    event = event_of(result, TraceKind.PERMISSIONS_APPLY)
    assert result.status is RunStatus.SUCCEEDED
    assert event.message == "no tool matches 'wirte': check the spelling"
    assert event.data["unmatched_patterns"] == ["wirte"]


async def test_a_run_that_may_use_everything_says_nothing_of_permissions(client: Client) -> None:
    async with stage(client, fan_in("a")) as it:
        result = await it.run(allow=("*",))

    assert TraceKind.PERMISSIONS_APPLY not in [event.kind for event in result.trace]


async def test_an_unknown_tool_costs_one_repair(client: Client) -> None:
    wrong = plan(node("x", "launch_rocket"), node("y", "B"))

    async with stage(client, wrong, fan_in("a")) as it:
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert len(it.model.requests) == 2
    assert "unknown tool 'B'; did you mean 'b'?" in it.model.requests[1].user
    assert [call.tool for call in it.tools.calls] == ["a", "write_report"]


async def test_unknown_tools_in_every_plan_end_at_the_cap_by_name_and_run_nothing(client: Client) -> None:
    wrong = plan(node("x", "launch_rocket"), node("y", "B"))

    async with stage(client, wrong) as it:
        result = await it.run()

    assert result.status is RunStatus.FAILED_VALIDATION
    assert "unknown tool 'launch_rocket'" in (result.error or "")
    assert len(it.model.requests) == 3
    assert it.tools.calls == []
