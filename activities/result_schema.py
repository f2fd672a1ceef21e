"""The schema of what a tool returns, closed, so that the validator can prove which paths and fields cannot exist."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from harness.catalog import JsonSchema


def result_schema(result: TypeAdapter[Any]) -> JsonSchema:
    """Return the schema of a result as it is sent.

    Only declared fields of a class are sent. What allows extra fields, has a serializer of its own, or a schema that
    somebody wrote by hand stays open.
    """
    return result.json_schema(mode="serialization", schema_generator=_Closed)


class _Closed(GenerateJsonSchema):
    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        return _close(super().model_schema(schema), schema)

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        return _close(super().dataclass_schema(schema), schema)

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        return _close(super().typed_dict_schema(schema), schema)


def _close(schema: JsonSchemaValue, source: Mapping[str, Any]) -> JsonSchemaValue:
    is_open = "properties" not in schema or "serialization" in source
    return schema if is_open else {"additionalProperties": False, **schema}
