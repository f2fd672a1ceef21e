"""The SDK's walks through the payloads of a workflow task, left out where they change nothing.

It walks six times: for a codec, for external storage, and for references to what is stored, on the way in and on the
way out. That was a quarter of what the event loop of a worker did. There is no codec here, so only what is in the
store, or must go there, needs the walk; whether a task has any is seen from its bytes. For a known SDK only.
"""

import temporalio.bridge.worker as sdk
from google.protobuf.message import Message
from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.converter import DataConverter
from temporalio.converter._extstore import StorageOperationMetrics

from workflows.payload_storage import INLINE_LIMIT
from workflows.storing_converter import StoringConverter

_REFERENCES = (b"ExternalStorageReference", b"external-storage-reference", b"external_storage_reference")
"""What the bytes of any reference to the store have in them: its message type, its old encoding, or its mark."""
_MARK = INLINE_LIMIT.encode()
_decode, _encode = sdk.decode_activation, sdk.encode_completion


def install() -> None:
    """Leave them out in this process, for data converters of ours only."""
    sdk.decode_activation, sdk.encode_completion = decode_activation, encode_completion


async def decode_activation(
    activation: WorkflowActivation,
    data_converter: DataConverter,
    decode_headers: bool,  # noqa: FBT001 - as the SDK's own
    storage_concurrency_limit: int,
) -> StorageOperationMetrics:
    """Do what the SDK's function of this name does, at once where nothing of a task is in the store."""
    if _ours(data_converter) is None or any(map(activation.SerializeToString().__contains__, _REFERENCES)):
        return await _decode(activation, data_converter, decode_headers, storage_concurrency_limit)
    return StorageOperationMetrics()


async def encode_completion(
    completion: WorkflowActivationCompletion,
    data_converter: DataConverter,
    encode_headers: bool,  # noqa: FBT001 - as the SDK's own
    storage_concurrency_limit: int,
) -> StorageOperationMetrics:
    """Do what the SDK's function of this name does, at once where nothing of a task must go to the store."""
    ours = _ours(data_converter)
    if ours is None or not _is_small(completion, ours.threshold):
        return await _encode(completion, data_converter, encode_headers, storage_concurrency_limit)
    return StorageOperationMetrics()


def _ours(data_converter: DataConverter) -> StoringConverter | None:
    """Return the converter of ours that stands behind the one of a task; None when it is another, or has a codec."""
    own = getattr(data_converter, "_ca_context_free_dc", data_converter)
    return own if isinstance(own, StoringConverter) and own.payload_codec is None else None


def _is_small(completion: WorkflowActivationCompletion, threshold: int) -> bool:
    """Return whether every payload surely stays as it is: none is large, and none has a mark to be taken away."""
    commands = completion.successful.commands
    if commands and INLINE_LIMIT in commands[-1].complete_workflow_execution.result.metadata:
        return False  # the result of a run, whose megabytes need not be looked through
    data = completion.SerializeToString()
    if _MARK in data:
        return False
    if len(data) <= threshold:
        return True
    parts: list[Message] = [completion.failed, *commands]
    return all(part.ByteSize() <= threshold for part in parts)
