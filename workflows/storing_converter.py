"""The data converter of a process that has an artifact store."""

import dataclasses
from collections.abc import Sequence
from typing import Any, Self

from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter, SerializationContext, StorageDriverStoreContext

from harness.artifact import INLINE_BYTES
from workflows.known_sdk import is_known
from workflows.payload_storage import may_be_reference, stays_inline

_RUNS_KNOWN = 1000


@dataclasses.dataclass(frozen=True)
class StoringConverter(DataConverter):
    """Spares what the SDK would do anew for each payload, though almost none is large and there is no codec.

    The SDK calls these hooks fifteen times a node, and copies each list of payloads that does not come back as it went
    in.
    """

    threshold: int = INLINE_BYTES
    is_sdk_known: bool = dataclasses.field(default_factory=is_known)

    def __post_init__(self) -> None:
        """Know no run yet."""
        super().__post_init__()
        object.__setattr__(self, "_of_runs", {})

    @property
    def _is_plain(self) -> bool:
        """Return whether values are encoded by their converter and the store alone, as far as is known of the SDK."""
        return self.payload_codec is None and self.is_sdk_known

    async def encode(self, values: Sequence[Any]) -> list[Payload]:
        """See base class."""
        if not self._is_plain:
            return await super().encode(values)
        payloads = self.payload_converter.to_payloads(values)
        if all(stays_inline(payload, self.threshold) for payload in payloads):
            return payloads
        return await self._external_store_payload_sequence(payloads)

    async def decode(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        """See base class."""
        if self._is_plain and not any(map(may_be_reference, payloads)):
            return self.payload_converter.from_payloads(payloads, type_hints)
        return await super().decode(payloads, type_hints)

    def with_context(self, context: SerializationContext) -> Self:
        """See base class; the converters here do not care in which context they work."""
        return self if self._is_plain else super().with_context(context)

    def _with_store_context(self, store_ctx: StorageDriverStoreContext) -> DataConverter:
        known: dict[object, DataConverter] = self.__dict__["_of_runs"]
        bound = known.get(store_ctx.target)
        if bound is None:
            if len(known) >= _RUNS_KNOWN:
                known.clear()
            bound = known[store_ctx.target] = super()._with_store_context(store_ctx)
        return bound

    async def _encode_payload_sequence(self, payloads: Sequence[Payload]) -> list[Payload]:
        return await super()._encode_payload_sequence(payloads) if self.payload_codec else _as_they_are(payloads)

    async def _external_store_payload_sequence(self, payloads: Sequence[Payload]) -> list[Payload]:
        if all(stays_inline(payload, self.threshold) for payload in payloads):
            return _as_they_are(payloads)
        return await super()._external_store_payload_sequence(payloads)

    async def _encode_reference_payload_sequence(self, payloads: Sequence[Payload]) -> list[Payload]:
        is_idle = self.payload_codec is None
        return _as_they_are(payloads) if is_idle else await super()._encode_reference_payload_sequence(payloads)

    async def _decode_reference_payload_sequence(self, payloads: Sequence[Payload]) -> list[Payload]:
        if any(map(may_be_reference, payloads)):
            return await super()._decode_reference_payload_sequence(payloads)
        return _as_they_are(payloads)

    async def _external_retrieve_payload_sequence(self, payloads: Sequence[Payload]) -> list[Payload]:
        if any(map(may_be_reference, payloads)):
            return await super()._external_retrieve_payload_sequence(payloads)
        return _as_they_are(payloads)

    async def _decode_payload_sequence(self, payloads: Sequence[Payload]) -> list[Payload]:
        return await super()._decode_payload_sequence(payloads) if self.payload_codec else _as_they_are(payloads)


def _as_they_are(payloads: Sequence[Payload]) -> list[Payload]:
    """Return the same sequence: that tells the SDK that nothing has changed."""
    return payloads  # type: ignore[return-value] # no cast, which would be called as often
