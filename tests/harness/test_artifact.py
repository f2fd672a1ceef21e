import json

import pytest
from pydantic import JsonValue, ValidationError

from harness.artifact import Artifact, Result, StoredArgument, StoredResult

DIGEST = "0123456789abcdef" * 4
ARTIFACT = Artifact(digest=DIGEST, size=300_000, preview='{"games": [')
VALUES: list[JsonValue] = ["text", 3, 1.5, True, None, [], {}, [1, {"a": None}], {"value": 1}, {"digest": DIGEST}]


@pytest.mark.parametrize("result", [*VALUES, ARTIFACT], ids=repr)
def test_a_result_is_the_same_after_it_has_travelled(result: Result) -> None:
    sent = StoredResult.of(result).model_dump_json(exclude_unset=True)

    assert StoredResult.model_validate_json(sent).result == result


def test_only_what_is_set_travels() -> None:
    value, reference = StoredResult.of(None), StoredResult.of(Artifact(digest=DIGEST, size=7))

    assert json.loads(value.model_dump_json(exclude_unset=True)) == {"value": None}
    assert json.loads(reference.model_dump_json(exclude_unset=True)) == {"artifact": {"digest": DIGEST, "size": 7}}


def test_a_value_that_looks_like_a_reference_stays_a_value() -> None:
    result = StoredResult.of({"digest": DIGEST, "size": 7}).result

    assert type(result) is dict
    assert result == {"digest": DIGEST, "size": 7}


@pytest.mark.parametrize(
    "digest",
    ["", DIGEST[:-1], DIGEST + "0", DIGEST.upper(), f"{DIGEST}\n", f"../{DIGEST[3:]}"],
    ids=["empty", "short", "long", "capitals", "line end", "path"],
)
def test_a_digest_is_64_small_hexadecimal_digits(digest: str) -> None:
    with pytest.raises(ValidationError):
        Artifact(digest=digest, size=1)


def test_a_size_is_not_negative() -> None:
    with pytest.raises(ValidationError):
        Artifact(digest=DIGEST, size=-1)


def test_a_stored_argument_is_the_whole_value_unless_it_says_otherwise() -> None:
    place = StoredArgument(name="games", artifact=ARTIFACT)

    assert (place.index, place.path) == (None, "")
