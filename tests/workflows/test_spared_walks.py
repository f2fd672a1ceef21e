"""What the SDK would do for each payload is done all the same where it matters, and is spared where it does not."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.converter import DataConverter, PayloadCodec, StorageDriverStoreContext, StorageDriverWorkflowInfo
from temporalio.converter._extstore import StorageOperationMetrics

from activities.artifacts import ArtifactStore
from workflows import spared_walks
from workflows.data_converter import data_converter
from workflows.payload_storage import INLINE_LIMIT

RUN = StorageDriverStoreContext(target=StorageDriverWorkflowInfo(namespace="default", id="r", type="T"))
LIMIT = 1000
SMALL, LARGE = b"1" * 100, b"2" * (LIMIT + 1)


class Codec(PayloadCodec):
    """Leaves everything as it is."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return list(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return list(payloads)


def converter() -> DataConverter:
    """Return a converter that stores what is larger than the limit."""
    return data_converter(ArtifactStore.open("memory://"), threshold=LIMIT)._with_store_context(RUN)


def payload(data: bytes, **metadata: bytes) -> Payload:
    return Payload(metadata={"encoding": b"json/plain"} | metadata, data=data)


def completion(*payloads: Payload) -> WorkflowActivationCompletion:
    """Return a task that starts an activity with each payload, and ends with a summary of the last."""
    made = WorkflowActivationCompletion()
    for number, each in enumerate(payloads):
        command = made.successful.commands.add()
        command.schedule_activity.seq = number
        command.schedule_activity.arguments.append(each)
        command.user_metadata.summary.CopyFrom(payload(b'"n"'))
    return made


def activation(*payloads: Payload) -> WorkflowActivation:
    made = WorkflowActivation()
    for number, each in enumerate(payloads):
        made.jobs.add().resolve_activity.seq = number
        made.jobs[-1].resolve_activity.result.completed.result.CopyFrom(each)
    return made


def refuse(name: str) -> Callable[..., object]:
    def called(*_: object) -> object:
        raise AssertionError(f"{name} was called")

    return called


@pytest.fixture
def spared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where the SDK's own functions are called."""
    monkeypatch.setattr(spared_walks, "_decode", refuse("decode"))
    monkeypatch.setattr(spared_walks, "_encode", refuse("encode"))


@pytest.mark.usefixtures("spared")
async def test_small_payloads_are_not_walked() -> None:
    task, result = completion(*[payload(SMALL)] * 20), activation(*[payload(SMALL)] * 20)
    assert task.ByteSize() > LIMIT

    assert await spared_walks.encode_completion(task, converter(), False, 3) == StorageOperationMetrics()
    assert await spared_walks.decode_activation(result, converter(), False, 3) == StorageOperationMetrics()
    assert task == completion(*[payload(SMALL)] * 20)


@pytest.mark.parametrize(
    "payloads",
    [
        pytest.param([payload(LARGE)], id="large"),
        pytest.param([payload(SMALL)] * 30 + [payload(LARGE)], id="one large among many"),
        pytest.param([payload(SMALL, **{INLINE_LIMIT: b"5000"})], id="marked"),
        pytest.param([payload(LARGE, **{INLINE_LIMIT: b"5000"})] * 2, id="large and marked"),
        pytest.param([payload(b"3" * LIMIT)], id="about the limit"),
        pytest.param([], id="none"),
    ],
)
async def test_a_task_goes_out_and_comes_in_as_the_sdk_alone_would_have_it(payloads: Sequence[Payload]) -> None:
    ours, theirs, both = completion(*payloads), completion(*payloads), converter()

    kept = await spared_walks.encode_completion(ours, both, False, 3)
    assert (await spared_walks._encode(theirs, both, False, 3)).payload_count == kept.payload_count
    assert ours == theirs

    sent = [command.schedule_activity.arguments[0] for command in ours.successful.commands]
    came, comes = activation(*sent), activation(*sent)
    had = await spared_walks.decode_activation(came, both, False, 3)
    assert (await spared_walks._decode(comes, both, False, 3)).payload_count == had.payload_count == kept.payload_count
    assert came == comes
    assert [job.resolve_activity.result.completed.result.data for job in came.jobs] == [each.data for each in payloads]


@pytest.mark.usefixtures("spared")
async def test_another_converter_is_walked() -> None:
    with pytest.raises(AssertionError, match="encode was called"):
        await spared_walks.encode_completion(completion(payload(SMALL)), DataConverter.default, False, 3)
    with pytest.raises(AssertionError, match="decode was called"):
        await spared_walks.decode_activation(activation(payload(SMALL)), DataConverter.default, False, 3)


@pytest.mark.usefixtures("spared")
async def test_a_converter_with_a_codec_is_walked() -> None:
    coded = replace(converter(), payload_codec=Codec())

    with pytest.raises(AssertionError, match="encode was called"):
        await spared_walks.encode_completion(completion(payload(SMALL)), coded, False, 3)
    with pytest.raises(AssertionError, match="decode was called"):
        await spared_walks.decode_activation(activation(payload(SMALL)), coded, False, 3)


@pytest.mark.usefixtures("spared")
async def test_a_failure_or_an_answer_that_is_large_is_walked() -> None:
    failed, answered = WorkflowActivationCompletion(), WorkflowActivationCompletion()
    failed.failed.failure.message = "x" * (LIMIT + 1)
    answered.successful.commands.add().respond_to_query.succeeded.response.CopyFrom(payload(LARGE))

    for task in (failed, answered):
        with pytest.raises(AssertionError, match="encode was called"):
            await spared_walks.encode_completion(task, converter(), False, 3)


@pytest.mark.parametrize("data", [SMALL, LARGE, b"4" * 6000], ids=["small", "inline all the same", "stored"])
async def test_the_result_of_a_run_goes_out_as_the_sdk_alone_would_have_it(data: bytes) -> None:
    def ending() -> WorkflowActivationCompletion:
        task = completion(payload(SMALL))
        result = payload(data, **{INLINE_LIMIT: b"5000"})
        task.successful.commands.add().complete_workflow_execution.result.CopyFrom(result)
        return task

    ours, theirs, both = ending(), ending(), converter()
    await spared_walks.encode_completion(ours, both, False, 3)
    await spared_walks._encode(theirs, both, False, 3)

    assert ours == theirs
    assert INLINE_LIMIT not in ours.successful.commands[-1].complete_workflow_execution.result.metadata
