import pytest

from harness.errors import ErrorCode, ToolError
from harness.memory import MAX_FACTS, MEMORY_NAMES, MEMORY_TOOLS, Remembered, recall, remember


def test_a_fact_is_kept_by_its_name() -> None:
    assert remember({}, {"key": "price", "value": "42.50"}) == Remembered(
        {"price": "42.50"}, "remembered 'price'", is_new=True
    )


def test_another_value_for_a_name_is_new_and_the_same_value_is_not() -> None:
    assert remember({"price": "1"}, {"key": "price", "value": "2"}).is_new
    assert not remember({"price": "1"}, {"key": "price", "value": "1"}).is_new


def test_remembering_leaves_the_facts_that_it_was_given_alone() -> None:
    facts = {"a": "1"}

    assert remember(facts, {"key": "b", "value": "2"}).facts == {"a": "1", "b": "2"}
    assert facts == {"a": "1"}


def test_a_fact_is_recalled_by_its_name() -> None:
    assert recall({"price": "42.50"}, {"key": "price"}) == "42.50"


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"a": "1", "b": "2"}, "no fact is kept as 'c'; kept are: 'a', 'b'"),
        ({}, "no fact is kept as 'c'; kept are: none"),
    ],
    ids=["some", "none"],
)
def test_an_unknown_name_is_answered_by_the_names_that_there_are(facts: dict[str, str], told: str) -> None:
    with pytest.raises(ToolError) as caught:
        recall(facts, {"key": "c"})

    assert (caught.value.code, caught.value.message) == (ErrorCode.INVALID_ARGUMENT, told)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"value": "x"}, "argument 'key' must be a text that is not empty"),
        ({"key": " ", "value": "x"}, "argument 'key' must be a text that is not empty"),
        ({"key": "k", "value": 7}, "argument 'value' must be a text that is not empty"),
        ({"key": "k" * 101, "value": "x"}, "argument 'key' has 101 characters, the limit is 100; shorten it"),
        ({"key": "k", "value": "x" * 2001}, "argument 'value' has 2,001 characters, the limit is 2,000; shorten it"),
    ],
    ids=["no key", "blank key", "no text", "long key", "long value"],
)
def test_what_cannot_be_kept_is_refused_with_what_would_be_right(arguments: dict[str, str], told: str) -> None:
    with pytest.raises(ToolError) as caught:
        remember({}, arguments)

    assert (caught.value.code, caught.value.message) == (ErrorCode.INVALID_ARGUMENT, told)


def test_a_full_memory_takes_new_values_for_its_names_but_no_new_names() -> None:
    facts = {f"k{i}": "v" for i in range(MAX_FACTS)}

    assert remember(facts, {"key": "k7", "value": "new"}).facts["k7"] == "new"
    with pytest.raises(
        ToolError, match=r"50 facts are kept already; give one of them a new value: 'k0', 'k1', .*'k49'$"
    ):
        remember(facts, {"key": "another", "value": "v"})


def test_a_name_with_a_percent_or_a_line_break_is_told_as_one_quoted_word() -> None:
    assert remember({}, {"key": "a\nb%s", "value": "v"}).told == "remembered 'a\\nb%s'"


def test_the_tools_are_those_of_the_reserved_names() -> None:
    assert [tool.name for tool in MEMORY_TOOLS] == ["remember", "recall"]
    assert frozenset({"remember", "recall"}) == MEMORY_NAMES
    assert [tool.required_parameters for tool in MEMORY_TOOLS] == [("key", "value"), ("key",)]


def test_all_facts_together_have_a_limit_because_they_are_in_each_prompt() -> None:
    facts = {f"k{number}": "\u4e8b" * 600 for number in range(3)}

    with pytest.raises(ToolError, match="the limit is 2,000"):
        remember(facts, {"key": "k3", "value": "\u4e8b" * 600})

    assert remember(facts, {"key": "k0", "value": "short"}).is_new
    assert remember({"k": "\u4e8b" * 2000}, {"key": "k", "value": "\u4e8b" * 1990}).is_new, "it gets shorter"
