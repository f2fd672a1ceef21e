"""A model call of the harness itself, as an activity: its ledger of tries, its grant, its guardrails, its boundary."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from activities.artifacts import ArtifactStore
from activities.failures import ActivityBoundary
from activities.guardrails.chain import GuardedModel, Guardrails
from activities.model.bounded import BoundedModel
from activities.model.request import Model
from activities.try_ledger import TryLedger
from harness.model_choice import ModelChoice
from harness.usage import Usage


class Granted(Protocol):
    """What a request says of the model call that it is granted."""

    @property
    def max_tokens(self) -> int:
        """Return the tokens of one try, prompt and output together."""
        ...

    @property
    def models(self) -> ModelChoice:
        """Return what the run wants in place of the worker's models."""
        ...


@dataclass(frozen=True)
class ModelCall:
    """One try of a model call."""

    ledger: TryLedger
    model: GuardedModel
    """Keeps within the grant, and within the guardrails."""
    _bounded: BoundedModel

    @property
    def usage(self) -> Usage:
        """Return what the try has used so far."""
        return self._bounded.usage


@dataclass(frozen=True)
class ModelCalls:
    """Makes model calls for the activities of one worker."""

    model: Model
    guardrails: Guardrails
    store: ArtifactStore
    secrets: tuple[str, ...]

    @asynccontextmanager
    async def granted(self, request: Granted) -> AsyncIterator[ModelCall]:
        """Let the body ask within a grant: it heartbeats, and whatever it raises becomes a typed failure."""
        ledger = TryLedger.resume()
        bounded = BoundedModel(self.model, request.max_tokens, models=request.models, on_fallback=ledger.on_fallback)
        guarded = self.guardrails.around(bounded)
        boundary = ActivityBoundary(
            ledger,
            lambda: bounded.usage,
            secrets=self.secrets,
            store=self.store,
            vault=self.guardrails.vault,
            guard=lambda: guarded.report,
        )
        async with boundary, ledger.beating():
            yield ModelCall(ledger, guarded, bounded)
