"""Signatures: the parameters of one tool, each analysed once for all the nodes that call it."""

import json
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import JsonValue

from harness.catalog import JsonSchema, ToolSpec
from harness.closed_schema import closed
from harness.errors import quoted
from harness.json_pointer import PointerError, array_index
from harness.json_schema import mismatch, plain_types
from harness.schema_fit import TextShare, has_like_items, schema_at, text_share
from harness.schema_keywords import describe, field_schema, with_definitions
from harness.wire_size import MAX_DEPTH, depth_of

_SHARED_DEPTH = 4
"""Parts of a path that are looked at to find another of the same schema."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a tool, and what its schema says of every text."""

    schema: JsonSchema
    """With the definitions that it refers to; empty when nothing is said about the parameter."""

    @classmethod
    def of(cls, tool: ToolSpec, name: str) -> "Parameter":
        """Return the parameter that a tool has under a name."""
        schema = field_schema(tool.parameters, name)
        return cls(with_definitions(schema if isinstance(schema, dict) else {}, tool.parameters))

    @cached_property
    def text_share(self) -> TextShare:
        """Return which of the values that it takes are strings, null aside."""
        return text_share(self.schema)

    @cached_property
    def literal_schema(self) -> JsonSchema:
        """Return what a literal must fit: fields that the schema does not list are misspelt ones."""
        return closed(self.schema)

    @cached_property
    def _plain_types(self) -> frozenset[type]:
        return plain_types(self.literal_schema)

    @cached_property
    def description(self) -> str:
        """Return a few words for what it takes."""
        return describe(self.schema)

    def misfit(self, literal: JsonValue) -> str | None:
        """Return the first way in which the value of a literal does not fit; None when it fits."""
        return None if type(literal) in self._plain_types else mismatch(literal, self.literal_schema)

    def read(self, text: str) -> JsonValue:
        """Return the value that a literal stands for.

        A parameter that takes only strings takes the text. Any other takes JSON; where the text is no fitting JSON but
        fits as text, it takes the text. Whether the value fits is not checked.

        Raises:
            ValueError: when the text is needed as JSON and is none.
        """
        text.encode()  # a lone surrogate is a ValueError: no message can carry it
        if self.text_share is TextShare.ALL:
            return text
        takes_text = self.text_share is TextShare.SOME and mismatch(text, self.schema) is None
        try:
            value = _parse_json(text)
        except ValueError as error:
            if takes_text:
                return text
            raise ValueError(f"{quoted(text)} is not JSON for {self.description}: {error}") from None
        return text if takes_text and mismatch(value, self.schema) else value


@dataclass(frozen=True)
class Signature:
    """What a tool takes. Hold one for each tool where many nodes are looked at: it keeps what it has found out."""

    tool: ToolSpec
    _known: dict[str, Parameter] = field(default_factory=dict, init=False)
    _alike: dict[str, bool] = field(default_factory=dict, init=False)
    """By path into a result, whether it makes no difference which item of the array there is taken."""

    @cached_property
    def schemas(self) -> dict[str, JsonSchema]:
        """Return the schema of each parameter by name, in declaration order, without definitions."""
        return self.tool.parameter_schemas

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Return the names of the required parameters, in declaration order."""
        return self.tool.required_parameters

    @cached_property
    def takes_extra(self) -> bool:
        """Return whether the tool says that it takes arguments which it does not name."""
        return self.tool.parameters.get("additionalProperties", False) is not False

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of that name, declared or extra."""
        if name not in self._known:
            self._known[name] = Parameter.of(self.tool, name)
        return self._known[name]

    def shared_path(self, path: str) -> str:
        """Return a path into a result to where the schema is the same: with 0 for each index that is as good as any.

        A plan may take each item of a long list; what holds for one then holds for all.
        """
        if not path.startswith("/"):
            return path
        shared = ""
        parts = path.split("/")[1:]
        for part in parts[:_SHARED_DEPTH]:
            shared += "/0" if array_index(part) is not None and self._is_alike_at(shared) else f"/{part}"
        return "/".join((shared, *parts[_SHARED_DEPTH:]))

    def _is_alike_at(self, path: str) -> bool:
        if path not in self._alike:
            try:
                self._alike[path] = has_like_items(schema_at(self.tool.result, path))
            except PointerError:
                self._alike[path] = False
        return self._alike[path]


def _parse_json(text: str) -> JsonValue:
    """Read JSON strictly: no NaN, no infinity, no endless nesting."""
    try:
        value = _decoded(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if isinstance(value, dict | list) and depth_of(value, MAX_DEPTH) > MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
    if "\\u" in text:  # an escape is the one way to a lone surrogate, which is a ValueError
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _decoded(text: str) -> JsonValue:
    bare = text.strip(_SPACE)
    value: JsonValue
    try:
        value, end = _DECODER.raw_decode(bare)
    except ValueError:
        value, end = None, -1
    if end < len(bare):
        # No JSON: the slower ways say what is wrong, `loads` alone with a byte order mark.
        value = json.loads(text) if text.startswith("\ufeff") else _DECODER.decode(text)
    return value


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if value in {float("inf"), float("-inf")}:
        raise ValueError(f"{quoted(text)} is too large for a number")
    return value


_SPACE = " \t\n\r"
"""What JSON takes for white space."""
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
