"""The activities of a run beside its tools: describe the catalog, pick tools, draft the plan, check the report."""

import asyncio
import inspect
from collections.abc import Callable, Mapping
from datetime import timedelta

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.artifacts import ArtifactStore, owner_of_activity
from activities.failures import ActivityBoundary
from activities.guardrails.chain import Guardrails
from activities.model.cards import ModelCards
from activities.model.request import Model
from activities.model_call import ModelCalls
from activities.planning import DraftedPlan, draft_plan
from activities.replies import reply_of
from activities.routing import pick_tools
from activities.stored_arguments import loaded
from activities.tool_threads import ToolThreads
from activities.toolkit import ReportRule, Toolkit, describe
from activities.try_ledger import TryLedger
from harness.calls import DescribeRequest, PlanReply, PlanRequest, RouteReply, RouteRequest, VerifyRequest
from harness.catalog import Catalog
from harness.errors import UNKNOWN_TOOLKIT, ErrorCode, ToolError
from harness.model_choice import ModelChoice
from harness.permissions import Permissions
from harness.usage import Usage
from harness.verification import PASSED, Verdict

VERIFY_LIMIT = timedelta(seconds=10)
"""Time limit of a toolkit's rule for reports."""


class RunActivities:
    """What a run needs from the outside world beside its tools."""

    def __init__(
        self,
        toolkits: Mapping[str, Toolkit],
        model: Model,
        cards: Callable[[ModelChoice], ModelCards],
        store: ArtifactStore,
        *,
        secrets: tuple[str, ...] = (),
        model_rate: float | None = None,
        guardrails: Guardrails | None = None,
    ) -> None:
        """Serve these toolkits by name, with this model for planning and its cards; no error tells a secret.

        `model_rate` is how many requests a second the models take; None for `guardrails` writes no audit log.
        """
        self._toolkits = toolkits
        self._cards = cards
        self._store = store
        self._secrets = secrets
        self._guardrails = guardrails or Guardrails.of(store)
        self._calls = ModelCalls(model, self._guardrails, store, secrets)
        self._threads = ToolThreads()
        self._rate = {} if model_rate is None else {"model_rate": model_rate}

    @activity.defn
    async def describe_catalog(self, request: DescribeRequest) -> Catalog:
        """Describe what the run may use of the toolkit as data; the answer is pinned in history for the attempt."""
        toolkit = self._find(request.toolkit)
        async with ActivityBoundary(TryLedger.resume(), Usage, secrets=self._secrets, store=self._store):
            catalog = describe(toolkit, self._cards(request.models)).model_copy(update=self._rate)
            return Permissions(request.allow, request.deny, request.allow_writes).applied_to(catalog)

    @activity.defn
    async def route_tools(self, request: RouteRequest) -> RouteReply:
        """Have the model pick the tools that suit the goal."""
        async with self._calls.granted(request) as call:
            names = await pick_tools(call.model, request)
        return reply_of(RouteReply, call.ledger, names=names, usage=call.usage, guard=call.model.report)

    @activity.defn
    async def draft_plan(self, request: PlanRequest) -> PlanReply:
        """Have the model draw up a plan."""
        async with self._calls.granted(request) as call:
            await self._guardrails.check_values(request.goal)
            drafted = await draft_plan(call.model, request, timeout=request.timeout)
        guard, about = call.model.report, _about_answer(drafted)
        return reply_of(PlanReply, call.ledger, plan=drafted.plan, usage=call.usage, guard=guard, **about)

    @activity.defn
    async def verify_report(self, request: VerifyRequest) -> Verdict:
        """Check the report by the toolkit's own rule."""
        rule = self._find(request.toolkit).verify
        if rule is None:
            return PASSED
        ledger = TryLedger.resume()
        async with ActivityBoundary(ledger, Usage, secrets=self._secrets, store=self._store):
            async with ledger.beating():
                results = await loaded(request.results, request.stored, self._store, owner_of_activity())
                verdict = await _judged(rule, request.model_copy(update={"results": results}), self._threads)
            if not isinstance(verdict, Verdict):
                raise ToolError(ErrorCode.INVALID_OUTPUT, f"the rule returned a {type(verdict).__name__}, no Verdict")
        return verdict

    def _find(self, name: str) -> Toolkit:
        toolkit = self._toolkits.get(name)
        if toolkit is None:
            known = ", ".join(sorted(self._toolkits))
            raise ApplicationError(
                f"unknown toolkit {name!r}; the worker serves {known} (start it with --toolkit to add another)",
                type=UNKNOWN_TOOLKIT,
                non_retryable=True,
            )
        return toolkit


async def _judged(rule: ReportRule, request: VerifyRequest, threads: ToolThreads) -> object:
    """Apply a rule within its time, in a thread when it is a plain function."""
    given = (request.goal, request.report, request.results)
    limit_s = VERIFY_LIMIT.total_seconds()
    async with asyncio.timeout(limit_s):
        if inspect.iscoroutinefunction(rule):
            return await rule(*given)
        verdict = await threads.run(lambda: rule(*given), limit_s=limit_s)
        return await verdict if inspect.isawaitable(verdict) else verdict


def _about_answer(drafted: DraftedPlan) -> dict[str, object]:
    """Return what is known of the answer behind a plan."""
    answer = drafted.answer
    return {
        "answered_by": answer.model,
        "finish_reason": answer.finish_reason,
        "model_latency_ms": answer.latency_ms,
        "is_repaired": drafted.is_repaired,
    }
