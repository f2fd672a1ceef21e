"""What a loop says that ended without its model's answer."""

from harness.artifact import Artifact
from harness.errors import ErrorCode
from harness.loop import StepRecord
from harness.partial_answer import partial_answer


def found(number: int, tool: str, result: object) -> StepRecord:
    """Return the record of a call with a result."""
    return StepRecord.model_validate(
        {"number": number, "call": f"{number}.1", "tool": tool, "success": True, "result": result}
    )


def failed(number: int, error: str) -> StepRecord:
    """Return the record of a call that failed."""
    return StepRecord(
        number=number,
        call=f"{number}.1",
        tool="now",
        success=False,
        error=error,
        error_code=ErrorCode.TIMEOUT,
    )


def test_it_says_why_and_shows_the_newest_result_of_each_tool() -> None:
    records = (found(1, "search", ["old"]), found(2, "now", "noon"), found(3, "search", ["new"]), failed(4, "late"))

    assert partial_answer("the limit of 4 steps is reached", records) == (
        "Partial answer: the limit of 4 steps is reached.\n"
        "\n"
        "Found, newest first:\n"
        '- search (step 3): ["new"]\n'
        "- now (step 2): noon"
    )


def test_facts_are_shown_as_they_were_kept_and_recalls_are_not() -> None:
    def remembered(number: int, key: str, value: str) -> StepRecord:
        record = found(number, "remember", f"remembered {key!r}")
        return record.model_copy(update={"arguments": {"key": key, "value": value}})

    records = (remembered(1, "a", "1"), remembered(2, "b", "2"), remembered(3, "a", "3"), found(4, "recall", "3"))

    assert (partial_answer("late", records) or "").splitlines()[3:] == ["- fact a (step 3): 3", "- fact b (step 2): 2"]


def test_a_large_result_is_shown_by_its_beginning_and_where_it_is() -> None:
    artifact = Artifact(digest="a" * 64, size=20_000, preview='["x')
    record = StepRecord(number=1, call="1.1", tool="search", success=True, artifact=artifact)

    line = (partial_answer("late", [record]) or "").splitlines()[3]
    assert line == f'- search (step 1): ["x [cut; artifact {"a" * 64}]'


def test_a_long_result_is_cut() -> None:
    line = (partial_answer("late", [found(1, "search", "x" * 601)]) or "").splitlines()[3]

    assert line == f"- search (step 1): {'x' * 600} [cut]"


def test_it_has_at_most_four_thousand_characters() -> None:
    records = [found(number, f"tool{number}", "x" * 500) for number in range(20)]

    text = partial_answer("w" * 9000, records) or ""

    assert len(text) <= 4000
    assert text.splitlines()[3].startswith("- tool19 ")
    assert text.splitlines()[-1] == "14 more are in the steps."


def test_the_same_tool_with_other_arguments_is_another_finding() -> None:
    records = [
        found(number, "price", number).model_copy(update={"arguments": {"title": title, "at": 1}})
        for number, title in enumerate(["Hades", "Celeste", "Hades"], 1)
    ]

    assert (partial_answer("late", records) or "").splitlines()[3:] == [
        '- price(at=1, title="Hades") (step 3): 3',
        '- price(at=1, title="Celeste") (step 2): 2',
    ]


def test_without_any_call_there_is_none() -> None:
    assert partial_answer("late", []) is None


def test_without_any_result_it_says_so() -> None:
    recalled = found(1, "recall", "3")

    assert partial_answer("late", [recalled]) == "Partial answer: late.\n\nNothing was found."
    assert partial_answer("late", [failed(1, "first"), failed(2, "second")]) == (
        "Partial answer: late.\n\nNothing was found. The last error: second"
    )
