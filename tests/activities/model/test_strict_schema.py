from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from activities.model.strict_schema import strict_schema
from activities.toolkit_loading import BUILT_IN, load_toolkit
from harness.plan import Plan
from tests.activities.model.asking import ask, request_for
from tests.scripted_model import Reply, ScriptedServer, completion

KNOWN = {
    *("type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "$ref", "$defs"),
    "description",
}
"""The keywords that every server with strict structured output takes."""


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(default=9, ge=0)


class Dog(BaseModel):
    kind: Literal["dog"]
    born: datetime | None = None


class Shelter(BaseModel):
    title: str = Field(default="", min_length=1, pattern="x", title="A title", examples=["x"])
    format: str
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    pets: list[Cat] = Field(default=[], max_length=3, description="All of them.")
    best: Cat = Field(description="A reference with a sibling.")


def _objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, list):
        for item in schema:
            yield from _objects(item)
    elif isinstance(schema, dict):
        yield schema
        for key, value in schema.items():
            if key in {"properties", "$defs"}:
                for part in value.values():
                    yield from _objects(part)
            elif key != "enum":
                yield from _objects(value)


def _lint(sent: Any) -> list[str]:
    """Return what a strict server would refuse."""
    wrong = [f"keyword {word}" for schema in _objects(sent) for word in schema.keys() - KNOWN]
    for schema in _objects(sent):
        is_object = schema.get("type") == "object" or "properties" in schema
        if is_object and schema.get("additionalProperties") is not False:
            wrong.append(f"open object {schema}")
        if is_object and schema.get("required") != list(schema.get("properties", {})):
            wrong.append(f"not required {schema}")
        if "$ref" in schema and list(schema) != ["$ref"]:
            wrong.append(f"siblings of a reference {schema}")
        if "$ref" in schema and schema["$ref"].removeprefix("#/$defs/") not in sent["$defs"]:
            wrong.append(f"dangling {schema}")
    return wrong


REAL_ARGUMENTS = [tool.arguments for name in BUILT_IN for tool in load_toolkit(name).tools]


@pytest.mark.parametrize("model_class", [Plan, Shelter, *REAL_ARGUMENTS], ids=lambda cls: cls.__name__)
def test_every_object_is_closed_every_property_required_and_no_unknown_keyword_is_left(
    model_class: type[BaseModel],
) -> None:
    before = model_class.model_json_schema()

    assert _lint(strict_schema(model_class)) == []
    assert model_class.model_json_schema() == before


async def test_the_schema_that_is_really_sent_is_strict() -> None:
    async with ScriptedServer(Reply(body=completion('{"nodes": []}'))) as server:
        await ask(server, request_for(answer=Plan))

    sent = server.requests[0].body["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert _lint(sent["schema"]) == []
    assert list(sent["schema"]["properties"]) == ["nodes"]


def test_the_linter_finds_what_strict_servers_refuse() -> None:
    found = " ".join(_lint(Shelter.model_json_schema()))

    for keyword in ("oneOf", "default", "format", "pattern", "maxItems", "const", "title", "open object"):
        assert keyword in found


def test_properties_that_are_called_like_keywords_stay() -> None:
    assert list(strict_schema(Shelter)["properties"]) == ["title", "format", "pet", "pets", "best"]  # type: ignore[arg-type]


def test_unions_and_constants_are_put_in_words_that_strict_mode_knows() -> None:
    schema: Any = strict_schema(Shelter)

    assert schema["properties"]["pet"] == {"anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]}
    assert schema["$defs"]["Cat"]["properties"]["kind"] == {"enum": ["cat"], "type": "string"}


def test_the_class_keeps_its_own_schema() -> None:
    before = Shelter.model_json_schema()

    strict_schema(Shelter)

    assert Shelter.model_json_schema() == before
    assert "default" in before["properties"]["title"]


class FreeForm(BaseModel):
    args: dict[str, Any]


class Pair(BaseModel):
    pair: tuple[int, str]


@pytest.mark.parametrize(("model_class", "said"), [(FreeForm, "FreeForm.args"), (Pair, "Pair.pair")])
def test_what_strict_mode_cannot_express_is_refused_by_name(model_class: type[BaseModel], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        strict_schema(model_class)
