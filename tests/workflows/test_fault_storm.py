"""Whole runs in a storm: three answers of the model server out of ten, or nine, are faults, drawn by seed.

Eight seeds by default. All fifty: STORM_SEEDS=50 .venv/bin/python -m pytest tests/workflows/test_fault_storm.py
"""

import json
import os
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import Client, WorkflowExecutionStatus

from harness.recovery import RecoveryAction
from harness.run import RunResult, RunStatus
from harness.trace import TraceKind
from tests.builders import node, plan
from tests.scripted_model import Reply, ScriptedServer, completion, error
from tests.temporal_server import time_skipping_server
from tests.workflows.model_runs import PLAN, games_on, start

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEEDS = range(int(os.environ.get("STORM_SEEDS", "8")))
FAULT_RATES = (0.3, 0.9)
REPORT = "Outer Wilds at 24.99 USD and Stardew Valley at 14.99 USD are calm."
UNKNOWN_TOOL = plan(node("a", "launch_rocket")).model_dump_json()


@dataclass
class Storm(ScriptedServer):
    """Answers well or with a fault, and keeps its own bill."""

    seed: int
    fault_rate: float
    drawn: list[str] = field(default_factory=list)
    """What each request met: the name of a fault, or nothing."""
    billed: int = 0
    """Tokens that the server says it used."""
    uncounted: int = 0
    """Answers that came without a count."""

    def __post_init__(self) -> None:
        super().__init__()
        self._random = random.Random(self.seed)

    def _next_reply(self) -> Reply:
        is_planning = "You draw up plans" in str(self.requests[-1].body)
        fault = self._random.choice(list(FAULTS)) if self._random.random() < self.fault_rate else ""
        self.drawn.append(fault)
        return FAULTS[fault](self, is_planning=is_planning) if fault else self.answered(_good(is_planning))

    def answered(self, text: str, **fields: Any) -> Reply:
        """Answer, and bill for it."""
        prompt, output = self._random.randint(50, 900), self._random.randint(5, 300)
        self.billed += prompt + output
        usage = {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}
        return Reply(body=completion(text, usage=usage, **fields))

    def throttled(self, *, is_planning: bool) -> Reply:
        return Reply(429, error("slow down"))

    def throttled_for_a_time(self, *, is_planning: bool) -> Reply:
        return Reply(429, error("slow down"), headers={"retry-after": str(self._random.randint(0, 3))})

    def failing(self, *, is_planning: bool) -> Reply:
        return Reply(self._random.choice([500, 502, 503, 529]), error("oops"))

    def reset(self, *, is_planning: bool) -> Reply:
        return Reply(is_reset=True)

    def fenced(self, *, is_planning: bool) -> Reply:
        return self.answered(f"Here it is:\n```json\n{_good(is_planning)}\n```")

    def cut(self, *, is_planning: bool) -> Reply:
        text = _good(is_planning)
        return self.answered(text[: self._random.randint(0, len(text))], finish="length")

    def invalid(self, *, is_planning: bool) -> Reply:
        text = _good(is_planning)
        wrong = [text[: self._random.randint(0, len(text) - 1)], UNKNOWN_TOOL, '{"nodes": []}', '{"steps": 1}', ""]
        return self.answered(self._random.choice(wrong) if is_planning else "Outer Wilds costs 9.99 USD.")

    def count_free(self, *, is_planning: bool) -> Reply:
        self.uncounted += 1
        return Reply(body=completion(_good(is_planning), usage=None))


FAULTS: dict[str, Callable[..., Reply]] = {
    "429": Storm.throttled,
    "429, Retry-After": Storm.throttled_for_a_time,
    "5xx": Storm.failing,
    "reset": Storm.reset,
    "fenced": Storm.fenced,
    "cut": Storm.cut,
    "invalid": Storm.invalid,
    "uncounted": Storm.count_free,
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def skipping() -> AsyncIterator[Client]:
    async with time_skipping_server() as environment:
        yield environment.client


@pytest.mark.parametrize("fault_rate", FAULT_RATES)
@pytest.mark.parametrize("seed", SEEDS)
async def test_a_run_in_a_storm_ends_and_its_bill_is_the_servers(
    skipping: Client, seed: int, fault_rate: float
) -> None:
    result, storm = await weather(skipping, seed, fault_rate)

    assert result.trace[-1].kind == TraceKind.RUN_FINISH
    assert result.status is RunStatus.SUCCEEDED or result.error
    assert result.trace_dropped == 0
    assert len(storm.requests) == tries_of(result)
    _check_bill(result, storm)
    _check_explained(result)


async def weather(client: Client, seed: int, fault_rate: float) -> tuple[RunResult, Storm]:
    """Run in the storm of a seed; check that no request follows the end."""
    async with Storm(seed, fault_rate) as storm:
        async with games_on(client, storm.url) as queue:
            handle = await start(client, queue)
            result = await handle.result()
            requests = len(storm.requests)
            ended = await client.get_workflow_handle(handle.id).describe()
        # The worker is down by now, whatever it had in hand: nothing was sent meanwhile, nothing is left to be sent.
        assert len(storm.requests) == requests
        assert ended.status is WorkflowExecutionStatus.COMPLETED
        assert not ended.raw_description.pending_activities
    return result, storm


def tries_of(result: RunResult) -> int:
    """Return how often the model was asked: by each try of a planning and of the report, and to correct figures."""
    planned = [event.data["tries"] for event in result.trace if event.kind == TraceKind.PLANNING_FINISH]
    written = [
        event
        for event in result.trace
        if event.kind in {TraceKind.NODE_RETRY, TraceKind.NODE_FINISH, TraceKind.NODE_FAIL}
        and event.data.get("tool") == "summarizer_node"
    ]
    corrected = [event.data["calls"] for event in result.trace if event.kind == TraceKind.GUARDRAIL_CORRECT]
    return sum(int(str(tries)) for tries in planned) + len(written) + sum(int(str(calls)) for calls in corrected)


def _check_bill(result: RunResult, storm: Storm) -> None:
    spent = result.budget
    assert spent.tokens <= spent.max_tokens
    assert spent.reserved.tokens == 0
    assert spent.estimated == bool(storm.uncounted)
    if storm.uncounted:
        assert spent.tokens > storm.billed
    else:
        assert spent.tokens == storm.billed


def _check_explained(result: RunResult) -> None:
    """Every failure has its code and its decision in the trace."""
    failed = [event for event in result.trace if event.status == "FAILED"]
    decided = [event for event in result.trace if event.kind == TraceKind.RECOVERY_DECIDE]
    assert all(event.message for event in failed)
    assert len(decided) >= len(result.attempts)
    assert {event.status for event in decided} <= {action.value for action in RecoveryAction}


def _good(is_planning: bool) -> str:  # noqa: FBT001 - which of two texts
    return json.dumps(PLAN.model_dump(mode="json")) if is_planning else REPORT
