"""The activities of a run beside its tools: describe the catalog, draft the plan, check the report."""

import inspect
from collections.abc import Mapping

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.failures import activity_boundary
from activities.model.bounded import BoundedModel
from activities.model.request import Model
from activities.planning import draft_plan
from activities.toolkit import Toolkit, describe
from activities.try_ledger import TryLedger
from harness.calls import DescribeRequest, PlanReply, PlanRequest, VerifyRequest
from harness.catalog import Catalog, ModelCard
from harness.usage import Usage
from harness.verification import PASSED, Verdict

UNKNOWN_TOOLKIT = "UNKNOWN_TOOLKIT"
"""Failure type of a run that asks for a toolkit that no worker serves."""


class RunActivities:
    """What a run needs from the outside world beside its tools."""

    def __init__(self, toolkits: Mapping[str, Toolkit], model: Model, card: ModelCard) -> None:
        """Serve these toolkits by name, with this model and its card for planning."""
        self._toolkits = toolkits
        self._model = model
        self._card = card

    @activity.defn
    async def describe_catalog(self, request: DescribeRequest) -> Catalog:
        """Describe the toolkit as data; the answer is pinned in history for the attempt."""
        return describe(self._find(request.toolkit), self._card)

    @activity.defn
    async def draft_plan(self, request: PlanRequest) -> PlanReply:
        """Have the model draw up a plan."""
        ledger = TryLedger.resume()
        model = BoundedModel(self._model, request.max_tokens)
        async with activity_boundary(ledger, lambda: model.usage), ledger.beating():
            drafted = await draft_plan(model, request, timeout=request.timeout)
        return PlanReply(
            plan=drafted.plan,
            usage=model.usage,
            latency_ms=ledger.latency_ms,
            queue_ms=ledger.queue_ms,
            tries=ledger.tries,
            try_number=ledger.try_number,
        )

    @activity.defn
    async def verify_report(self, request: VerifyRequest) -> Verdict:
        """Check the report by the toolkit's own rule."""
        rule = self._find(request.toolkit).verify
        if rule is None:
            return PASSED
        ledger = TryLedger.resume()
        async with activity_boundary(ledger, Usage), ledger.beating():
            verdict = rule(request.goal, request.report, request.results)
            return await verdict if inspect.isawaitable(verdict) else verdict

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
