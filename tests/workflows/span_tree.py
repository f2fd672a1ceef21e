"""Spans collected in memory, and read as a tree."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.util._once import Once
from temporalio.plugin import SimplePlugin

from workflows.telemetry import ENDPOINT, telemetry


@contextmanager
def own_provider() -> Iterator[None]:
    """Let the body set the tracer provider of the process, which OpenTelemetry allows once only."""
    before = trace._TRACER_PROVIDER, trace._TRACER_PROVIDER_SET_ONCE
    trace._TRACER_PROVIDER, trace._TRACER_PROVIDER_SET_ONCE = None, Once()
    try:
        yield
    finally:
        trace._TRACER_PROVIDER, trace._TRACER_PROVIDER_SET_ONCE = before


@dataclass
class Collected:
    """What was exported; complete once the context has been left."""

    plugins: list[SimplePlugin]
    exporter: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)

    @property
    def spans(self) -> list[ReadableSpan]:
        """Return the spans in the order in which they came."""
        return list(self.exporter.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        """Return the spans of that name."""
        return [span for span in self.spans if span.name == name]

    @property
    def ids(self) -> list[int]:
        """Return the id of every span."""
        return [span.context.span_id for span in self.spans]

    def tree(self) -> list[str]:
        """Return the names, indented by depth; siblings by name, and a span without a known parent at the left."""
        known = set(self.ids)
        children: dict[int, list[ReadableSpan]] = {}
        for span in self.spans:
            is_child = span.parent is not None and span.parent.span_id in known
            children.setdefault(span.parent.span_id if is_child else 0, []).append(span)
        return list(_lines(children, 0, ""))


def _lines(children: dict[int, list[ReadableSpan]], parent: int, indent: str) -> Iterator[str]:
    for span in sorted(children.get(parent, []), key=lambda span: span.name):
        yield indent + span.name
        yield from _lines(children, span.context.span_id, indent + "  ")


@contextmanager
def collecting() -> Iterator[Collected]:
    """Collect the spans that the body makes with these plugins."""
    exporter = InMemorySpanExporter()
    with own_provider(), telemetry({ENDPOINT: "http://in.memory"}, "tests", exporter=exporter) as plugins:
        yield Collected(plugins, exporter)
