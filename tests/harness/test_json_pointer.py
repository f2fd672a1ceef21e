import pytest
from pydantic import JsonValue

from harness.json_pointer import PointerError, array_index, join_pointer, parse_pointer, resolve_pointer

# The example document of RFC 6901, section 5.
RFC_DOCUMENT: JsonValue = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", RFC_DOCUMENT),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/e^f", 3),
        ("/g|h", 4),
        ("/i\\j", 5),
        ('/k"l', 6),
        ("/ ", 7),
        ("/m~0n", 8),
    ],
)
def test_resolves_the_examples_of_the_rfc(path: str, expected: JsonValue) -> None:
    assert resolve_pointer(RFC_DOCUMENT, path) == expected


def test_unescapes_in_one_pass() -> None:
    assert resolve_pointer({"~1": "tilde one"}, "/~01") == "tilde one"


@pytest.mark.parametrize("path", ["foo", "$.foo", "#/foo", "/a~b", "/a~", "/a~2"])
def test_refuses_a_malformed_pointer(path: str) -> None:
    with pytest.raises(PointerError, match="must"):
        parse_pointer(path)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/fo", "no field 'fo' at the top: its fields are 'foo', ''"),
        ("/foo/2", "no item '2' at '/foo': it is an array of 2 items, counted from 0"),
        ("/foo/01", "no item '01' at '/foo'"),
        ("/foo/-", "no item '-' at '/foo'"),
        ("/foo/-1", "no item '-1' at '/foo'"),
        ("/foo/99999999999999999999", "no item '99999999999999999999' at '/foo'"),
        ("/foo/\u0660", "no item '\u0660' at '/foo'"),
        ("/foo/0/x", "no part 'x' at '/foo/0': the value there is neither an object nor an array"),
    ],
)
def test_says_what_exists_where_a_pointer_leads_nowhere(path: str, message: str) -> None:
    with pytest.raises(PointerError) as raised:
        resolve_pointer(RFC_DOCUMENT, path)

    assert str(raised.value).startswith(message)


def test_message_stays_short_for_huge_pointers_and_objects() -> None:
    huge: JsonValue = {"k" * 1000 + str(i): i for i in range(1000)}

    with pytest.raises(PointerError) as raised:
        resolve_pointer(huge, "/" + "x" * 1_000_000)

    assert len(str(raised.value)) < 3000


def test_joining_is_the_inverse_of_parsing() -> None:
    parts = ("a/b", "m~n", "", "0")

    assert join_pointer(parts) == "/a~1b/m~0n//0"
    assert parse_pointer(join_pointer(parts)) == parts


def test_array_index_reads_plain_digits_only() -> None:
    assert [array_index(part) for part in ("0", "10", "01", "-", "+1", "1.0", "")] == [
        0,
        10,
        None,
        None,
        None,
        None,
        None,
    ]
