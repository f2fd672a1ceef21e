"""The trace events of a run that are in the artifact store."""

from pydantic import ValidationError
from temporalio.client import Client

from cli.exit_codes import Refusal
from harness.errors import ToolError
from harness.trace import TraceEvent, TracePage
from harness.trace_log import Trace
from workflows.payload_storage import owner_of, store_of


async def events_of(client: Client, run_id: str, pages: tuple[TracePage, ...]) -> tuple[TraceEvent, ...]:
    """Return the events of pages; refuse when one cannot be read."""
    events: list[TraceEvent] = []
    for page in pages:
        events += read(run_id, Trace.of_json(await read_page(client, run_id, page.artifact.digest, of="trace")))
    return tuple(events)


def read(run_id: str, trace: Trace) -> tuple[TraceEvent, ...]:
    """Return the events of a trace; refuse when they are not known here."""
    try:
        return trace.events
    except ValidationError as error:
        told = f"{error.error_count()} fields of its events do not fit"
        raise Refusal(f"The trace of run {run_id} is of another version and cannot be read: {told}.") from error


def events_after(last: TraceEvent | None, trace: tuple[TraceEvent, ...]) -> tuple[TraceEvent, ...]:
    """Return the events after one that is known; all of them when the trace begins later than that."""
    known = next((index for index in range(len(trace) - 1, -1, -1) if trace[index] == last), -1)
    return trace[known + 1 :]


async def read_page(client: Client, run_id: str, digest: str, *, of: str) -> bytes:
    """Return a page of a run's trace, or of whatever else `of` says; refuse when it cannot be read."""
    store = store_of(client.data_converter)
    if store is None:
        raise Refusal(f"Part of the {of} of run {run_id} is in the artifact store, and there is none here.")
    try:
        return await store.get(owner_of(client.namespace, run_id), digest)
    except ToolError as error:
        raise Refusal(f"Part of the {of} of run {run_id} cannot be read: {error.message}.") from error
