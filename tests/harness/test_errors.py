import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.errors import (
    ErrorClass,
    ErrorCode,
    ToolError,
    _fitting,
    bounded,
    bounded_bytes,
    classify,
    encoded_text_size,
    listed,
    most_severe,
    parse_code,
    quoted,
)

CLASSES: dict[ErrorCode | None, ErrorClass] = {
    ErrorCode.UNKNOWN_TOOL: ErrorClass.VALIDATION,
    ErrorCode.MISSING_REQUIRED_ARGUMENT: ErrorClass.VALIDATION,
    ErrorCode.INVALID_ARGUMENT: ErrorClass.VALIDATION,
    ErrorCode.INVALID_OUTPUT: ErrorClass.VALIDATION,
    ErrorCode.OUTPUT_TRUNCATED: ErrorClass.VALIDATION,
    ErrorCode.PAYLOAD_TOO_LARGE: ErrorClass.VALIDATION,
    ErrorCode.MISSING_INFO: ErrorClass.MISSING_INFO,
    ErrorCode.RATE_LIMITED: ErrorClass.TRANSIENT,
    ErrorCode.TIMEOUT: ErrorClass.TRANSIENT,
    ErrorCode.PROVIDER_UNAVAILABLE: ErrorClass.TRANSIENT,
    ErrorCode.TOOL_EXECUTION_FAILED: ErrorClass.FATAL,
    ErrorCode.AUTHENTICATION: ErrorClass.FATAL,
    ErrorCode.QUOTA_EXHAUSTED: ErrorClass.FATAL,
    ErrorCode.CONTEXT_OVERFLOW: ErrorClass.FATAL,
    ErrorCode.GUARDRAIL_BLOCKED: ErrorClass.FATAL,
    ErrorCode.UNCERTAIN_EFFECT: ErrorClass.FATAL,
    ErrorCode.ARTIFACT_LOST: ErrorClass.FATAL,
    ErrorCode.INTERNAL: ErrorClass.FATAL,
    None: ErrorClass.FATAL,
}


def test_table_of_classes_is_total() -> None:
    assert set(CLASSES) == {*ErrorCode, None}


@pytest.mark.parametrize(("code", "expected"), CLASSES.items())
def test_classifies(code: ErrorCode | None, expected: ErrorClass) -> None:
    assert classify(code) is expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("TIMEOUT", ErrorCode.TIMEOUT),
        ("timeout", ErrorCode.INTERNAL),
        ("", ErrorCode.INTERNAL),
        (None, ErrorCode.INTERNAL),
    ],
)
def test_reads_a_code_back(text: str | None, code: ErrorCode) -> None:
    assert parse_code(text) is code


def test_severity_ascends_from_validation_to_fatal() -> None:
    ascending = [ErrorClass.VALIDATION, ErrorClass.MISSING_INFO, ErrorClass.TRANSIENT, ErrorClass.FATAL]

    for count in range(1, 5):
        assert most_severe(ascending[:count]) is ascending[count - 1]


def test_an_unexplained_failure_is_fatal() -> None:
    assert most_severe([]) is ErrorClass.FATAL


def test_bounded_text_keeps_both_ends() -> None:
    text = bounded("a" * 5000 + "z" * 5000, 100)

    assert text == "a" * 30 + " [9940 characters cut] " + "z" * 30
    assert bounded("short", 100) == "short"


@pytest.mark.parametrize("limit", [0, 10, 40, 41, 60, 100])
def test_bounded_text_never_grows_beyond_its_note(limit: int) -> None:
    assert len(bounded("x" * 5000, limit)) <= max(limit, 40)


def test_text_is_cut_to_bytes_as_it_travels_and_its_end_says_so() -> None:
    text = bounded_bytes("a" * 5000 + "z" * 5000, 100, kept="whole text: artifact 12ab")

    assert text == "a" * 24 + " ... " + "z" * 24 + " [10000 bytes, cut; whole text: artifact 12ab]"
    assert bounded_bytes("short", 100) == "short"


@pytest.mark.parametrize("text", ["x", "\u00e9", "\u65e5", "\U0001f600", "\x00", '"', "\n", "\udcff"])
@pytest.mark.parametrize("limit", [0, 40, 100, 4096])
def test_cut_text_fits_whatever_its_characters_take(text: str, limit: int) -> None:
    cut = bounded_bytes(text * 5000, limit)

    assert encoded_text_size(cut) <= max(limit, 40)
    assert cut.endswith(" bytes, cut]")


def test_where_the_whole_text_is_stays_at_the_end_however_short_the_rest_must_be() -> None:
    assert bounded_bytes("x" * 200, 10, kept="artifact 12ab") == " ...  [200 bytes, cut; artifact 12ab]"


@example("short", 100)
@example("short", 3)
@given(st.text(max_size=60), st.integers(0, 120))
def test_as_many_characters_are_kept_as_fit(text: str, room: int) -> None:
    kept = _fitting(text, room)

    assert text.startswith(kept)
    assert encoded_text_size(kept) <= room
    assert kept == text or encoded_text_size(text[: len(kept) + 1]) > room


def test_quoted_text_is_escaped_and_cut() -> None:
    assert quoted("a'\n") == '"a\'\\n"'
    assert quoted("x" * 81) == f"'{'x' * 80}'... (81 characters)"


def test_list_is_cut() -> None:
    assert listed([]) == "none"
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed(map(str, range(5)), 2) == "'0', '1' and 3 more"


def test_tool_error_carries_code_message_and_wait() -> None:
    error = ToolError(ErrorCode.RATE_LIMITED, "slow down", retry_after_s=3)

    assert (error.code, error.message, str(error), error.retry_after_s) == (
        ErrorCode.RATE_LIMITED,
        "slow down",
        "slow down",
        3,
    )


def test_a_tool_error_is_sound_whatever_it_is_made_of() -> None:
    odd = ToolError("WEIRD", None)  # type: ignore[arg-type]

    assert odd.code is ErrorCode.TOOL_EXECUTION_FAILED
    assert odd.message == "None"
