from harness.errors import ErrorCode
from harness.loop import LoopPhase, LoopStatus, LoopView, StepRecord
from harness.loop_details import MAX_ROWS, render_loop
from tests.builders import NO_BUDGET


def shown(**fields: object) -> str:
    """Return the details without the padding of their cells."""
    base = {"run_id": "r", "session_id": "", "goal": "g", "phase": LoopPhase.ACTING, "max_steps": 20}
    return render_loop(LoopView.model_validate(base | {"budget": NO_BUDGET} | fields)).replace("\u00a0", "")


def record(number: int) -> StepRecord:
    return StepRecord(number=number, call=f"{number}.1", tool="a", success=True, result="A", tries=1, latency_ms=5)


def test_it_shows_the_newest_calls_and_what_is_at_work() -> None:
    refused = StepRecord(
        number=2, call="2.1", tool="b", success=False, error="no | such", error_code=ErrorCode.UNKNOWN_TOOL
    )

    lines = shown(
        steps=(record(1), refused), in_flight=("c",), steps_made=2, context_tokens=900, model="m"
    ).splitlines()

    assert lines[0] == "**ACTING** · 2 of 20 steps · about 900 tokens in view · model m"
    assert "at work: c" in lines
    assert lines[-4:] == [
        "| call | tool | ok | tries | ms | note |",
        "| --- | --- | --- | --- | --- | --- |",
        "| 1.1 | a | yes | 1 | 5 |  |",
        "| 2.1 | b | no | 0 |  | no \\| such |",
    ]


def test_a_loop_that_has_ended_shows_how_and_that_it_has_called_nothing() -> None:
    text = shown(status=LoopStatus.FAILED)

    assert text.startswith("**FAILED** · 0 of 20 steps · about 0 tokens in view · model not known")
    assert "| call |" not in text


def test_of_many_calls_the_newest_are_shown() -> None:
    lines = shown(steps=tuple(map(record, range(1, MAX_ROWS + 6)))).splitlines()

    rows = [line for line in lines if ".1 | a |" in line]
    assert len(rows) == MAX_ROWS
    assert rows[0].startswith("| 6.1 |")
