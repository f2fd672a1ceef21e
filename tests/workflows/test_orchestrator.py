"""The state machine of a plan run on the real dev server. Ports harness-demo AgentOrchestratorTests by behaviour."""

import asyncio
from datetime import timedelta

import pytest
from temporalio.client import Client

from activities.model.request import ModelError
from activities.toolkit import Report
from harness.budget import Limits
from harness.errors import ErrorClass, ErrorCode, ToolError
from harness.run import RunStatus
from harness.schedule import NodeStatus
from harness.trace import TraceKind
from tests.builders import node, plan
from tests.stage import fan_in, kinds, stage

pytestmark = pytest.mark.asyncio(loop_scope="session")

MISSING = ToolError(ErrorCode.MISSING_INFO, "the period is missing; name one")
LATE = ToolError(ErrorCode.TIMEOUT, "no answer in time")


async def test_a_run_ends_with_its_report_and_a_trace_of_2n_plus_6_events(client: Client) -> None:
    async with stage(client, fan_in("a", "b", "c", "d")) as it:
        result = await it.run(max_replans=0)

    assert result.status is RunStatus.SUCCEEDED
    assert result.report == "WRITE_REPORT from ['A', 'B', 'C', 'D']"
    assert result.error is None
    assert len(result.trace) == 2 * 5 + 6
    assert kinds(result)[:3] == ["run.start", "planning.finish", "validation.finish"]
    assert kinds(result)[-3:] == ["execution.finish", "verification.finish", "run.finish"]
    finish = [e for e in result.trace if e.kind is TraceKind.NODE_FINISH and e.node_id == "report"]
    assert len(finish) == 1
    assert finish[0].role == "FINAL_SYNTHESIS"
    assert finish[0].latency_ms is not None
    assert finish[0].data["tool"] == "write_report"
    assert result.budget.tool_calls == 5
    assert result.budget.tokens == 150


async def test_a_plan_that_breaks_rules_is_drawn_up_again_with_all_violations(client: Client) -> None:
    broken = plan(node("x", "a", deps=["ghost"]), node("y", "nothing"))
    async with stage(client, broken, fan_in("a")) as it:
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert kinds(result, "recovery.decide", "replanning.start") == ["recovery.decide", "replanning.start"]
    told = it.model.requests[1].user
    assert "ghost" in told
    assert "nothing" in told
    assert "exactly one FINAL_SYNTHESIS" in told
    assert [attempt.phase for attempt in result.attempts] == ["VALIDATING"]


async def test_a_plan_that_stays_invalid_fails_validation(client: Client) -> None:
    async with stage(client, plan(node("x", "a"))) as it:
        result = await it.run(max_replans=1)

    assert result.status is RunStatus.FAILED_VALIDATION
    assert result.error is not None
    assert "exactly one FINAL_SYNTHESIS" in result.error
    assert len(it.model.requests) == 2
    assert it.tools.calls == []


async def test_an_unforeseen_exception_of_a_tool_is_fatal(client: Client) -> None:
    async with stage(client, fan_in("a"), outcomes={"a": [RuntimeError("boom")]}) as it:
        result = await it.run()

    assert result.status is RunStatus.FAILED_EXECUTION
    assert result.error_class is ErrorClass.FATAL
    assert result.error_code is ErrorCode.TOOL_EXECUTION_FAILED
    assert it.tools.count("a") == 1
    assert result.plan[1].status is NodeStatus.SKIPPED
    assert result.plan[1].error == "dependency failed"


async def test_missing_info_is_recorded_as_the_class_that_replans(client: Client) -> None:
    async with stage(client, fan_in("a", "b"), outcomes={"a": [MISSING]}) as it:
        result = await it.run(max_replans=0)

    assert result.status is RunStatus.FAILED_EXECUTION
    assert result.error_class is ErrorClass.MISSING_INFO
    (decision,) = [e for e in result.trace if e.kind is TraceKind.RECOVERY_DECIDE]
    assert decision.status == "REPLAN"
    assert decision.data == {"errorClass": "MISSING_INFO", "outcome": "HALT"}
    (failed,) = [e for e in result.trace if e.kind is TraceKind.NODE_FAIL]
    assert (failed.node_id, failed.message) == ("n_a", MISSING.message)
    assert failed.data["errorCode"] == "MISSING_INFO"
    assert failed.latency_ms is not None


async def test_missing_info_replans_and_tells_the_planner_what_failed(client: Client) -> None:
    async with stage(client, fan_in("a", "b"), outcomes={"a": [MISSING, "found"]}) as it:
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert len(it.model.requests) == 2
    assert "MISSING_INFO" in it.model.requests[1].user
    assert "n_a" in it.model.requests[1].user
    assert kinds(result, "replanning.start") == ["replanning.start"]


async def test_a_replan_reuses_what_was_paid_for(client: Client) -> None:
    async with stage(client, fan_in("a", "b"), outcomes={"a": [MISSING, "found"]}) as it:
        result = await it.run()

    assert it.tools.count("b") == 1
    assert [e.node_id for e in result.trace if e.kind is TraceKind.NODE_REUSE] == ["n_b"]
    assert {n.node.id: n.reused for n in result.plan} == {"n_a": False, "n_b": True, "report": False}
    assert result.budget.tool_calls == 4
    assert result.report == "WRITE_REPORT from ['found', 'B']"


async def test_replans_stop_at_their_limit(client: Client) -> None:
    async with stage(client, fan_in("a"), outcomes={"a": [MISSING]}) as it:
        result = await it.run(max_replans=1)

    assert result.status is RunStatus.FAILED_EXECUTION
    assert result.error_class is ErrorClass.MISSING_INFO
    assert len(it.model.requests) == 2
    assert kinds(result, "replanning.start") == ["replanning.start"]
    assert len(result.attempts) == 1


async def test_a_rejected_report_is_written_again_with_the_reasons(client: Client) -> None:
    blank, good = Report(report="  "), Report(report="good")
    async with stage(client, fan_in("a"), outcomes={"write_report": [blank, good]}) as it:
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert result.report == "good"
    assert it.tools.count("a") == 1
    assert it.tools.count("write_report") == 2
    assert "must not be blank" in it.tools.calls[-1].feedback
    assert [attempt.phase for attempt in result.attempts] == ["VERIFYING"]


async def test_a_report_that_stays_rejected_fails_verification_and_is_withheld(client: Client) -> None:
    async with stage(client, fan_in("a"), outcomes={"write_report": [Report(report="")]}) as it:
        result = await it.run(max_replans=1)

    assert result.status is RunStatus.FAILED_VERIFICATION
    assert result.report is None
    assert result.verdict is not None
    assert not result.verdict.passed
    assert "must not be blank" in (result.error or "")


async def test_a_run_without_tokens_for_planning_is_exhausted_before_it_asks(client: Client) -> None:
    async with stage(client, fan_in("a")) as it:
        result = await it.run(limits=Limits(max_tokens=1))

    assert result.status is RunStatus.BUDGET_EXHAUSTED
    assert "before planning" in (result.error or "")
    assert it.model.requests == []


async def test_a_planner_that_fails_for_good_fails_the_run_with_its_reason(client: Client) -> None:
    async with stage(client, ModelError(ErrorCode.AUTHENTICATION, "planner down")) as it:
        result = await it.run()

    assert result.status is RunStatus.FAILED_PLANNING
    assert result.error == "planner down"
    assert len(it.model.requests) == 1


async def test_an_answer_that_is_no_plan_is_asked_for_again(client: Client) -> None:
    async with stage(client, "no plan today", fan_in("a")) as it:
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert result.budget.tokens == 300
    assert [attempt.phase for attempt in result.attempts] == ["PLANNING"]


async def test_a_run_that_finishes_on_its_last_allowed_call_succeeds(client: Client) -> None:
    async with stage(client, fan_in("a", "b")) as it:
        result = await it.run(limits=Limits(max_tool_calls=3))

    assert result.status is RunStatus.SUCCEEDED
    assert result.budget.pressure == 1.0


async def test_a_plan_with_more_nodes_than_calls_is_refused(client: Client) -> None:
    async with stage(client, fan_in("a", "b")) as it:
        result = await it.run(limits=Limits(max_tool_calls=2), max_replans=0)

    assert result.status is RunStatus.FAILED_VALIDATION
    assert it.tools.calls == []


async def test_four_transient_failures_never_exceed_a_limit_of_six_calls(client: Client) -> None:
    outcomes = {name: [LATE] for name in "abcd"}
    async with stage(client, fan_in(*"abcd"), outcomes=outcomes) as it:
        result = await it.run(limits=Limits(max_tool_calls=6))

    assert len(it.tools.calls) <= 6
    assert result.budget.tool_calls == len(it.tools.calls)
    assert result.status is RunStatus.BUDGET_EXHAUSTED
    assert "report (write_report): skipped" in (result.report or "")
    assert result.plan[-1].status is NodeStatus.SKIPPED


async def test_independent_branches_go_on_after_a_failure(client: Client) -> None:
    both = fan_in("a", "b", "c", deps={"c": ("b",)})
    async with stage(client, both, outcomes={"a": [RuntimeError("boom")]}) as it:
        result = await it.run()

    statuses = {n.node.id: n.status for n in result.plan}
    assert statuses == {"n_a": "FAILED", "n_b": "DONE", "n_c": "DONE", "report": "SKIPPED"}


async def test_the_wall_clock_ends_a_run_with_what_it_has(client: Client) -> None:
    async def slow(_: object) -> str:
        await asyncio.sleep(30)
        return "late"

    async with stage(client, fan_in("a", "b"), outcomes={"b": [slow]}) as it:
        result = await it.run(limits=Limits(max_wall_clock=timedelta(seconds=2)))

    assert result.status is RunStatus.BUDGET_EXHAUSTED
    assert {n.node.id: n.status for n in result.plan} == {"n_a": "DONE", "n_b": "CANCELLED", "report": "SKIPPED"}
    assert "Partial report" in (result.report or "")


async def test_a_write_is_tried_once_and_its_loss_is_uncertain(client: Client) -> None:
    async with stage(client, fan_in("write"), outcomes={"write": [LATE]}) as it:
        result = await it.run()

    assert it.tools.count("write") == 1
    assert result.error_code is ErrorCode.UNCERTAIN_EFFECT
