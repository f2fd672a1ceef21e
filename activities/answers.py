"""Answers: from a model's text to a typed value. Lenient about wrapping and syntax, strict about what is inside."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from activities.json_syntax import SyntaxRepairError, repair
from activities.model.request import ModelAnswer, ModelError, Parsed
from harness.errors import ErrorCode, bounded

MAX_ERRORS_SHOWN = 10

Answer = TypeVar("Answer", bound=BaseModel)

_FENCE = re.compile(r"^[ \t]*```[ \t]*([A-Za-z0-9_+-]*)[ \t]*\r?$", re.MULTILINE)
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True)
class _Found:
    """A JSON value in a text."""

    json: str
    end: int
    is_repaired: bool = False


def parse_answer(text: str, model_class: type[Answer]) -> Parsed[Answer]:
    """Read a structured answer.

    Accepted around the JSON: a byte order mark, prose before it, and one code fence, closed or not. In it: trailing
    commas, single quotes, comments, unquoted keys. An answer that is cut is never completed.

    Raises:
        ModelError: INVALID_OUTPUT, naming each wrong field and what was expected.
    """
    whole = _read_whole(text, model_class)
    if whole is not None and whole.model_dump_json() == text:
        # Written as the value would be, so each key is there once: to look takes as long as everything else.
        return Parsed(whole)
    found = _unwrapped(text.lstrip("\ufeff").strip())
    if whole is not None and found.json == text:
        return Parsed(whole)
    try:
        return Parsed(model_class.model_validate_json(found.json, strict=True), found.is_repaired)
    except ValidationError as error:
        name = model_class.__name__
        raise _invalid(f"the answer is no {name}: {_describe(error)}") from None


def _read_whole(text: str, model_class: type[Answer]) -> Answer | None:
    """Return the value of a text that is its JSON and nothing else; keys that are there twice are not noticed."""
    try:
        return model_class.model_validate_json(text, strict=True)
    except ValidationError:
        return None


def read_answer(answer: ModelAnswer, model_class: type[Answer]) -> Parsed[Answer]:
    """Return the structured answer of a model: what a guardrail has read of it already, else as `parse_answer`.

    Raises:
        ModelError: as `parse_answer`, with what the answer has cost.
    """
    known = answer.parsed
    if known is not None and isinstance(known.value, model_class):
        return Parsed(known.value, known.is_repaired)
    try:
        return parse_answer(answer.text, model_class)
    except ModelError as error:
        raise ModelError(error.code, error.message, usage=answer.usage) from None


def _unwrapped(text: str) -> _Found:
    """Return the one JSON value in a text. What is inside a JSON string is never looked at."""
    if not text:
        raise _invalid("the answer is empty; expected one JSON object")
    if text[0] in "{[":
        return _alone(text, 0)
    fence = _FENCE.search(text)
    if fence is None:
        return _after_prose(text)
    found = _json_at(text, _skip_space(text, fence.end()))
    _check_rest(text[found.end :])
    return found


def _after_prose(text: str) -> _Found:
    start = text.find("{")
    if start < 0:
        raise _invalid(f"no JSON object in the answer: {bounded(text, 120)!r}")
    return _alone(text, start)


def _alone(text: str, start: int) -> _Found:
    found = _json_at(text, start)
    rest = text[found.end :].strip()
    if rest:
        raise _invalid(f"text after the JSON object: {bounded(rest, 80)!r}")
    return found


def _check_rest(rest: str) -> None:
    """Refuse what follows a fenced value, a closing fence and prose apart."""
    fences = _FENCE.findall(rest)
    if len(fences) > 1:
        raise _invalid("more than one code block in the answer: it is ambiguous which one counts; give one JSON object")
    first_line = rest.strip().split("\n", 1)[0]
    if first_line and not first_line.startswith("```"):
        raise _invalid(f"text after the JSON object: {bounded(first_line, 80)!r}")


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _json_at(text: str, start: int) -> _Found:
    """Return the JSON value at `start`."""
    try:
        end = _DECODER.raw_decode(text, start)[1]
        return _Found(text[start:end], end)
    except json.JSONDecodeError as error:
        return _repaired(text, start, error)
    except RecursionError:
        raise _invalid("not valid JSON: nested too deeply") from None
    except ValueError as error:
        raise _invalid(f"not valid JSON: {error}") from None


def _repaired(text: str, start: int, error: json.JSONDecodeError) -> _Found:
    try:
        repaired = repair(text, start)
    except SyntaxRepairError as unrepaired:
        where = f"line {error.lineno} column {error.colno}"
        raise _invalid(bounded(f"not valid JSON: {error.msg} at {where}; {unrepaired}", 300)) from None
    return _Found(json.dumps(repaired.value), repaired.end, is_repaired=True)


def _refuse_duplicates(pairs: list[tuple[str, object]]) -> None:
    """Stand in for the object, which nobody reads: this decoder only finds errors and the end."""
    if len(dict(pairs)) < len(pairs):
        times = Counter(key for key, _ in pairs)
        repeated = next(key for key in times if times[key] > 1)
        raise ValueError(f"the key {bounded(repeated, 80)!r} is there twice")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_duplicates, parse_constant=_refuse_constant)


def _describe(error: ValidationError) -> str:
    details = error.errors(include_url=False, include_context=False)
    lines = [_describe_one(detail) for detail in details[:MAX_ERRORS_SHOWN]]
    if len(details) > MAX_ERRORS_SHOWN:
        lines.append(f"and {len(details) - MAX_ERRORS_SHOWN} more")
    return bounded("; ".join(lines))


def _describe_one(detail: ErrorDetails) -> str:
    field = ".".join(str(part) for part in detail["loc"]) or "the whole answer"
    value = detail["input"]
    got = f", not {bounded(repr(value), 60)}" if isinstance(value, str | int | float | bool | None) else ""
    return bounded(f"{field}: {detail['msg']}{got}", 300)


def _invalid(message: str) -> ModelError:
    return ModelError(ErrorCode.INVALID_OUTPUT, message)
