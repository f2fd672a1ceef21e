"""The chain of guardrails round every model call: input check, audit, model, output check, audit.

A guardrail that fails stops the call, and so does an audit log that cannot be written.
"""

from dataclasses import replace
from functools import cached_property

from activities.answers import read_answer
from activities.artifacts import ArtifactStore, owner_of_activity
from activities.guardrails.audit import AuditEntry, AuditLog, Direction
from activities.guardrails.checks import Checks, digest, injections, output_entry
from activities.guardrails.correction import grounded_answer
from activities.guardrails.findings import Findings
from activities.guardrails.masked_requests import masked_request
from activities.guardrails.vault import Vault
from activities.model.request import Model, ModelAnswer, ModelError, ModelRequest
from activities.prompts import unfenced
from harness.errors import ErrorCode, ToolError
from harness.guardrail import Flag, Guardrail, GuardReport

VALUES_ELSEWHERE = (
    "the goal holds {}, whose value is not in the artifact store of this worker: whoever starts runs and all workers "
    "must share one store (WHIPPLETREE_ARTIFACTS), or both leave private values as they are (WHIPPLETREE_PII=off)"
)


class Guardrails:
    """The guardrails of a worker."""

    def __init__(self, vault: Vault, audit: AuditLog | None = None) -> None:
        """Check with these; None keeps no log."""
        self.vault = vault
        self.audit = audit

    @classmethod
    def of(cls, store: ArtifactStore) -> "Guardrails":
        """Return guardrails that keep private values in a store and write no audit log."""
        return cls(Vault(store))

    def around(self, model: Model, *, is_saving: bool = False) -> "GuardedModel":
        """Return a model whose calls pass the chain; it is for the activity that runs now.

        Args:
            model: The one to guard.
            is_saving: True when no answer is to be corrected: another round costs as much as the first.
        """
        return GuardedModel(model, self.vault, self.audit, is_saving=is_saving)

    async def check_goal(self, goal: str, findings: Findings) -> None:
        """Check what a user asks for, before anything is made of it; findings tell what ran, also when it is refused.

        Raises:
            ModelError: GUARDRAIL_BLOCKED when it attacks the harness.
            ToolError: ARTIFACT_LOST when it holds a private value that tools could not be given.
        """
        await Checks(findings, self.audit).goal(goal)
        await self.check_values(goal)

    async def check_values(self, goal: str) -> None:
        """Check that tools can be given the private values of a goal, which whoever started the run has kept.

        Raises:
            ToolError: ARTIFACT_LOST when they lie in another store.
        """
        unknown = await self.vault.unknown(owner_of_activity(), goal)
        if unknown:
            raise ToolError(ErrorCode.ARTIFACT_LOST, VALUES_ELSEWHERE.format(unknown[0]))


class GuardedModel:
    """Answers model requests that pass the chain."""

    def __init__(self, model: Model, vault: Vault, audit: AuditLog | None, *, is_saving: bool = False) -> None:
        """Guard a model for one activity; `is_saving` as of `Guardrails.around`."""
        self._model = model
        self._is_saving = is_saving
        self._vault = vault
        self._audit = audit
        self._found: Findings | None = None
        """None until something is looked at; most tools never ask a model."""

    @property
    def _findings(self) -> Findings:
        if self._found is None:
            self._found = Findings()
        return self._found

    @cached_property
    def _checks(self) -> Checks:
        return Checks(self._findings, self._audit)

    @property
    def report(self) -> GuardReport | None:
        """Return what the guardrails say of all calls so far; None when there was none."""
        return self._found.report if self._found else None

    def note(self, flag: Flag, text: str) -> None:
        """Report something that was found outside the chain, such as orders in the result of a tool.

        Args:
            flag: What; several kinds in its detail have commas between them.
            text: In what, private values replaced: the log has its digest.

        Raises:
            ModelError: GUARDRAIL_BLOCKED when it cannot be logged.
        """
        self._findings.flag(flag)
        self._checks.brought_in(*(f"{flag.guardrail}:{kind}" for kind in flag.detail.split(", ")), digest=digest(text))

    def note_masked(self, count: int, text: str) -> None:
        """Log that so many private values were replaced in a text from outside the chain.

        Raises:
            ModelError: GUARDRAIL_BLOCKED when it cannot be logged.
        """
        self._findings.ran(Guardrail.PII)
        self._checks.brought_in(f"{Guardrail.PII}:{count}", digest=digest(text))

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Answer.

        Raises:
            ModelError: GUARDRAIL_BLOCKED when a guardrail stops the call; that of the model otherwise.
            ToolError: PROVIDER_UNAVAILABLE when private values cannot be kept for now.
        """
        if request.goal:
            await self._checks.goal(request.goal, request.role.value)
        request = await self._sendable(request)
        answer = await self._asked(request)
        if request.is_grounded and answer.text:
            again = None if self._is_saving else self._asked_again
            with self._checks.closed(Guardrail.GROUNDING, output_entry(request, answer)):
                answer, missing = await grounded_answer(request, answer, again, self._masked)
            if missing:
                self._findings.unground(missing)
                self._checks.answered(request, answer, f"{Guardrail.GROUNDING}:{len(missing)}")
        return answer

    async def _masked(self, text: str) -> str:
        return await self._vault.mask(owner_of_activity(), text)

    async def _asked_again(self, request: ModelRequest) -> ModelAnswer:
        """Ask for a corrected answer. What the model has said before is checked as any other text."""
        self._findings.correct()
        return await self._asked(await self._sendable(request))

    async def _sendable(self, request: ModelRequest) -> ModelRequest:
        """Return a request as the model may see it."""
        entry = AuditEntry(direction=Direction.INPUT, is_allowed=True, role=request.role.value)
        with self._checks.closed(Guardrail.INJECTION, entry):
            await self._flag_orders(request)
        with self._checks.closed(Guardrail.PII, entry):
            masked = await masked_request(self._vault, owner_of_activity(), request)
        self._checks.sent(masked)
        return masked

    async def _flag_orders(self, request: ModelRequest) -> None:
        """Flag orders in texts from elsewhere. In a conversation, whoever takes a result into it has looked already."""
        if request.messages:
            return
        for label, text in unfenced(request.user).items():
            if label == "goal" and request.goal:
                continue
            for kind in await injections(text):
                self._findings.flag(Flag(guardrail=Guardrail.INJECTION, where=f"prompt: {label}", detail=kind))

    async def _asked(self, request: ModelRequest) -> ModelAnswer:
        """Ask the model, and check that an answer which must be JSON is."""
        try:
            answer = await self._model.ask(request)
        except ModelError as error:
            self._checks.failed(request, error)
            raise
        if request.answer is not None and not answer.calls:
            with self._checks.closed(Guardrail.JSON, output_entry(request, answer)):
                answer = replace(answer, parsed=read_answer(answer, request.answer))
        self._checks.answered(request, answer)
        return answer
