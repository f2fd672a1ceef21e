from collections.abc import Iterator

import pytest
import temporalio.bridge.worker as sdk
from pydantic import BaseModel
from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter
from temporalio.converter._payload_converter import _TRANSFER_TYPE_CONVERTER_ATTR

from activities.artifacts import ArtifactStore
from harness.calls import ToolReply, ToolRequest
from workflows import known_sdk, sdk_shortcuts, spared_walks
from workflows.data_converter import data_converter
from workflows.storing_converter import StoringConverter


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave the SDK of this process as it was before a test."""
    monkeypatch.setattr(sdk, "decode_activation", spared_walks._decode)
    monkeypatch.setattr(sdk, "encode_completion", spared_walks._encode)
    return


@pytest.fixture
def other_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_sdk, "version", lambda _: "9.9.9")


def test_the_sdk_that_is_installed_is_known() -> None:
    assert known_sdk.is_known(), known_sdk.__doc__


def test_shortcuts_are_taken_with_a_known_sdk() -> None:
    sdk_shortcuts.take_shortcuts()

    assert sdk.decode_activation is spared_walks.decode_activation
    assert sdk.encode_completion is spared_walks.encode_completion


@pytest.mark.usefixtures("other_sdk")
def test_none_is_taken_with_another_one() -> None:
    sdk_shortcuts.take_shortcuts()

    assert sdk.decode_activation is spared_walks._decode
    assert sdk.encode_completion is spared_walks._encode


def test_the_sdk_is_told_that_the_models_of_calls_have_no_converter_of_their_own() -> None:
    sdk_shortcuts.take_shortcuts()

    assert sdk_shortcuts._CONVERTER == _TRANSFER_TYPE_CONVERTER_ATTR
    assert all(vars(kind)[_TRANSFER_TYPE_CONVERTER_ATTR] is None for kind in (ToolRequest, ToolReply))
    assert not hasattr(BaseModel, _TRANSFER_TYPE_CONVERTER_ATTR), "a model of somebody else may get one"


@pytest.mark.usefixtures("other_sdk")
async def test_a_converter_does_all_that_another_sdk_does(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []

    async def encode(self: DataConverter, values: object) -> list[Payload]:
        called.append("encode")
        return []

    async def decode(self: DataConverter, payloads: object, hints: object) -> list[object]:
        called.append("decode")
        return []

    monkeypatch.setattr(DataConverter, "encode", encode)
    monkeypatch.setattr(DataConverter, "decode", decode)
    converter = data_converter(ArtifactStore.open("memory://"))

    await converter.encode([1])
    await converter.decode([])

    assert isinstance(converter, StoringConverter)
    assert called == ["encode", "decode"]
