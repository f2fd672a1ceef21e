"""Telemetry: whether spans are exported, and where to. Off unless the environment names a collector."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from temporalio.plugin import SimplePlugin

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

TRACES_ENDPOINT = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
DISABLED = "OTEL_SDK_DISABLED"


@contextmanager
def telemetry(
    environment: Mapping[str, str], service: str, *, exporter: "SpanExporter | None" = None
) -> Iterator[list[SimplePlugin]]:
    """Yield the plugins that a worker needs, none without a collector; on leaving, send what is left within 2 s.

    Enter it once in a process, before the worker starts, and leave it when the worker has stopped.
    `service` names the process in its spans unless OTEL_SERVICE_NAME does. An `exporter` replaces OTLP, for tests.
    """
    endpoint = collector(environment)
    if endpoint is None:
        yield []
        return
    # The SDK takes a quarter of a second to load, which nobody should pay for who has no collector.
    from workflows.span_export import exporting  # noqa: PLC0415

    with exporting(endpoint, service, exporter) as plugin:
        yield [plugin]


def collector(environment: Mapping[str, str]) -> str | None:
    """Return the URL to which spans are posted, None when nothing is to be exported."""
    if environment.get(DISABLED, "").strip().lower() == "true":
        return None
    if exact := environment.get(TRACES_ENDPOINT, "").strip():
        return exact
    base = environment.get(ENDPOINT, "").strip()
    return f"{base.rstrip('/')}/v1/traces" if base else None
