"""Which calls of a model are made, and what is said of the others."""

import pytest

from harness.call_check import check_call
from harness.catalog import JsonSchema, Withheld
from harness.errors import ErrorCode
from harness.loop_calls import CallResult, ToolCall
from harness.memory import MEMORY_TOOLS
from tests.builders import NUMBER, TEXT, TEXTS, tool_spec
from tests.harness.loops import Arguments

PLACE: JsonSchema = {"type": "object", "properties": {"city": TEXT}, "required": ["city"]}
TOOLS = (
    tool_spec("search", parameters={"query": TEXT, "page": NUMBER, "tags": TEXTS, "place": PLACE}, optional=("page",)),
    tool_spec("now"),
    tool_spec("find", parameters={"query": TEXT, "page": NUMBER}, optional=("page",)),
    *MEMORY_TOOLS,
)
NAMES = "'search', 'now', 'find', 'remember', 'recall'"


def check(tool: str, arguments: Arguments | None = None, problem: str = "") -> CallResult | None:
    """Check a call against the tools of this module."""
    call = ToolCall(id="1.1", tool=tool, arguments=arguments or {}, problem=problem)
    return check_call(call, TOOLS, (Withheld(name="send", reason="it writes"),), ("other",))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("now", {}),
        ("find", {"query": "a"}),
        ("find", {"query": "a", "page": 2.0}),
        ("search", {"query": "", "tags": [], "place": {"city": "Ulm"}}),
        ("remember", {"key": "k", "value": "v"}),
    ],
)
def test_a_fitting_call_is_made(tool: str, arguments: Arguments) -> None:
    assert check(tool, arguments) is None


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("Search ", f"unknown tool 'Search '; did you mean 'search'? there are {NAMES}"),
        ("serch", f"unknown tool 'serch'; did you mean 'search'? there are {NAMES}"),
        ("quux", f"unknown tool 'quux'; there are {NAMES}"),
        ("", f"unknown tool ''; there are {NAMES}"),
        ("send", f"tool 'send' may not be used: it writes. There are {NAMES}"),
        ("other", f"tool 'other' is not offered here; use one of {NAMES}"),
    ],
)
def test_no_name_is_guessed(tool: str, message: str) -> None:
    assert check(tool) == CallResult(id="1.1", tool=tool, code=ErrorCode.UNKNOWN_TOOL, message=message)


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("find", {"query": 7}, "argument 'query': expected string, got 7"),
        ("find", {"qwery": "a", "query": "a"}, "unknown argument 'qwery'; did you mean 'query'? tool 'find' takes "),
        ("now", {"zone": "UTC"}, "unknown argument 'zone'; tool 'now' takes none"),
        ("find", {}, "missing required arguments of tool 'find': 'query' (string)"),
        (
            "search",
            {"query": "a", "tags": [1], "place": {"city": "Ulm"}},
            "argument 'tags': at '/0': expected string, got 1",
        ),
        (
            "search",
            {"query": "a", "tags": [], "place": {"city": "Ulm", "town": "Ulm"}},
            "argument 'place': at '/town': nothing is allowed here",
        ),
        ("recall", {"key": ""}, "argument 'key': expected at least 1 characters, got 0"),
    ],
)
def test_arguments_are_checked_one_by_one(tool: str, arguments: Arguments, message: str) -> None:
    result = check(tool, arguments)

    assert result is not None
    assert result.code is ErrorCode.INVALID_ARGUMENT
    assert result.message.startswith(message)


def test_all_that_is_wrong_is_told_at_once() -> None:
    result = check("find", {"page": "two", "size": 3})

    assert result is not None
    assert result.message.splitlines() == [
        "argument 'page': expected number, got 'two'",
        "unknown argument 'size'; tool 'find' takes 'query', 'page'",
        "missing required arguments of tool 'find': 'query' (string)",
    ]


def test_arguments_that_could_not_be_read_are_refused() -> None:
    result = check("now", problem="line 1 column 2: no JSON")

    assert result is not None
    assert result.code is ErrorCode.INVALID_ARGUMENT
    assert result.message == "the arguments cannot be read: line 1 column 2: no JSON"


def test_what_is_said_is_bounded() -> None:
    result = check("now", {f"{number}{'x' * 500}": 1 for number in range(100)})

    assert result is not None
    assert len(result.message) <= 2000
    assert result.message.endswith("and 80 more problems")
