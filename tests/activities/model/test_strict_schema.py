from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from activities.model.strict_schema import strict_schema
from harness.plan import Plan

REFUSED = {
    *("default", "title", "format", "pattern", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"),
    *("oneOf", "allOf", "const", "discriminator", "prefixItems", "examples"),
}


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


@pytest.mark.parametrize("model_class", [Plan, Shelter])
def test_every_object_is_closed_every_property_required_and_no_refused_keyword_is_left(
    model_class: type[BaseModel],
) -> None:
    for schema in _objects(strict_schema(model_class)):
        assert not REFUSED & schema.keys()
        if "properties" in schema:
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])
        if "$ref" in schema:
            assert list(schema) == ["$ref"]


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
