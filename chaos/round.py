"""One round: a plan, a calm run of it, the same plan under fire, and the verdict."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from random import Random

from temporalio.client import Client, WorkflowFailureError
from temporalio.service import RPCError

from chaos.checks import violations_of
from chaos.evidence import Outcome, RoundEvidence, RunEvidence, collect
from chaos.facts import Violation
from chaos.fleet import Fleet
from chaos.killer import WORKERS, Killer, Mode, Strike, Target, draw_strikes
from chaos.ledger import Ledger
from chaos.messages import Message, draw_messages, send_all
from chaos.plans import Scenario
from chaos.server import ChaosServer, chaos_server
from chaos.toolkit import EFFECTS, NAME
from chaos.worker import Post
from harness.budget import Limits
from harness.carry import RunInput
from harness.run import RunOptions, RunResult
from workflows.orchestrator import OrchestratorWorkflow

_ASK_AGAIN_S = 0.2
_LEAST_NODES = 10
_MOST_RUNS = 3
_WRITE_PERCENTS = (0, 0, 5, 20)
_SUGGEST_AFTER = (None, 40, 80)
_HEAVY_SUGGEST_AFTER = (40, 80)
_MAX_TOOLS_SHOWN = 100
"""More than there are: the plans are scripted, so that no tool may be left out."""
_HEAVY_NODES = 24
"""Least nodes of a heavy plan: when the server suggests to continue, there is more than is carried inline."""
_VAGUE_SHARE = 1 / 3
_HEAVY_SHARE = 1 / 3
_MESSAGES_SHARE = 1 / 2
KEEP_STATE, LOAD_STATE = "keep_state", "load_state"
"""Activities that keep and load the pages of a state."""


@dataclass(frozen=True)
class Round:
    """Everything that is drawn for a round; equal for equal seeds."""

    index: int
    mode: Mode
    scenario: Scenario
    runs: int
    """Runs of the plan at once, the calm one apart."""
    max_concurrency: int
    strikes: tuple[Strike, ...]
    suggest_after: int | None
    """Events after which the server suggests to continue as new, so early that it happens in mid-plan; None: not."""
    messages: tuple[Message, ...] = ()
    """What each run is sent, the calm one apart."""

    @classmethod
    def draw(cls, seed: int, index: int, mode: Mode, *, most_nodes: int) -> "Round":
        """Draw round number `index` of a seed."""
        random = Random(f"round {seed} {index}")
        is_vague, is_heavy = random.random() < _VAGUE_SHARE, random.random() < _HEAVY_SHARE
        least = min(_HEAVY_NODES if is_heavy else _LEAST_NODES, most_nodes)
        scenario = Scenario(
            random.getrandbits(32),
            random.randint(least, most_nodes),
            random.choice(_WRITE_PERCENTS),
            is_vague,
            is_heavy,
        )
        return cls(
            index,
            mode,
            scenario,
            runs=random.randint(1, _MOST_RUNS),
            max_concurrency=random.randint(3, 12),
            strikes=draw_strikes(random, mode),
            suggest_after=random.choice(_HEAVY_SUGGEST_AFTER if is_heavy else _SUGGEST_AFTER),
            messages=draw_messages(random) if random.random() < _MESSAGES_SHARE else (),
        )


@dataclass(frozen=True)
class RoundReport:
    """How a round went."""

    round: Round
    violations: tuple[Violation, ...]
    strikes_made: tuple[Target, ...]
    runs: tuple[RunEvidence, ...] = ()
    elapsed_s: float = 0.0

    @property
    def statuses(self) -> Counter[str]:
        """Return how the runs ended."""
        return Counter(str(run.result.status) if run.result else "NO RESULT" for run in self.runs)

    @property
    def extra_tries(self) -> int:
        """Return the tries of tools beyond one a call: those that failed by plan, and those that were lost."""
        return sum(max(0, call.tries - 1) for run in self.runs for call in run.calls if call.tool in EFFECTS)

    @property
    def continued(self) -> int:
        """Return how often the runs went on in another workflow run."""
        return sum(run.chain - 1 for run in self.runs)

    @property
    def replanned(self) -> int:
        """Return how often the runs made another plan."""
        return sum(len(run.result.attempts) for run in self.runs if run.result)

    @property
    def reused(self) -> int:
        """Return the nodes of final plans that took the result of an earlier attempt."""
        return sum(node.reused for run in self.runs if run.result for node in run.result.plan)

    @property
    def accepted(self) -> int:
        """Return the messages that the runs have answered."""
        return sum(len(run.accepted) for run in self.runs)

    def calls_of(self, activity: str) -> int:
        """Return how often the runs had an activity done."""
        return sum(call.tool == activity and call.outcome is Outcome.DONE for run in self.runs for call in run.calls)


async def play(round_: Round, folder: Path, *, limit: timedelta) -> RoundReport:
    """Play a round in a folder of its own, which keeps the ledger, the logs and the database."""
    began = time.monotonic()
    folder.mkdir(parents=True)  # noqa: ASYNC240 - it takes no time that anybody would notice
    async with chaos_server(folder / "server", suggest_after=round_.suggest_after) as (server, client):
        evidence, made = await _witness(round_, client, server, folder, limit)
    return RoundReport(
        round=round_,
        violations=violations_of(evidence),
        strikes_made=made,
        runs=evidence.runs,
        elapsed_s=time.monotonic() - began,
    )


async def _witness(
    round_: Round, client: Client, server: ChaosServer, folder: Path, limit: timedelta
) -> tuple[RoundEvidence, tuple[Target, ...]]:
    """Run the plan in peace, then under fire; return what was left behind, and the strikes."""
    path, queue = folder / "ledger.jsonl", f"chaos-{round_.index}"
    ledger = Ledger(path)
    with Fleet(WORKERS, Post(server.target, queue, path)) as fleet:
        killer = Killer(fleet, server, ledger)
        (calm,) = await _run(round_, client, queue, ["calm"], limit=limit)
        async with killer.at_work(round_.strikes):
            names = [f"run{number}" for number in range(round_.runs)]
            runs, accepted = await _run_with_messages(round_, client, queue, names, limit=limit)
        fleet.stop()
        deaths = (*fleet.deaths, *([f"the server: {server.last_words()}"] if server.has_died else []))
    evidence = RoundEvidence(
        calm=await collect(client, *calm),
        runs=tuple([await collect(client, *run, accepted=sent) for run, sent in zip(runs, accepted, strict=True)]),
        ledger=ledger.entries(),
        deaths=deaths,
    )
    return evidence, tuple(killer.made)


Ended = tuple[str, RunResult | None, str]
"""Run id, result, and why there is none."""


async def _run_with_messages(
    round_: Round, client: Client, queue: str, names: list[str], *, limit: timedelta
) -> tuple[list[Ended], list[tuple[Message, ...]]]:
    """Run the plan while messages come; return the results, and which messages each run has answered."""
    sending = asyncio.gather(*(_sent(client, f"{queue}-{name}", round_.messages, limit) for name in names))
    try:
        runs = await _run(round_, client, queue, names, limit=limit)
        return runs, await sending
    finally:
        sending.cancel()


async def _sent(client: Client, run_id: str, messages: tuple[Message, ...], limit: timedelta) -> tuple[Message, ...]:
    """Send messages for no longer than a run may take."""
    try:
        async with asyncio.timeout(2 * limit.total_seconds()):
            return await send_all(client, run_id, messages)
    except TimeoutError:
        return ()


async def _run(round_: Round, client: Client, queue: str, names: list[str], *, limit: timedelta) -> list[Ended]:
    """Start runs of the plan and wait for their results."""
    request = RunInput(goal=round_.scenario.goal, toolkit=NAME, options=_options(round_, limit))
    run_ids = [f"{queue}-{name}" for name in names]
    for run_id in run_ids:
        await client.start_workflow(OrchestratorWorkflow.run, request, id=run_id, task_queue=queue)
    return await asyncio.gather(*(_result(client, run_id, limit) for run_id in run_ids))


def _options(round_: Round, limit: timedelta) -> RunOptions:
    """Return options so generous that nothing but a lost WRITE can keep a run from its report."""
    return RunOptions(
        limits=Limits(
            max_tokens=10_000_000, max_tool_calls=10_000, max_wall_clock=2 * limit, max_cost_usd=Decimal(1000)
        ),
        max_replans=5,
        max_concurrency=round_.max_concurrency,
        max_run_retries=10,
        retry_wait=timedelta(milliseconds=100),
        allow_writes=True,
        max_tools_shown=_MAX_TOOLS_SHOWN,
    )


async def _result(client: Client, run_id: str, limit: timedelta) -> Ended:
    """Wait for a result, also over a server that is away for a while."""
    handle = client.get_workflow_handle_for(OrchestratorWorkflow.run, run_id)
    try:
        async with asyncio.timeout(limit.total_seconds()):
            while True:
                try:
                    return run_id, await handle.result(), ""
                except RPCError:
                    await asyncio.sleep(_ASK_AGAIN_S)
    except TimeoutError:
        return run_id, None, f"not terminal after {limit.total_seconds():g} s"
    except WorkflowFailureError as error:
        return run_id, None, f"the workflow failed: {error.cause}"
