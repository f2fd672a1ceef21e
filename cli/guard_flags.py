"""What guardrails have found, as trace events tell it."""

from collections.abc import Iterable

from harness.trace import TraceEvent, TraceKind

_FINDS = frozenset({TraceKind.GUARDRAIL_FLAG, TraceKind.GUARDRAIL_BLOCK})


def flags_of(event: TraceEvent) -> tuple[str, ...]:
    """Return the findings that an event tells one by one; none for an event that only has a message."""
    flags = event.data.get("flags")
    return tuple(map(str, flags)) if event.kind is TraceKind.GUARDRAIL_FLAG and isinstance(flags, list) else ()


def findings(events: Iterable[TraceEvent]) -> tuple[str, ...]:
    """Return all that guardrails have found, in the order in which it happened, each thing once."""
    told = (
        find for event in events if event.kind in _FINDS for find in flags_of(event) or (event.message or event.status,)
    )
    return tuple(dict.fromkeys(told))
