"""What was written is not written again, whatever happens around it."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from temporalio.client import Client

from activities.artifact_folders import Owner
from activities.artifact_place import find_place
from activities.artifacts import ArtifactStore
from activities.toolkit import ToolContext, Toolkit, tool
from harness.catalog import Effect
from harness.errors import ErrorCode, ReportedError, ToolError
from harness.plan import ArgumentValue, Plan
from harness.run import RunStatus
from harness.schedule import NodeStatus
from tests.builders import literal, node, plan, result_of, results_of
from tests.stage import ScriptedTools, fan_in, stage

pytestmark = pytest.mark.asyncio(loop_scope="session")

MISSING = ToolError(ErrorCode.MISSING_INFO, "look elsewhere")
READS = tuple(f"r{i}" for i in range(8))


def wide(tools: ScriptedTools) -> Toolkit:
    return tools.toolkit([*READS, "late"])


async def test_a_write_is_kept_when_the_results_do_not_all_fit_in_the_next_attempt(client: Client) -> None:
    outcomes: dict[str, list[Any]] = {name: ["x" * 200_000] for name in READS}
    outcomes |= {"write": ["w" * 240_000], "late": [MISSING, "found"]}
    tools = ["write", *READS, "late"]
    nodes = fan_in(*tools, deps={"late": ("write", *READS)}).nodes[:-1]
    report = node("report", "write_report", deps=[n.id for n in nodes], arguments={"sources": results_of("n_late")})
    async with stage(client, plan(*nodes, report), outcomes=outcomes, toolkit=wide) as it:
        result = await it.run(max_concurrency=10)

    assert result.status is RunStatus.SUCCEEDED
    assert len(result.attempts) == 1
    assert it.tools.count("write") == 1


ADDRESS = {"from the document": result_of("doc", "/to"), "written out": literal("bob")}


@pytest.mark.parametrize(("first", "then"), [ADDRESS.values(), [*ADDRESS.values()][::-1]], ids=ADDRESS)
async def test_a_write_is_not_repeated_when_the_next_plan_words_it_otherwise(
    client: Client, first: ArgumentValue, then: ArgumentValue
) -> None:
    def to(address: ArgumentValue) -> Plan:
        last = node("report", "write_report", deps=["late"], arguments={"sources": results_of("late")})
        save = node("save", "save", deps=["doc"], arguments={"text": address})
        return plan(node("doc", "r0"), save, node("late", "late", deps=["save"]), last)

    outcomes: dict[str, list[Any]] = {"r0": [{"to": "bob", "text": "x" * 20_000}], "late": [MISSING, "found"]}
    async with stage(client, to(first), to(then), outcomes=outcomes, toolkit=with_save) as it:
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert it.tools.count("save") == 1
    assert [(report.node.id, report.reused) for report in result.plan][:2] == [("doc", True), ("save", True)]


def with_save(tools: ScriptedTools) -> Toolkit:
    @tool(effect=Effect.WRITE)
    async def save(text: str, context: ToolContext) -> Any:
        """Save a text."""
        return await tools.play("save", context)

    kit = wide(tools)
    return replace(kit, tools=(*kit.tools, save))


@pytest.mark.parametrize("lost", [ErrorCode.TIMEOUT, ErrorCode.PROVIDER_UNAVAILABLE, ErrorCode.INVALID_OUTPUT])
async def test_a_write_whose_answer_was_lost_is_not_repeated(client: Client, lost: ErrorCode) -> None:
    async with stage(client, fan_in("write"), outcomes={"write": [ToolError(lost, "who knows")]}) as it:
        result = await it.run()

    assert it.tools.count("write") == 1
    assert result.error_code is ErrorCode.UNCERTAIN_EFFECT


def _unreadable() -> Exception:
    with pytest.raises(ValidationError) as error:
        TypeAdapter(int).validate_python("no number")
    return error.value


@pytest.mark.parametrize(
    "raised", [_unreadable(), ReportedError(ErrorCode.INVALID_ARGUMENT, "the server says no")], ids=["body", "server"]
)
async def test_a_write_that_fails_after_it_has_begun_is_not_repeated(client: Client, raised: Exception) -> None:
    async with stage(client, fan_in("write"), outcomes={"write": [raised]}) as it:
        result = await it.run()

    assert it.tools.count("write") == 1
    assert (result.error_code, len(result.attempts)) == (ErrorCode.UNCERTAIN_EFFECT, 0)


async def test_a_read_that_a_server_refuses_is_planned_anew(client: Client) -> None:
    refusal = ReportedError(ErrorCode.INVALID_ARGUMENT, "the server says no")
    async with stage(client, fan_in("r0"), outcomes={"r0": [refusal, "found"]}, toolkit=wide) as it:
        result = await it.run()

    assert (result.status, len(result.attempts)) == (RunStatus.SUCCEEDED, 1)


async def test_a_write_that_a_cancel_has_stopped_is_uncertain(client: Client) -> None:
    started = asyncio.Event()

    async def hang(_: object) -> str:
        started.set()
        await asyncio.sleep(30)
        return "written"

    async with stage(client, fan_in("write"), outcomes={"write": [hang]}) as it:
        handle = await it.start()
        await asyncio.wait_for(started.wait(), 10)
        await handle.cancel()
        result = await asyncio.wait_for(handle.result(), 10)

    assert (result.plan[0].status, result.plan[0].error_code) == (NodeStatus.CANCELLED, ErrorCode.UNCERTAIN_EFFECT)


async def test_a_write_whose_arguments_cannot_be_loaded_is_not_uncertain(client: Client) -> None:
    class Forgetful(ArtifactStore):
        async def get(self, owner: Owner, digest: str) -> bytes:
            raise ToolError(ErrorCode.PROVIDER_UNAVAILABLE, "the store is away")

    given = plan(
        node("doc", "r0"),
        node("save", "save", deps=["doc"], arguments={"text": result_of("doc", "/to")}),
        node("report", "write_report", deps=["save"], arguments={"sources": results_of("save")}),
    )
    outcomes: dict[str, list[Any]] = {"r0": [{"to": "bob", "text": "x" * 20_000}]}
    store = Forgetful(find_place("memory://"))
    async with stage(client, given, outcomes=outcomes, toolkit=with_save, store=store) as it:
        result = await it.run(max_run_retries=0, max_replans=0)

    assert it.tools.count("save") == 0
    assert result.error_code is ErrorCode.PROVIDER_UNAVAILABLE
    assert result.plan[1].status is NodeStatus.FAILED
