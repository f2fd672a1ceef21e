from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from temporalio.testing import ActivityEnvironment

from activities.toolkit import tool
from harness.errors import ErrorCode
from tests.activities.tool_calls import call, environment, failure

CALLS: list[dict[str, Any]] = []


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Line(BaseModel):
    model_config = ConfigDict(extra="forbid")

    item: str
    count: int = Field(ge=1)


@tool()
def order(
    *,
    customer: str,
    lines: Annotated[list[Line], Field(min_length=1)],
    size: Size,
    day: date,
    discount: Annotated[float, Field(ge=0, le=1)],
    is_gift: bool,
    code: Annotated[str, Field(pattern=r"^[A-Z]{3}$")],
    mode: Literal[1, 2] = 1,
    notes: dict[str, int] | None = None,
    tags: Annotated[frozenset[str], Field(max_length=2)] = frozenset(),
) -> str:
    """Order something."""
    CALLS.append({"customer": customer, "notes": notes})
    return "ordered"


GOOD: dict[str, JsonValue] = {
    "customer": "Ann",
    "lines": [{"item": "book", "count": 2}],
    "size": "small",
    "day": "2026-01-31",
    "discount": 0.1,
    "is_gift": False,
    "code": "ABC",
}
ABSENT = object()

MALFORMED: dict[str, tuple[dict[str, Any], str, str]] = {
    "no customer": ({"customer": ABSENT}, "argument 'customer' is missing", "it takes string"),
    "null customer": ({"customer": None}, "argument 'customer'", "given null, it takes string"),
    "numeric customer": ({"customer": 7}, "argument 'customer'", "given an integer, it takes string"),
    "list for customer": ({"customer": ["Ann"]}, "argument 'customer'", "given an array of 1 items"),
    "object for customer": ({"customer": {"name": "Ann"}}, "argument 'customer'", "given an object"),
    "boolean customer": ({"customer": True}, "argument 'customer'", "given a boolean"),
    "no lines": ({"lines": ABSENT}, "argument 'lines' is missing", "it takes array"),
    "empty lines": ({"lines": []}, "argument 'lines'", "at least 1 item"),
    "text for lines": ({"lines": "book"}, "argument 'lines'", "given a string of 4 characters, it takes array"),
    "object for lines": ({"lines": {"item": "book", "count": 1}}, "argument 'lines'", "given an object"),
    "text for a line": ({"lines": ["book"]}, "argument 'lines' at '/0'", "object"),
    "line without item": ({"lines": [{"count": 1}]}, "argument 'lines': '/0/item' is missing", "it takes array"),
    "line with strange field": ({"lines": [{"item": "b", "count": 1, "x": 1}]}, "argument 'lines' at '/0/x'", "permit"),
    "none of a line": ({"lines": [{"item": "b", "count": 0}]}, "argument 'lines' at '/0/count'", "greater than"),
    "half of a line": ({"lines": [{"item": "b", "count": 0.5}]}, "argument 'lines' at '/0/count'", "valid integer"),
    "text for a count": ({"lines": [{"item": "b", "count": "2"}]}, "argument 'lines' at '/0/count'", "valid integer"),
    "second line broken": (
        {"lines": [{"item": "b", "count": 1}, {"item": 1, "count": 1}]},
        "argument 'lines' at '/1/item'",
        "valid string",
    ),
    "unknown size": ({"size": "huge"}, "argument 'size'", "'small' or 'large'"),
    "size in capitals": ({"size": "SMALL"}, "argument 'size'", "'small' or 'large'"),
    "numeric size": ({"size": 1}, "argument 'size'", "'small' or 'large'"),
    "no date": ({"day": "tomorrow"}, "argument 'day'", "valid date"),
    "impossible date": ({"day": "2026-02-30"}, "argument 'day'", "date"),
    "discount above 1": ({"discount": 1.5}, "argument 'discount'", "less than or equal to 1"),
    "negative discount": ({"discount": -0.1}, "argument 'discount'", "greater than or equal to 0"),
    "discount as text": ({"discount": "10%"}, "argument 'discount'", "given a string of 3 characters, it takes number"),
    "gift as text": ({"is_gift": "no"}, "argument 'is_gift'", "valid boolean"),
    "gift as number": ({"is_gift": 0}, "argument 'is_gift'", "given an integer, it takes boolean"),
    "code in small letters": ({"code": "abc"}, "argument 'code'", "match pattern '^[A-Z]{3}$'"),
    "mode 3": ({"mode": 3}, "argument 'mode'", "1 or 2"),
    "notes as list": ({"notes": [1]}, "argument 'notes'", "given an array of 1 items, it takes object or null"),
    "note as text": ({"notes": {"a": "one"}}, "argument 'notes' at '/a'", "valid integer"),
    "too many tags": ({"tags": ["a", "b", "c"]}, "argument 'tags'", "at most 2 items"),
    "unknown argument": ({"colour": "red"}, "argument 'colour' is unknown", "'customer', 'lines', 'size'"),
}


@pytest.mark.parametrize(("change", "named", "right"), MALFORMED.values(), ids=MALFORMED.keys())
async def test_an_argument_that_is_wrong_is_named_with_what_would_be_right(
    change: dict[str, Any], named: str, right: str
) -> None:
    CALLS.clear()
    arguments = {name: value for name, value in {**GOOD, **change}.items() if value is not ABSENT}

    error = await failure(order, arguments)

    is_missing = ABSENT in change.values() or "is missing" in named
    expected = ErrorCode.MISSING_REQUIRED_ARGUMENT if is_missing else ErrorCode.INVALID_ARGUMENT
    assert error.type == expected
    assert error.non_retryable
    assert error.message.startswith("order: ")
    assert named in error.message
    assert right in error.message
    assert "Traceback" not in error.message
    assert CALLS == []


async def test_what_is_right_is_called_once() -> None:
    CALLS.clear()

    assert (await call(order, GOOD)).value == "ordered"
    assert CALLS == [{"customer": "Ann", "notes": None}]


async def test_every_wrong_argument_is_told_at_once() -> None:
    error = await failure(order, {**GOOD, "customer": 1, "is_gift": "x", "strange": 2})

    for name in ("'customer'", "'is_gift'", "'strange'"):
        assert f"argument {name}" in error.message


async def test_values_are_not_told_whatever_their_size() -> None:
    error = await failure(order, {**GOOD, "customer": ["private" * 100_000], "k" * 100_000: 1})

    assert "private" not in error.message
    assert len(error.message) < 1000


async def test_the_traceback_of_a_tool_goes_to_the_log_only(caplog: pytest.LogCaptureFixture) -> None:
    @tool()
    def broken() -> str:
        """Break."""
        raise RuntimeError("out of paper")

    env: ActivityEnvironment = environment(broken)
    error = await failure(broken, env=env)

    assert (error.type, error.message) == (ErrorCode.TOOL_EXECUTION_FAILED, "RuntimeError: out of paper")
    assert "Traceback" in caplog.text
