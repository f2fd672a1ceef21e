from harness.loop import LoopPhase, LoopResult, LoopStatus, LoopView, StepRecord
from harness.loop_fit import encode_loop_result, fit_loop_result, fit_loop_view
from harness.trace import TraceEvent, TraceKind
from harness.wire_size import encoded_size
from tests.builders import NO_BUDGET, event


def finished(message: str) -> TraceEvent:
    return event(TraceKind.STEP_FINISH, "DONE", message)


def record(number: int, size: int = 0) -> StepRecord:
    return StepRecord(number=number, call=f"{number}.1", tool="a", success=True, result="x" * size)


def result(**fields: object) -> LoopResult:
    base = {"run_id": "r", "session_id": "", "status": LoopStatus.NO_PROGRESS, "budget": NO_BUDGET}
    return LoopResult.model_validate(base | fields)


def test_a_result_that_fits_is_returned_as_it_is() -> None:
    small = result(report="found", steps=(record(1),))

    assert fit_loop_result(small) is small
    assert encode_loop_result(small).data == small.model_dump_json(exclude_unset=True).encode()


def test_a_result_is_encoded_as_what_fits_of_it() -> None:
    large = result(report="found", steps=tuple(record(number, 1000) for number in range(1, 11)), trace=(finished("e"),))
    size = len(encode_loop_result(large).data)

    assert len(encode_loop_result(large, size).data) == size
    assert len(encode_loop_result(large, size - 1).data) < size
    assert LoopResult.model_validate_json(encode_loop_result(large, 4500).data) == fit_loop_result(large, 4500)


def test_of_a_result_that_is_too_large_the_newest_steps_are_kept_and_the_others_counted() -> None:
    large = result(report="found", steps=tuple(record(number, 1000) for number in range(1, 11)), trace=(finished("e"),))

    fitted = fit_loop_result(large, 4500)

    assert encoded_size(fitted) <= 4500
    assert [step.number for step in fitted.steps] == [8, 9, 10]
    assert fitted.steps_dropped == 7
    assert fitted.report == "found"
    assert [each.message for each in fitted.trace] == ["e"]


def test_events_that_do_not_fit_beside_the_steps_are_counted() -> None:
    large = result(steps=(record(1, 500),), trace=tuple(finished("e" * 300) for _ in range(10)))

    fitted = fit_loop_result(large, 4000)

    assert len(fitted.steps) == 1
    assert len(fitted.trace) + fitted.trace_dropped == 10
    assert fitted.trace_dropped > 0


def test_a_report_and_an_error_that_are_too_large_are_cut_and_say_so() -> None:
    large = result(report="r" * 50_000, error="e" * 50_000)

    fitted = fit_loop_result(large, 40_000)

    assert encoded_size(fitted) <= 40_000
    assert "characters cut" in (fitted.report or "")
    assert "characters cut" in (fitted.error or "")


def test_a_view_has_the_newest_steps_that_fit() -> None:
    view = LoopView(
        run_id="r",
        session_id="",
        goal="g",
        phase=LoopPhase.ACTING,
        max_steps=20,
        steps=tuple(record(number, 1000) for number in range(1, 6)),
        budget=NO_BUDGET,
    )

    assert [step.number for step in fit_loop_view(view, 3200).steps] == [4, 5]
    assert fit_loop_view(view) == view
