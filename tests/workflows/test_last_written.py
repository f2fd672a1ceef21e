"""A large plan is not read again where it was written, and a run cannot tell the difference."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from harness.calls import PlanReply
from harness.errors import ErrorCode
from harness.guardrail import Flag, Guardrail, GuardReport
from harness.plan import Plan
from harness.usage import TryRecord, Usage
from tests.builders import node
from workflows import data_converter
from workflows.data_converter import DATA_CONVERTER
from workflows.last_written import LastWritten

CONVERTER = DATA_CONVERTER.payload_converter


def reply(nodes: int, *, tokens: int = 5) -> PlanReply:
    plan = Plan(nodes=tuple(node(f"n{number}", "report") for number in range(nodes)))
    usage = Usage(model="m", input_tokens=tokens, cost_usd=Decimal("0.10"))
    failed = TryRecord(number=1, code=ErrorCode.TIMEOUT, message="late", usage=usage, started_at=datetime.now(UTC))
    flag = Flag(guardrail=Guardrail.INJECTION, where="goal", detail="role")
    guard = GuardReport(ran=(Guardrail.INJECTION,), flags=(flag,))
    return PlanReply(plan=plan, usage=usage, tries=(failed,), try_number=2, guard=guard)


def there_and_back(value: PlanReply) -> Any:
    [payload] = CONVERTER.to_payloads([value])
    [read] = CONVERTER.from_payloads([payload], [PlanReply])
    return read


def test_a_large_plan_is_given_as_it_was_written_and_equals_what_would_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = reply(3000)
    [payload] = CONVERTER.to_payloads([written])

    here = CONVERTER.from_payloads([payload], [PlanReply])
    monkeypatch.setattr(data_converter, "_WRITTEN", LastWritten())
    elsewhere = CONVERTER.from_payloads([payload], [PlanReply])

    assert here[0] is written
    assert elsewhere[0] is not written
    assert here == elsewhere
    assert here[0].model_fields_set == elsewhere[0].model_fields_set
    assert here[0].model_dump_json() == elsewhere[0].model_dump_json()


def test_a_small_plan_is_read() -> None:
    written = reply(3)

    read = there_and_back(written)

    assert read == written
    assert read is not written


def test_only_the_same_bytes_are_the_same_value() -> None:
    written = [reply(3000, tokens=tokens) for tokens in range(3)]
    payloads = CONVERTER.to_payloads(written)
    payloads[0].data = payloads[0].data.replace(b'"input_tokens":0', b'"input_tokens":9')

    first, *others = CONVERTER.from_payloads(payloads, [PlanReply] * 3)

    assert first.usage.input_tokens == 9
    assert [one is other for one, other in zip(written[1:], others, strict=True)] == [True, True]


def test_few_values_are_kept_and_each_is_given_once_for_its_own_class() -> None:
    known, written = LastWritten(), [reply(1, tokens=tokens) for tokens in range(9)]
    for number, value in enumerate(written):
        known.remember(value, b"%d" % number)

    assert known.take(Plan, b"8") is None
    assert known.take(None, b"8") is None
    assert [known.take(PlanReply, b"%d" % number) for number in range(9)] == [None] * 5 + written[5:]
    assert [known.take(PlanReply, b"%d" % number) for number in range(9)] == [None] * 9
