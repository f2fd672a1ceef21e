"""How values travel: pydantic JSON without the fields that nobody set, because history pays for every byte."""

import dataclasses
from functools import cache
from typing import Any

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
    StorageDriverStoreContext,
)
from temporalio.exceptions import ApplicationError

from activities.artifacts import ArtifactStore
from harness.artifact import INLINE_BYTES
from harness.errors import ErrorCode
from harness.run import RunResult, RunView
from harness.trace import TraceSlice
from workflows.payload_storage import INLINE_LIMIT, external_storage

STARTER_INLINE_BYTES = 262_144
"""Largest value that a starter sends inline. Its requests fit: workers elsewhere need not share its store for them."""
RESULT_INLINE_BYTES = 65_536
"""Largest result of a run that travels inline, so that a starter without the workers' store can read most of them."""
_RUNS_KNOWN = 1000
_ANSWER_INLINE_BYTES = 4_194_304
"""No answer to a query is larger. It never enters history, and nobody would remove it from the store."""


class LeanPayloadConverter(CompositePayloadConverter):
    """Temporal's default converters with pydantic's JSON, unset fields left out."""

    def __init__(self) -> None:
        """Replace the plain JSON converter, as temporalio.contrib.pydantic does.

        The SDK creates one of these for each payload: what it consists of, with all that is cached there, is shared.
        """
        self.converters = _converters()


class LeanFailureConverter(DefaultFailureConverter):
    """Temporal's default, without stack traces, and with the reason why a value could not be decoded in its place."""

    def to_failure(self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure) -> None:
        """See base class, which comes here for each cause, too."""
        super().to_failure(_told_by_store(exception) or exception, payload_converter, failure)
        # They tell of the worker's disk and fill history; the worker's log has them.
        failure.stack_trace = ""


class _LeanJSON(PydanticJSONPlainPayloadConverter):
    """Marks what is read outside the workers, so that it travels inline."""

    def to_payload(self, value: Any) -> Payload | None:  # noqa: ANN401 - as the base class
        payload = super().to_payload(value)
        limit = _inline_limit(value)
        if payload is not None and limit:
            payload.metadata[INLINE_LIMIT] = str(limit).encode()
        return payload


@cache
def _converters() -> dict[bytes, EncodingPayloadConverter]:
    lean = _LeanJSON(ToJsonOptions(exclude_unset=True))
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
    return _StoringConverter(
        payload_converter_class=LeanPayloadConverter,
        failure_converter_class=LeanFailureConverter,
        external_storage=external_storage(store, threshold),
    )


class _StoringConverter(DataConverter):
    """Keeps what the SDK derives from it for a run, instead of building it anew three times a node.

    Should the SDK call the hook otherwise some day, nothing but time is lost.
    """

    def __post_init__(self) -> None:
        """Know no run yet."""
        super().__post_init__()
        object.__setattr__(self, "_of_runs", {})

    def _with_store_context(self, store_ctx: StorageDriverStoreContext) -> DataConverter:
        known: dict[object, DataConverter] = self.__dict__["_of_runs"]
        bound = known.get(store_ctx.target)
        if bound is None:
            if len(known) >= _RUNS_KNOWN:
                known.clear()
            bound = known[store_ctx.target] = super()._with_store_context(store_ctx)
        return bound


def _inline_limit(value: object) -> int:
    match value:
        case RunView() | TraceSlice():
            return _ANSWER_INLINE_BYTES
        case RunResult():
            return RESULT_INLINE_BYTES
        case _:
            return 0


def _told_by_store(exception: BaseException) -> ApplicationError | None:
    """Return what the store said of an activity's input, which the SDK hides behind an error without a type.

    That one would be retried, though what is lost does not come back.
    """
    cause = exception.__cause__
    is_untyped = isinstance(exception, ApplicationError) and exception.type is None
    return cause if is_untyped and isinstance(cause, ApplicationError) and cause.type in set(ErrorCode) else None
