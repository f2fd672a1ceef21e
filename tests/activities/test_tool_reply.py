"""The reply of a tool call is what its model would be, however it is written."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from temporalio.common import RawValue

from activities.tool_reply import Outcome, tool_reply
from activities.tool_result import as_bytes
from activities.try_ledger import TryLedger
from harness.artifact import Artifact
from harness.calls import ToolReply
from harness.errors import ErrorCode
from harness.guardrail import GuardReport
from harness.usage import NO_USAGE, TryRecord, Usage
from workflows.data_converter import DATA_CONVERTER

FAILED = TryRecord(number=1, code=ErrorCode.TIMEOUT, message="late")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


class Ledger(TryLedger):
    """A ledger whose try has run for a known time."""

    ran_ms = 0

    @property
    def latency_ms(self) -> int:
        return self.ran_ms


def ledger(*, latency_ms: int = 0, queue_ms: int = 0, tries: tuple[TryRecord, ...] = (), number: int = 1) -> Ledger:
    made = Ledger(number, tries, queue_ms)
    made.ran_ms = latency_ms
    return made


def received(reply: ToolReply | RawValue) -> tuple[bytes, ToolReply]:
    """Return a reply as it travels, and as a workflow reads it."""
    [payload] = DATA_CONVERTER.payload_converter.to_payloads([reply])
    [read] = DATA_CONVERTER.payload_converter.from_payloads([payload], [ToolReply])
    return payload.data, read


@given(JSON, st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_plain_result_is_read_as_its_model_would_be(value: JsonValue, latency_ms: int, queue_ms: int) -> None:
    data = as_bytes(value)
    timing = {"latency_ms": latency_ms, "queue_ms": queue_ms}

    reply = tool_reply(ledger(**timing), NO_USAGE, Outcome(value=value, data=data))

    _, read = received(reply)
    assert isinstance(reply, RawValue)
    assert read == ToolReply(value=value, **timing)
    assert read.model_fields_set == {"value", *(name for name, spent in timing.items() if spent)}


@pytest.mark.parametrize("timing", [{}, {"latency_ms": 3}, {"queue_ms": 9}, {"latency_ms": 3, "queue_ms": 9}])
@pytest.mark.parametrize("value", [480, "ä", [1, {"a": None}], None, False])
def test_a_plain_result_travels_as_its_model_would(value: JsonValue, timing: dict[str, int]) -> None:
    data, _ = received(tool_reply(ledger(**timing), NO_USAGE, Outcome(value=value, data=as_bytes(value))))

    assert data == ToolReply(value=value, **timing).model_dump_json(exclude_unset=True).encode()


@pytest.mark.parametrize(
    ("how", "usage", "fields", "expected"),
    [
        ({"tries": (FAILED,), "number": 2}, NO_USAGE, {}, {"tries": (FAILED,), "try_number": 2}),
        ({"number": 3}, NO_USAGE, {}, {"try_number": 3}),
        ({}, Usage(model="m", input_tokens=5), {}, {"usage": Usage(model="m", input_tokens=5)}),
        ({}, NO_USAGE, {"guard": GuardReport()}, {"guard": GuardReport()}),
        ({}, NO_USAGE, {"key": "k"}, {"key": "k"}),
    ],
    ids=["failed tries", "lost tries", "usage", "guardrails", "key"],
)
def test_a_reply_that_says_more_says_all_of_it(
    how: dict[str, Any], usage: Usage, fields: dict[str, Any], expected: dict[str, Any]
) -> None:
    outcome = Outcome(fields, value=0, data=b"0")

    _, read = received(tool_reply(ledger(queue_ms=9, **how), usage, outcome))

    assert read == ToolReply.model_validate({"value": 0, "queue_ms": 9} | expected)


def test_a_reply_without_a_value_says_where_it_is_or_that_the_call_was_made_before() -> None:
    artifact = Artifact(digest="a" * 64, size=70_000)

    stored, _ = received(tool_reply(ledger(), NO_USAGE, Outcome({"artifact": artifact})))
    reused, _ = received(tool_reply(ledger(), NO_USAGE, Outcome({"key": "k", "is_reused": True})))

    assert stored == ToolReply(artifact=artifact).model_dump_json(exclude_unset=True).encode()
    assert reused == b'{"key":"k","is_reused":true}'
