"""The activities of an agent loop beside its tools: begin it, take a step, shorten its past, and its memory."""

from collections.abc import Callable

from temporalio import activity

from activities.artifacts import ArtifactStore
from activities.failures import ActivityBoundary
from activities.guardrails.chain import Guardrails
from activities.guardrails.findings import Findings
from activities.loop.beginning import frame_of
from activities.loop.scene import Scene
from activities.loop.shelf import Shelf
from activities.loop.step_reply import told_of
from activities.loop.steps import take
from activities.loop.summaries import summarise
from activities.model.request import Model
from activities.model_call import ModelCalls
from activities.replies import reply_of
from activities.try_ledger import TryLedger
from harness.conversation import Conversation
from harness.guardrail import GuardReport
from harness.loop_calls import (
    BeginReply,
    BeginRequest,
    MemoryReply,
    MemoryRequest,
    StepReply,
    StepRequest,
    SummariseReply,
    SummariseRequest,
)
from harness.memory import recall, remember
from harness.usage import Usage


class LoopActivities:
    """What an agent loop needs from the outside world beside its tools."""

    def __init__(
        self, model: Model, store: ArtifactStore, *, guardrails: Guardrails, secrets: tuple[str, ...] = ()
    ) -> None:
        """Ask this model, behind these guardrails, and keep all that grows in this store; no error tells a secret."""
        self._calls = ModelCalls(model, guardrails, store, secrets)
        self._store = store
        self._shelf = Shelf(store)
        self._guardrails = guardrails
        self._secrets = secrets

    @activity.defn
    async def begin_loop(self, request: BeginRequest) -> BeginReply:
        """Check and mask the goal, and keep the frame."""
        ledger, findings = TryLedger.resume(), Findings()
        async with self._boundary(ledger, guard=lambda: findings.report), ledger.beating():
            await self._guardrails.check_goal(request.goal, findings)
            frame = await frame_of(request, self._store, self._guardrails.vault)
            kept = await self._shelf.put(frame)
        tokens = Scene(frame, Conversation(), {}).base_tokens
        return reply_of(BeginReply, ledger, frame=kept, prompt_tokens=tokens, guard=findings.report)

    @activity.defn
    async def take_step(self, request: StepRequest) -> StepReply:
        """Have the model pick the next step, or answer."""
        async with self._calls.granted(request) as call:
            step = await take(request, call.model, self._shelf, self._guardrails.vault)
        return reply_of(StepReply, call.ledger, **told_of(step, call.model, call.usage))

    @activity.defn
    async def summarise_steps(self, request: SummariseRequest) -> SummariseReply:
        """Put a summary in place of older steps."""
        async with self._calls.granted(request) as call:
            shortened = await summarise(request, call.model, self._shelf, self._guardrails.vault)
        return reply_of(
            SummariseReply,
            call.ledger,
            conversation=shortened.conversation,
            context_tokens=shortened.context_tokens,
            summarised=shortened.summarised,
            guard=call.model.report,
            usage=call.usage if call.usage.model else None,
        )

    @activity.defn(name="remember_fact")
    async def remember(self, request: MemoryRequest) -> MemoryReply:
        """Keep a fact."""
        ledger = TryLedger.resume()
        async with self._boundary(ledger), ledger.beating():
            done = remember(await self._shelf.facts(request.facts), request.arguments)
            kept = await self._shelf.put_facts(done.facts)
        return reply_of(MemoryReply, ledger, facts=kept, value=done.told, is_new=done.is_new)

    @activity.defn(name="recall_fact")
    async def recall(self, request: MemoryRequest) -> MemoryReply:
        """Return a fact."""
        ledger = TryLedger.resume()
        async with self._boundary(ledger), ledger.beating():
            value = recall(await self._shelf.facts(request.facts), request.arguments)
        return reply_of(MemoryReply, ledger, facts=request.facts, value=value)

    def _boundary(self, ledger: TryLedger, guard: Callable[[], GuardReport | None] = lambda: None) -> ActivityBoundary:
        """Return the boundary of an activity that asks no model."""
        return ActivityBoundary(
            ledger, Usage, secrets=self._secrets, store=self._store, vault=self._guardrails.vault, guard=guard
        )
