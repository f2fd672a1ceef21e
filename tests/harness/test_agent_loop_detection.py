"""The detection table: what counts as going in circles, and what as progress; also across continue-as-new."""

from collections.abc import Callable

import pytest

from harness.agent_state import AgentState
from harness.errors import ErrorCode
from harness.loop import LoopStatus
from harness.loop_effects import Closing, End
from harness.loop_options import LoopOptions
from tests.harness.loops import Driver, Outcome, Turn, Wanted, as_it_is, begin, carried, turn

PASSES = pytest.mark.parametrize("between", [as_it_is, carried], ids=["at once", "carried at every point"])
Between = Callable[[AgentState], AgentState]

SEARCH = Wanted("search", {"query": "a"}, Outcome(["x"]))
PRICE = Wanted("get_price", {"title": "a"}, Outcome(3))
NOW = Wanted("now", {}, Outcome("noon"))
SWAPPED = (
    Wanted("search", {"query": "a", "page": 1}, Outcome("x")),
    Wanted("search", {"page": 1, "query": "a"}, Outcome("x")),
    Wanted("search", {"query": "a", "page": 1}, Outcome("x")),
)
NUMBERS = tuple(Wanted("search", {"page": page}, Outcome("x")) for page in (1, 1.0, 1))
IN_LISTS = tuple(Wanted("plot", {"points": [{"x": x}, 0.5]}, Outcome("x")) for x in (1, 1.0, 1))
FAILING = Wanted("search", {"query": "a"}, Outcome(code=ErrorCode.TOOL_EXECUTION_FAILED, message="no such index"))
UNKNOWN = Wanted("serch", {"query": "a"})
WRONG = Wanted("search", {"query": 7})
UNREADABLE = Wanted("search", problem="not a JSON object")

REPEATS = {
    "identical": ([SEARCH] * 3, 3, "tool 'search' gave the same result 3 times for the same arguments"),
    "key order changed": (list(SWAPPED), 3, "tool 'search' gave the same result 3 times for the same arguments"),
    "1 and 1.0": (list(NUMBERS), 3, "tool 'search' gave the same result 3 times for the same arguments"),
    "1 and 1.0 inside": (list(IN_LISTS), 3, "tool 'plot' gave the same result 3 times for the same arguments"),
    "A-B-A-B": ([SEARCH, PRICE] * 3, 5, "tool 'search' gave the same result 3 times for the same arguments"),
    "A-B-C-A-B-C": ([SEARCH, PRICE, NOW] * 3, 7, "tool 'search' gave the same result 3 times for the same arguments"),
    "failing": ([FAILING] * 3, 3, "tool 'search' failed with TOOL_EXECUTION_FAILED 3 times for the same arguments"),
    "unknown tool": ([UNKNOWN] * 3, 3, "tool 'serch' failed with UNKNOWN_TOOL 3 times for the same arguments"),
    "wrong arguments": ([WRONG] * 3, 3, "tool 'search' failed with INVALID_ARGUMENT 3 times for the same arguments"),
    "unreadable": ([UNREADABLE] * 3, 3, "tool 'search' failed with INVALID_ARGUMENT 3 times for the same arguments"),
}
PATIENT = LoopOptions(no_progress_steps=100)


@PASSES
@pytest.mark.parametrize(("calls", "steps", "reason"), REPEATS.values(), ids=REPEATS)
def test_the_same_call_with_the_same_outcome_closes_the_loop_at_the_limit(
    calls: list[Wanted], steps: int, reason: str, between: Between
) -> None:
    driver = Driver(begin(PATIENT), between)

    end = driver.run([*map(turn, calls[:steps]), Turn(answer="what I have")])

    assert end == End(LoopStatus.NO_PROGRESS, f"it repeats itself: {reason}", "what I have", None)
    assert driver.closings() == [Closing(LoopStatus.NO_PROGRESS, f"it repeats itself: {reason}")]
    assert driver.state.steps_made == steps
    assert [ask.must_answer for ask in driver.asks()] == [False] * steps + [True]


@PASSES
@pytest.mark.parametrize(("calls", "steps", "reason"), REPEATS.values(), ids=REPEATS)
def test_one_time_before_the_limit_the_model_is_told(
    calls: list[Wanted], steps: int, reason: str, between: Between
) -> None:
    driver = Driver(begin(PATIENT), between)

    driver.run([*map(turn, calls[: steps - 1]), Turn(answer="done")])

    first = len(dict.fromkeys(call.tool for call in calls)) + 1
    hinted = [ask.step for ask in driver.asks() if ask.notes]
    assert hinted[0] == first + 1
    assert driver.asks()[first].notes == (driver.hints()[0],)
    assert "2 times" in driver.hints()[0]
    assert driver.closings() == []


CHANGING = {
    "changing results": [Wanted("now", {}, Outcome(minute)) for minute in range(10)],
    "changing arguments": [Wanted("search", {"page": page}, Outcome([page])) for page in range(10)],
    "text and number": [
        Wanted("search", {"query": "1"}, Outcome("x")),
        Wanted("search", {"page": 1}, Outcome("x")),
        Wanted("get_price", {"title": "1"}, Outcome("x")),
    ],
    "changing errors": [
        Wanted("now", {}, Outcome(code=ErrorCode.TIMEOUT, message=f"after {number} s")) for number in range(10)
    ],
}


@PASSES
@pytest.mark.parametrize("calls", CHANGING.values(), ids=CHANGING)
def test_what_changes_is_no_repetition(calls: list[Wanted], between: Between) -> None:
    driver = Driver(begin(PATIENT), between)

    end = driver.run([*map(turn, calls), Turn(answer="done")])

    assert end == End(LoopStatus.COMPLETED, "", "done", None)
    assert driver.told == []


def test_an_equal_step_with_other_results_is_progress() -> None:
    steps = [
        turn(Wanted("now", {}, Outcome(number)), Wanted("get_price", {"title": "a"}, Outcome(number)))
        for number in range(9)
    ]
    driver = Driver(begin(LoopOptions(no_progress_steps=1)))

    assert driver.run([*steps, Turn(answer="done")]).status is LoopStatus.COMPLETED
    assert driver.told == []


def test_equal_calls_of_one_step_are_no_repetition() -> None:
    driver = Driver(begin())

    assert driver.run([turn(*[SEARCH] * 5), Turn(answer="done")]).status is LoopStatus.COMPLETED
    assert driver.told == []


@PASSES
def test_a_wide_step_that_comes_again_is_a_repetition(between: Between) -> None:
    wide = turn(*(Wanted("search", {"page": page}, Outcome(page)) for page in range(20)))
    driver = Driver(begin(PATIENT), between)

    end = driver.run([wide, wide, wide, Turn(answer="done")])

    assert end.status is LoopStatus.NO_PROGRESS
    assert driver.state.steps_made == 3
    assert [len(ask.notes) for ask in driver.asks()] == [0, 0, 5, 1]


def test_with_a_limit_of_two_there_is_no_hint() -> None:
    driver = Driver(begin(LoopOptions(repeat_limit=2)))

    end = driver.run([turn(SEARCH), turn(SEARCH), Turn(answer="done")])

    assert end.status is LoopStatus.NO_PROGRESS
    assert driver.hints() == []


def test_with_a_high_limit_repeats_are_counted_in_more_steps_and_the_number_of_calls_is_bounded() -> None:
    steps = [turn(*(Wanted("search", {"page": page}, Outcome([page])) for page in range(20))) for _ in range(20)]
    driver = Driver(begin(LoopOptions(max_steps=30, repeat_limit=12, no_progress_steps=100)))

    assert driver.run(steps).status is LoopStatus.NO_PROGRESS
    assert driver.state.steps_made == 12
    assert sum(len(step.split()) for step in driver.state.repeated.steps) <= 260


@PASSES
def test_steps_without_a_new_result_close_the_loop(between: Between) -> None:
    """The calls differ, so that nothing is repeated, and their results are known."""
    steps = [turn(Wanted("search", {"page": page}, Outcome("nothing found"))) for page in range(6)]
    driver = Driver(begin(), between)

    end = driver.run([*steps, Turn(answer="there is nothing")])

    reason = "no progress: 5 steps in a row gave no new result or fact"
    assert end == End(LoopStatus.NO_PROGRESS, reason, "there is nothing", None)
    assert driver.state.steps_made == 6


@PASSES
def test_a_new_fact_is_progress(between: Between) -> None:
    facts = [
        Wanted("remember", {"key": "k", "value": str(number)}, Outcome("remembered 'k'", is_new_fact=True))
        for number in range(12)
    ]
    driver = Driver(begin(), between)

    assert driver.run([*map(turn, facts), Turn(answer="done")]).status is LoopStatus.COMPLETED


@PASSES
def test_recalling_facts_is_no_progress(between: Between) -> None:
    recalls = [turn(Wanted("recall", {"key": str(number)}, Outcome(number))) for number in range(5)]
    driver = Driver(begin(), between)

    assert driver.run([*recalls, Turn(answer="done")]).status is LoopStatus.NO_PROGRESS
    assert driver.state.steps_made == 5


def test_refused_and_failed_calls_are_no_progress() -> None:
    calls = [Wanted(f"tool{number}") for number in range(3)]
    calls += [Wanted("now", {}, Outcome(code=ErrorCode.TIMEOUT, message=str(number))) for number in range(2)]
    driver = Driver(begin())

    assert driver.run([*map(turn, calls), Turn(answer="done")]).status is LoopStatus.NO_PROGRESS
    assert driver.state.steps_made == 5


def test_one_new_result_among_known_ones_is_progress() -> None:
    steps = [turn(NOW, Wanted("search", {"page": page}, Outcome(page))) for page in range(2)]
    driver = Driver(begin(LoopOptions(no_progress_steps=1)))

    assert driver.run([*steps, Turn(answer="done")]).status is LoopStatus.COMPLETED
