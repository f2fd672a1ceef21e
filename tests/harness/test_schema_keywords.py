import pytest
from pydantic import JsonValue

from harness.schema_keywords import allowed_types, describe


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (True, "any value"),
        (False, "nothing"),
        ({}, "any value"),
        ("string", "any value"),
        ({"type": "string"}, "string"),
        ({"type": ["string", "null"]}, "string or null"),
        ({"anyOf": [{"type": "array"}, {"type": "null"}]}, "array or null"),
        ({"enum": ["a", 1, None, True]}, "one of 'a', 1, null, true"),
        ({"enum": list(range(11))}, "one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ..."),
        ({"const": [1]}, "one of an array of 1 items"),
        ({"$ref": "#/$defs/Game"}, "'Game'"),
    ],
)
def test_describes_a_schema_in_a_few_words(schema: JsonValue, expected: str) -> None:
    assert describe(schema) == expected


def test_types_follow_from_values_where_none_is_named() -> None:
    assert allowed_types({"enum": ["a", None]}) == {"string", "null"}
    assert allowed_types({"type": "string", "enum": ["a", None]}) == {"string"}


def test_every_number_includes_the_integers() -> None:
    assert allowed_types({"type": "number"}) == {"number", "integer"}
    assert allowed_types({"type": "integer"}) == {"integer"}
