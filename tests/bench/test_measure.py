from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from bench.measure import Sample, Team, in_turn


@dataclass
class _Runner:
    """Stands for a team: each run takes as long as it is said to."""

    name: str
    seconds: float
    log: list[str]

    async def run(self, _: str, *, calls_before: int) -> Sample:
        del calls_before
        self.log.append(self.name)
        return Sample(self.seconds, self.name, None, 0.0, 0.0)


def _teams(log: list[str], *seconds: float) -> Sequence[Team]:
    return cast("list[Team]", [_Runner(name, each, log) for name, each in zip("ab", seconds, strict=True)])


async def test_lets_the_sides_take_turns_and_changes_who_is_first() -> None:
    log: list[str] = []

    await in_turn(_teams(log, 1.0, 2.0), "wide:10", repeat=3)

    assert "".join(log) == "abbaab"


async def test_goes_on_until_the_faster_side_has_run_long_enough() -> None:
    log: list[str] = []

    fast, slow = await in_turn(_teams(log, 1.0, 3.0), "wide:10", repeat=2, least_s=5.0)

    assert len(fast.samples) == len(slow.samples) == 5


async def test_runs_as_often_as_it_was_told_however_long_that_takes() -> None:
    log: list[str] = []

    fast, slow = await in_turn(_teams(log, 9.0, 9.0), "wide:10", repeat=4, least_s=5.0)

    assert len(fast.samples) == len(slow.samples) == 4
