"""The check of messages: each that was accepted is applied once, in the order of its sender, and counts."""

from collections import Counter
from collections.abc import Iterator

from chaos.facts import Facts, Finding, Rule


def messages_are_applied_once(facts: Facts) -> Iterator[Finding]:
    """Accepted messages are in the trace once, in order; limits are those of the calm run and what was applied."""
    result, calm, applied = facts.run.result, facts.calm.result, facts.run.applied
    if result is None or applied is None:
        return
    counts = Counter(message_id for message_id, _ in applied)
    for message in facts.run.accepted:
        if counts[message.id] != 1:
            yield Rule.MESSAGE_LOST, f"{message.id} was accepted and applied {counts[message.id]} times"
    for message_id, count in counts.items():
        if count > 1:
            yield Rule.MESSAGE_LOST, f"{message_id} was applied {count} times"
    for sender in dict.fromkeys(message.sender for message in facts.run.accepted):
        sent = [message.id for message in facts.run.accepted if message.sender == sender and counts[message.id]]
        order = [message_id for message_id, _ in applied if message_id in sent]
        if list(dict.fromkeys(order)) != sent:
            yield Rule.MESSAGE_LOST, f"{sender} sent {sent} in this order, and {order} were applied"
    more = sum(tool_calls for _, tool_calls in applied)
    if calm is not None and result.budget.max_tool_calls != calm.budget.max_tool_calls + more:
        limits = f"{result.budget.max_tool_calls}, without messages {calm.budget.max_tool_calls}"
        yield Rule.MESSAGE_LOST, f"the messages raise the limit by {more} calls, but it is {limits}"
