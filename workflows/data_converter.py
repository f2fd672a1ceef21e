"""How values travel: pydantic JSON without the fields that nobody set, because history pays for every byte."""

import dataclasses
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from pydantic_core import SchemaSerializer
from pydantic_core.core_schema import any_schema
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.contrib.pydantic import (
    PydanticJSONPlainPayloadConverter,
    ToJsonOptions,
    pydantic_data_converter,
)
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultFailureConverter,
    DefaultPayloadConverter,
    EncodingPayloadConverter,
    PayloadConverter,
)
from temporalio.exceptions import ApplicationError

from activities.artifacts import ArtifactStore
from harness.artifact import INLINE_BYTES
from harness.calls import PlanReply
from harness.encoded import Encoded, encoded_whole, read_without_trace
from harness.errors import ErrorCode
from harness.loop import LoopResult, LoopView
from harness.loop_fit import encode_loop_result
from harness.message_fit import encode_result
from harness.run import RunResult, RunView
from harness.trace_log import TraceSlice
from workflows.garbage import no_collection
from workflows.last_written import LastWritten
from workflows.payload_storage import INLINE_LIMIT, TRACE_PLACE, external_storage, place_of_trace
from workflows.storing_converter import StoringConverter

STARTER_INLINE_BYTES = 262_144
"""Largest value that a starter sends inline. Its requests fit: workers elsewhere need not share its store for them."""
RESULT_INLINE_BYTES = 65_536
"""Largest result of a run that travels inline, so that a starter without the workers' store can read most of them."""
_LARGE = 65_536
"""Bytes of a value whose objects are worth a pause of the garbage collector."""
_ANSWER_INLINE_BYTES = 4_194_304
"""No answer to a query is larger. It never enters history, and nobody would remove it from the store."""
_INLINE_LIMITS: dict[type, int] = {
    RunView: _ANSWER_INLINE_BYTES,
    TraceSlice: _ANSWER_INLINE_BYTES,
    RunResult: RESULT_INLINE_BYTES,
    LoopView: _ANSWER_INLINE_BYTES,
    LoopResult: RESULT_INLINE_BYTES,
}
_ENCODERS: dict[type, Callable[[Any], Encoded]] = {
    RunResult: encode_result,
    LoopResult: encode_loop_result,
    TraceSlice: encoded_whole,
}
"""Values with a trace, which is JSON already; results are cut where they would not fit into a message."""
_JSON = Payload(metadata={"encoding": b"json/plain"})
_ANYTHING = SchemaSerializer(any_schema())
_WRITTEN = LastWritten()
"""Plans: they are read where they were written, more often than not."""


class LeanPayloadConverter(CompositePayloadConverter):
    """Temporal's default converters with pydantic's JSON, unset fields left out."""

    def __init__(self) -> None:
        """Replace the plain JSON converter, as temporalio.contrib.pydantic does.

        The SDK creates one of these for each payload: what it consists of, with all that is cached there, is shared.
        """
        self.converters = _converters()

    def to_payloads(self, values: Sequence[Any]) -> list[Payload]:
        """See base class; what is surely JSON is not offered to the other converters first."""
        if all(map(_is_json, values)):
            return [_lean().payload_of(value) for value in values]
        return super().to_payloads(values)


class LeanFailureConverter(DefaultFailureConverter):
    """Temporal's default, without stack traces, and with the reason why a value could not be decoded in its place."""

    def to_failure(self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure) -> None:
        """See base class, which comes here for each cause, too."""
        super().to_failure(_told_by_store(exception) or exception, payload_converter, failure)
        # They tell of the worker's disk and fill history; the worker's log has them.
        failure.stack_trace = ""


class _LeanJSON(PydanticJSONPlainPayloadConverter):
    """Cuts results that are too large, and marks what is read outside the workers.

    The marks say up to which size it travels inline, and of a large result where its trace is, which is read later.
    """

    def to_payload(self, value: Any) -> Payload | None:  # noqa: ANN401 - as the base class
        return self.payload_of(value)

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:  # noqa: ANN401 - as the base class
        """See base class."""
        data = payload.data  # a copy, each time
        if len(data) < _LARGE:
            if type_hint is not None and hasattr(type_hint, "__pydantic_validator__"):
                return type_hint.__pydantic_validator__.validate_json(data)
            return super().from_payload(payload, type_hint)
        with no_collection():
            if (known := _WRITTEN.take(type_hint, data)) is not None:
                return known
            place = place_of_trace(payload)
            if place is not None and isinstance(type_hint, type) and issubclass(type_hint, RunResult | LoopResult):
                return read_without_trace(type_hint, data, place)
            return super().from_payload(payload, type_hint)

    def payload_of(self, value: Any) -> Payload:  # noqa: ANN401 - as the base class
        """Return what `to_payload` returns, which is always a payload."""
        encode = _ENCODERS.get(type(value))
        encoded = encode(value) if encode else None
        data = encoded.data if encoded else _ANYTHING.to_json(value, exclude_unset=True)
        payload = Payload()
        payload.CopyFrom(_JSON)  # a third of the time that it takes to say the encoding in words
        payload.data = data
        if len(data) >= _LARGE and isinstance(value, PlanReply):
            _WRITTEN.remember(value, data)
        limit = _INLINE_LIMITS.get(type(value))
        if limit:
            payload.metadata[INLINE_LIMIT] = str(limit).encode()
        if encoded and encoded.trace_place and len(data) > RESULT_INLINE_BYTES:
            payload.metadata[TRACE_PLACE] = b"%d:%d" % encoded.trace_place
        return payload


@cache
def _lean() -> _LeanJSON:
    return _LeanJSON(ToJsonOptions(exclude_unset=True))


@cache
def _converters() -> dict[bytes, EncodingPayloadConverter]:
    lean = _lean()
    default = DefaultPayloadConverter.default_encoding_payload_converters
    chosen = (lean if converter.encoding == lean.encoding else converter for converter in default)
    return {converter.encoding.encode(): converter for converter in chosen}


DATA_CONVERTER: DataConverter = dataclasses.replace(
    pydantic_data_converter,
    payload_converter_class=LeanPayloadConverter,
    failure_converter_class=LeanFailureConverter,
)
"""The converter without a store, for those that meet no large value."""


def data_converter(store: ArtifactStore, *, threshold: int = INLINE_BYTES) -> DataConverter:
    """Return the one converter of clients, workers and replayers; what is larger than `threshold` goes to the store."""
    return StoringConverter(
        payload_converter_class=LeanPayloadConverter,
        failure_converter_class=LeanFailureConverter,
        external_storage=external_storage(store, threshold),
        threshold=threshold,
    )


def _is_json(value: object) -> bool:
    """Return whether a value is a model or a text; asked of its class, because pydantic's `isinstance` is slow."""
    kind = type(value)
    return kind is str or hasattr(kind, "__pydantic_serializer__")


def _told_by_store(exception: BaseException) -> ApplicationError | None:
    """Return what the store said of an activity's input, which the SDK hides behind an error without a type.

    That one would be retried, though what is lost does not come back.
    """
    cause = exception.__cause__
    is_untyped = isinstance(exception, ApplicationError) and exception.type is None
    return cause if is_untyped and isinstance(cause, ApplicationError) and cause.type in set(ErrorCode) else None
