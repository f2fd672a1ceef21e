"""The step records of an agent loop: those in the artifact store, and the order in which people read them."""

from collections.abc import Iterable

from pydantic import TypeAdapter
from temporalio.client import Client

from cli.trace_pages import read_page
from harness.loop import StepPage, StepRecord

_STEPS = TypeAdapter(tuple[StepRecord, ...])


async def steps_of(client: Client, run_id: str, pages: tuple[StepPage, ...]) -> tuple[StepRecord, ...]:
    """Return the records of pages; refuse when one cannot be read."""
    steps: list[StepRecord] = []
    for page in pages:
        steps += _STEPS.validate_json(await read_page(client, run_id, page.artifact.digest, of="steps"))
    return tuple(steps)


def in_order(records: Iterable[StepRecord]) -> tuple[StepRecord, ...]:
    """Return records by step and by place in the step; a loop lists calls as they have ended."""
    return tuple(sorted(records, key=_place))


def _place(record: StepRecord) -> tuple[int, int]:
    place = record.call.rpartition(".")[2]
    return (record.number, int(place) if place.isascii() and place.isdigit() else 0)
