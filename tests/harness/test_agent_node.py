"""Agent nodes: their tool, their share of the budget, and as what they fail."""

from decimal import Decimal

import pytest

from harness.agent_node import node_error, share_of, with_agents
from harness.budget import Amount
from harness.catalog import Effect, ToolRole, Withheld
from harness.errors import ErrorCode, ToolError
from harness.json_schema import mismatch
from harness.loop import LoopResult, LoopStatus
from tests.builders import NO_BUDGET, catalog, tool_spec


def ended(
    status: LoopStatus,
    code: ErrorCode | None = None,
    *,
    error: str | None,
    report: str | None,
    has_written: bool = False,
) -> LoopResult:
    """Return the result of a loop."""
    return LoopResult(
        run_id="run-1::agent@0.0",
        session_id="s",
        status=status,
        report=report,
        error=error,
        error_code=code,
        budget=NO_BUDGET,
        has_written=has_written,
    )


def test_the_agent_is_a_tool_that_takes_a_goal_and_data() -> None:
    tool = with_agents(catalog()).tool("agent")

    assert tool is not None
    assert tool.role is ToolRole.ANALYSIS
    assert tool.required_parameters == ("goal",)
    assert mismatch({"goal": "find it", "given": {"games": []}}, tool.parameters) is None
    assert mismatch({"answer": "found"}, tool.result) is None
    assert tool.tries == 1


@pytest.mark.parametrize(
    ("effects", "strongest"),
    [
        ((), Effect.READ),
        ((Effect.READ,), Effect.READ),
        ((Effect.IDEMPOTENT_WRITE, Effect.READ), Effect.IDEMPOTENT_WRITE),
        ((Effect.READ, Effect.WRITE, Effect.IDEMPOTENT_WRITE), Effect.WRITE),
    ],
)
def test_it_may_do_what_the_tools_may_do_that_it_calls(effects: tuple[Effect, ...], strongest: Effect) -> None:
    tools = [tool_spec(f"tool{place}", effect=effect) for place, effect in enumerate(effects)]
    report = tool_spec("report", role=ToolRole.FINAL_SYNTHESIS, effect=Effect.WRITE)

    tool = with_agents(catalog(*tools, report)).tool("agent")

    assert tool is not None
    assert tool.effect is strongest


@pytest.mark.parametrize("name", ["agent", "remember", "recall"])
def test_names_that_agents_need_are_refused(name: str) -> None:
    shown = catalog(tool_spec(name))
    withheld = catalog().model_copy(update={"withheld": (Withheld(name=name, reason="it writes"),)})
    left_out = catalog().model_copy(update={"left_out": (name,)})

    for each in (shown, withheld, left_out):
        with pytest.raises(ToolError, match=f"toolkit 'test' has tools named '{name}', which agents need") as raised:
            with_agents(each)
        assert raised.value.code is ErrorCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("left", "agents", "share"),
    [
        (Amount(20_000, 50, Decimal(1)), 1, Amount(20_000, 50, Decimal(1))),
        (Amount(20_000, 50, Decimal(1)), 3, Amount(6666, 16, Decimal("0.333333333333"))),
        (Amount(20_000, 50, Decimal(2)), 3, Amount(6666, 16, Decimal("0.666666666666"))),
        (Amount(3000, 2, Decimal(1)), 3, Amount(2500, 1, Decimal("0.333333333333"))),
        (Amount(2500, 1, Decimal("0.000001")), 9, Amount(2500, 1, Decimal("0.000001"))),
        (Amount(2499, 50, Decimal(1)), 1, None),
        (Amount(20_000, 0, Decimal(1)), 1, None),
        (Amount(20_000, 50, Decimal(0)), 1, None),
    ],
)
def test_each_agent_gets_an_equal_part_or_the_least_that_it_needs(
    left: Amount, agents: int, share: Amount | None
) -> None:
    assert share_of(left, agents) == share


def test_what_other_nodes_will_need_is_not_shared_out() -> None:
    left, kept = Amount(20_000, 50, Decimal(1)), Amount(8000, 0, Decimal("0.4"))

    assert share_of(left, 2, kept) == Amount(6000, 25, Decimal("0.3"))
    assert share_of(left, 2, Amount(19_999)) == Amount(2500, 25, Decimal("0.5")), "the least comes first"


def test_an_agent_that_completed_has_no_error() -> None:
    assert node_error(ended(LoopStatus.COMPLETED, error=None, report="found", has_written=False)) is None
    assert node_error(ended(LoopStatus.COMPLETED, error=None, report="found", has_written=True)) is None


@pytest.mark.parametrize("status", [status for status in LoopStatus if status is not LoopStatus.COMPLETED])
@pytest.mark.parametrize("code", list(ErrorCode))
def test_an_agent_that_has_written_and_did_not_complete_is_uncertain_whatever_stopped_it(
    status: LoopStatus, code: ErrorCode
) -> None:
    failed = node_error(ended(status, code, error="it stopped", report=None, has_written=True))

    assert failed == (ErrorCode.UNCERTAIN_EFFECT, f"the agent ended with {status}: it stopped")


@pytest.mark.parametrize(
    "status",
    [LoopStatus.MAX_STEPS_EXCEEDED, LoopStatus.NO_PROGRESS, LoopStatus.BUDGET_EXHAUSTED, LoopStatus.TIMEOUT],
)
def test_an_agent_at_its_limits_fails_so_that_another_plan_is_made(status: LoopStatus) -> None:
    assert node_error(ended(status, error="too much", report="so far")) == (
        ErrorCode.INVALID_OUTPUT,
        f"the agent ended with {status}: too much; it says: so far",
    )
    assert node_error(ended(status, error=None, report=None)) == (
        ErrorCode.INVALID_OUTPUT,
        f"the agent ended with {status}: its limit is reached",
    )


def test_a_long_partial_answer_is_cut() -> None:
    failed = node_error(ended(LoopStatus.NO_PROGRESS, error="it repeats itself", report="x" * 9000))

    assert failed is not None
    assert len(failed[1]) < 1100


@pytest.mark.parametrize(
    ("status", "code", "passed_on"),
    [
        (LoopStatus.FAILED, ErrorCode.AUTHENTICATION, ErrorCode.AUTHENTICATION),
        (LoopStatus.FAILED, None, ErrorCode.INTERNAL),
        (LoopStatus.CANCELLED, None, ErrorCode.INTERNAL),
    ],
)
def test_the_code_of_an_agent_that_failed_is_passed_on(
    status: LoopStatus, code: ErrorCode | None, passed_on: ErrorCode
) -> None:
    assert node_error(ended(status, code, error=None, report="so far")) == (
        passed_on,
        f"the agent ended with {status}: nothing says why",
    )
