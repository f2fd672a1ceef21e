"""What is found of messages that were accepted and not applied once, in order."""

from dataclasses import replace

import pytest

from chaos.checks import violations_of
from chaos.evidence import RoundEvidence
from chaos.facts import Rule
from chaos.messages import Message
from tests.chaos.fabricated import broken, budget, evidence, result, run

FIRST, SECOND = (Message(name, "ann", 0.1, 5) for name in ("m0", "m1"))


def with_messages(*applied: str, calls: int) -> RoundEvidence:
    """Return a round whose run was sent two messages, has applied these, and has so many calls as its limit."""
    limits = replace(budget(), max_tool_calls=calls)
    messages = tuple((name, 5) for name in applied)
    return evidence(runs=(run(accepted=(FIRST, SECOND), applied=messages, result=result(budget=limits)),))


def test_accepted_messages_are_applied_once_and_in_order() -> None:
    assert violations_of(with_messages("m0", "m1", calls=110)) == ()


def test_a_message_without_an_answer_may_have_been_applied() -> None:
    assert violations_of(with_messages("m0", "m1", "m2", calls=115)) == ()


@pytest.mark.parametrize(
    ("applied", "calls"),
    [
        (("m0",), 105),
        (("m0", "m1", "m0"), 115),
        (("m1", "m0"), 110),
        (("m0", "m1"), 105),
        (("m0", "m1", "m2", "m2"), 120),
    ],
    ids=["not applied", "applied twice", "in another order", "not in the limits", "twice without an answer"],
)
def test_a_message_that_is_not_applied_once_and_in_order_is_found(applied: tuple[str, ...], calls: int) -> None:
    assert broken(with_messages(*applied, calls=calls)) == {Rule.MESSAGE_LOST}
