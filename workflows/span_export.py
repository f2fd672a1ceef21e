"""Export of spans over OTLP by the OpenTelemetry SDK. A collector that is dead or slow costs spans, never a run."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.context import get_value
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from temporalio.contrib.opentelemetry import OpenTelemetryPlugin, ReplaySafeTracerProvider

# ReplaySafeTracerProvider takes nothing else, but the package does not export it.
from temporalio.contrib.opentelemetry._id_generator import TemporalIdGenerator

from workflows.spans import SPAN_ID, TRACE_ID

CLOSE_LIMIT_S = 2.0
"""Longest time that leaving waits for the last spans to be sent."""
TALKATIVE = ("opentelemetry.exporter.otlp", "opentelemetry.sdk._shared_internal")
"""Loggers that report every failed export, some with a stack trace."""

_logger = logging.getLogger(__name__)


@contextmanager
def exporting(endpoint: str, service: str, exporter: SpanExporter | None) -> Iterator[OpenTelemetryPlugin]:
    """Make this process export its spans; on leaving, send what is left within CLOSE_LIMIT_S."""
    for name in TALKATIVE:
        _quieten(logging.getLogger(name))
    outlet = _Outlet(exporter or OTLPSpanExporter(endpoint=endpoint), endpoint)
    provider = _provider(service)
    provider.add_span_processor(BatchSpanProcessor(outlet))
    trace.set_tracer_provider(provider)
    try:
        yield OpenTelemetryPlugin()
    finally:
        _close(provider.shutdown, outlet)


class _Outlet(SpanExporter):
    """Sends spans by another exporter, and says once when they do not arrive."""

    def __init__(self, exporter: SpanExporter, endpoint: str) -> None:
        self._exporter = exporter
        # The URL may hold credentials.
        self._shown = endpoint.rpartition("@")[2].partition("?")[0]
        self._has_warned = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        if result is not SpanExportResult.SUCCESS:
            self.warn()
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)

    def warn(self) -> None:
        """Say that spans are lost, the first time only."""
        if not self._has_warned:
            self._has_warned = True
            _logger.warning(
                "no spans reach the collector at %s, which must take OTLP over HTTP; runs go on without them",
                self._shown,
            )


class _ChainIds(TemporalIdGenerator):
    """Ids that replay repeats; a span of a chain of workflow runs gets the ids that its context names."""

    def generate_span_id(self) -> int:
        chosen = get_value(SPAN_ID)
        return chosen if isinstance(chosen, int) else super().generate_span_id()

    def generate_trace_id(self) -> int:
        chosen = get_value(TRACE_ID)
        return chosen if isinstance(chosen, int) else super().generate_trace_id()


def _provider(service: str) -> ReplaySafeTracerProvider:
    ids = _ChainIds(RandomIdGenerator())
    resource = Resource.create().merge(Resource({SERVICE_NAME: service})).merge(OTELResourceDetector().detect())
    # Closing at exit would wait for the collector without a limit.
    return ReplaySafeTracerProvider(TracerProvider(resource=resource, shutdown_on_exit=False, id_generator=ids), ids)


def _quieten(logger: logging.Logger) -> None:
    """Leave a logger alone whose level somebody has set on purpose."""
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)


def _close(shutdown: Callable[[], None], outlet: _Outlet) -> None:
    """Shut down in a thread that does not outlive the process: neither the SDK's flush nor its shutdown has a limit."""
    closing = threading.Thread(target=shutdown, name="last-spans", daemon=True)
    closing.start()
    closing.join(CLOSE_LIMIT_S)
    if closing.is_alive():
        outlet.warn()
        outlet.shutdown()  # ends the waits between its tries
