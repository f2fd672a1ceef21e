import gc

import pytest
from pydantic import ValidationError

from harness.run import NodeReport
from harness.schedule import NodeStatus
from tests.builders import node
from workflows.data_converter import DATA_CONVERTER
from workflows.garbage import no_collection


def test_a_large_value_is_decoded_without_looking_for_garbage() -> None:
    reports = tuple(NodeReport(node=node(f"n{number}", "report"), status=NodeStatus.DONE) for number in range(3000))
    [payload] = DATA_CONVERTER.payload_converter.to_payloads([reports])
    found: list[str] = []
    gc.callbacks.append(lambda phase, _: found.append(phase))  # "start" and "stop" of each collection
    try:
        decoded = DATA_CONVERTER.payload_converter.from_payloads([payload], [tuple[NodeReport, ...]])
    finally:
        gc.callbacks.pop()

    assert decoded == [reports]
    assert len(found) <= 2, "one collection may follow, when the collector works again"
    assert gc.isenabled()


def test_the_collector_works_again_after_a_value_that_is_wrong() -> None:
    [payload] = DATA_CONVERTER.payload_converter.to_payloads(["x" * 100_000])

    with pytest.raises((ValidationError, RuntimeError)):
        DATA_CONVERTER.payload_converter.from_payloads([payload], [NodeReport])

    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        with no_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
