"""How a run ended, in words: the status with the code, the error with its class, the note of a node with its code."""

import pytest

from cli.progress import event_line
from cli.render import outcome_line, story_of_result
from harness.errors import ErrorClass, ErrorCode
from harness.run import NodeReport, RunResult, RunStatus
from harness.schedule import NodeStatus
from harness.trace import TraceKind
from tests.builders import NO_BUDGET, event, node


def result_of_run(**fields: object) -> RunResult:
    plain = {"run_id": "run-1", "session_id": "", "status": RunStatus.FAILED_PLANNING, "budget": NO_BUDGET}
    return RunResult.model_validate({**plain, **fields})


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        (
            {"error": "stop", "error_class": ErrorClass.FATAL, "error_code": ErrorCode.GUARDRAIL_BLOCKED},
            "Run run-1 ended FAILED_PLANNING (GUARDRAIL_BLOCKED): stop (tokens",
        ),
        ({"error": "stop", "error_class": ErrorClass.FATAL}, "Run run-1 ended FAILED_PLANNING: stop (tokens"),
        ({"error": "stop"}, "Run run-1 ended FAILED_PLANNING: stop (tokens"),
        ({"status": RunStatus.SUCCEEDED}, "Run run-1 ended SUCCEEDED (tokens"),
    ],
    ids=["class and code", "class", "neither", "no error"],
)
def test_the_outcome_names_the_code(fields: dict[str, object], line: str) -> None:
    assert outcome_line(result_of_run(**fields)).startswith(line)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        (
            {"error_class": ErrorClass.FATAL, "error_code": ErrorCode.GUARDRAIL_BLOCKED},
            "Error: FATAL GUARDRAIL_BLOCKED: stop",
        ),
        ({"error_class": ErrorClass.FATAL}, "Error: FATAL: stop"),
        ({}, "Error: stop"),
    ],
    ids=["class and code", "class", "neither"],
)
def test_an_error_is_shown_with_its_class_and_code(fields: dict[str, object], line: str) -> None:
    assert line in list(story_of_result(result_of_run(error="stop", **fields), "a goal"))


def test_the_note_of_a_node_names_its_code() -> None:
    report = NodeReport(node=node("a"), status=NodeStatus.FAILED, tries=3, error="late", error_code=ErrorCode.TIMEOUT)

    story = list(story_of_result(result_of_run(plan=(report,)), "a goal"))

    assert "  a     read  FAILED  3                       TIMEOUT late" in story


def test_an_event_that_has_a_code_names_it_beside_its_status() -> None:
    told = event(TraceKind.RUN_FINISH, "FAILED", "stop", errorCode="GUARDRAIL_BLOCKED")

    assert event_line(told, "0 s") == "0 s  run.finish  FAILED (GUARDRAIL_BLOCKED)  stop"
