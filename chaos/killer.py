"""The killer: SIGKILLs workers and the server at seeded moments, and starts them again a little later."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from chaos.fleet import Fleet
from chaos.ledger import Ledger, What
from chaos.server import ChaosServer

WORKERS = 2
_MOST_STRIKES = 4
_WAIT_FOR_EFFECT_S = 1.0
_POLL_S = 0.005


class Mode(StrEnum):
    """What is killed."""

    WORKERS = "workers"
    SERVER = "server"
    """The server on its file, and workers as well."""


class Target(StrEnum):
    """Who is hit by a strike."""

    WORKER = "worker"
    WRITER = "writer"
    """The worker that changes the world next, between the change and its report."""
    SERVER = "server"


@dataclass(frozen=True)
class Strike:
    """One kill."""

    after_s: float
    """Since the start of the runs, or since the strike before."""
    target: Target
    index: int
    """Which worker, where the target leaves that open."""
    down_s: float
    """How long it stays dead."""


def draw_strikes(random: Random, mode: Mode) -> tuple[Strike, ...]:
    """Draw the kills of a round, one to four; in server mode at least one of them hits the server."""
    count = random.randint(1, _MOST_STRIKES)
    targets = [random.choice((Target.WORKER, Target.WRITER)) for _ in range(count)]
    if mode is Mode.SERVER:
        targets[random.randrange(count)] = Target.SERVER
        targets = [random.choice((target, Target.SERVER)) for target in targets]
    return tuple(
        Strike(
            random.uniform(0.05, 1.0 if number else 0.5), target, random.randrange(WORKERS), random.uniform(0.05, 1.0)
        )
        for number, target in enumerate(targets)
    )


@dataclass
class Killer:
    """Carries out strikes. What is killed is alive again when its context ends."""

    fleet: Fleet
    server: ChaosServer
    ledger: Ledger
    made: list[Target] = field(default_factory=list)
    """The strikes that came before the runs were over."""
    _revivals: list["asyncio.Task[None]"] = field(default_factory=list)

    @asynccontextmanager
    async def at_work(self, strikes: tuple[Strike, ...]) -> AsyncIterator[None]:
        """Strike while the body runs.

        Raises:
            Refusal: at the end, when the server could not be started again.
        """
        killing, is_done = asyncio.create_task(self._kill(strikes)), False
        try:
            yield
            is_done = True
        finally:
            killing.cancel()
            for revival in () if is_done else self._revivals:
                revival.cancel()
            await asyncio.wait([killing])
            if self._revivals:
                await asyncio.wait(self._revivals)
        for task in (killing, *self._revivals):
            if not task.cancelled():
                task.result()

    async def _kill(self, strikes: tuple[Strike, ...]) -> None:
        for strike in strikes:
            await asyncio.sleep(strike.after_s)
            if strike.target is Target.SERVER:
                await self._strike_server(strike)
            else:
                await self._strike_worker(strike)

    async def _strike_server(self, strike: Strike) -> None:
        restart = asyncio.create_task(self._restart_server(strike))
        self._revivals.append(restart)
        await asyncio.shield(restart)
        self.made.append(strike.target)

    async def _restart_server(self, strike: Strike) -> None:
        await self.server.kill()
        await asyncio.sleep(strike.down_s)
        await self.server.start()

    async def _strike_worker(self, strike: Strike) -> None:
        index = strike.index
        if strike.target is Target.WRITER:
            index = await self._next_writer(default=index)
        if self.fleet.kill(index):
            self.made.append(strike.target)
        self._revivals.append(asyncio.create_task(self._revive(index, strike.down_s)))

    async def _revive(self, index: int, down_s: float) -> None:
        await asyncio.sleep(down_s)
        self.fleet.start(index)

    async def _next_writer(self, *, default: int) -> int:
        """Wait until a worker changes the world; return which one, the default when none does."""
        seen = len(self.ledger.entries())
        with suppress(TimeoutError):
            async with asyncio.timeout(_WAIT_FOR_EFFECT_S):
                while True:
                    for entry in self.ledger.entries()[seen:]:
                        index = self.fleet.index_of(entry.pid)
                        if entry.what is What.EFFECT and index is not None:
                            return index
                    await asyncio.sleep(_POLL_S)
        return default
