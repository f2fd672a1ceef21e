"""Slots of a worker for calls with a rate limit: it asks for the next call only when none waits for its turn."""

import asyncio

from temporalio.worker import (
    CustomSlotSupplier,
    FixedSizeSlotSupplier,
    SlotMarkUsedContext,
    SlotPermit,
    SlotReleaseContext,
    SlotReserveContext,
    WorkerTuner,
)

from activities.rate_gate import RateGate

MOST_CALLS = 100
"""Calls under way at once in one process, those of one limit; as many as a worker takes without a limit."""


class GatedSlots(CustomSlotSupplier):
    """Gives a slot when no call of the task queue is at the gate: the calls behind it are better off in the queue."""

    def __init__(self, gate: RateGate, task_queue: str) -> None:
        """Give slots for the calls of a task queue."""
        self._gate = gate
        self._task_queue = task_queue
        self._free = asyncio.Semaphore(MOST_CALLS)
        self._loop = asyncio.get_running_loop()

    async def reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit:  # noqa: ARG002 - the SDK's signature
        """Wait for a slot before a call is asked for."""
        await self._free.acquire()
        try:
            await self._gate.has_room(self._task_queue)
        except asyncio.CancelledError:
            self._free.release()
            raise
        return SlotPermit()

    def try_reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit | None:  # noqa: ARG002 - the SDK's signature
        """Give no slot to a call that the server has not handed out by its limit."""
        return None

    def mark_slot_used(self, ctx: SlotMarkUsedContext) -> None:
        """Do nothing: a slot is taken from the moment when a call is asked for."""

    def release_slot(self, ctx: SlotReleaseContext) -> None:  # noqa: ARG002 - the SDK's signature
        """Take a slot back; the SDK calls this from threads of its own."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._free.release)


def gated_tuner(gate: RateGate, task_queue: str) -> WorkerTuner:
    """Return the slots of a worker that only makes calls of one limit."""
    none = FixedSizeSlotSupplier(1)
    return WorkerTuner.create_composite(
        workflow_supplier=none,
        activity_supplier=GatedSlots(gate, task_queue),
        local_activity_supplier=none,
        nexus_supplier=none,
    )
