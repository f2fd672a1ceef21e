"""Checks: guardrails as they run for one activity. One that fails stops the call, and the audit log tells of all."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache

from temporalio import activity

from activities.guardrails.audit import AuditEntry, AuditLog, Caller, Direction
from activities.guardrails.findings import Findings
from activities.model.request import ModelAnswer, ModelError, ModelRequest
from activities.off_loop import off_loop
from harness.errors import ErrorCode, ToolError
from harness.guardrail import Guardrail
from harness.injection import find_injections

GOAL_BLOCKED = (
    "the goal was stopped because it reads like an attack ({}): say what is to be found out or done, "
    "without orders to the system or its model"
)


REMEMBERED_CHARS = 16_384
"""Longest text whose findings are remembered: of the prompts of a run, goal and catalog come again with each call."""


class Checks:
    """Runs guardrails and writes the log of them."""

    def __init__(self, findings: Findings, audit: AuditLog | None) -> None:
        """Check for one activity; None keeps no log."""
        self.findings = findings
        self._audit = audit

    async def goal(self, goal: str, role: str = "") -> None:
        """Check a goal.

        Raises:
            ModelError: GUARDRAIL_BLOCKED when it attacks the harness.
        """
        entry = AuditEntry(direction=Direction.GOAL, is_allowed=True, digest=digest(goal), role=role)
        with self.closed(Guardrail.INJECTION, entry):
            kinds = await injections(goal)
        if kinds:
            self._write(_refused(entry, *(f"{Guardrail.INJECTION}:{kind}" for kind in kinds)))
            raise ModelError(ErrorCode.GUARDRAIL_BLOCKED, GOAL_BLOCKED.format(", ".join(kinds)))
        self._write(entry)

    @contextmanager
    def closed(self, guardrail: Guardrail, entry: AuditEntry) -> Iterator[None]:
        """Run a guardrail: whatever it raises stops the call, and is in the log in place of its entry.

        Raises:
            ToolError: as it is when the guardrail raises one; GUARDRAIL_BLOCKED for anything else.
        """
        try:
            yield
        except ToolError as error:  # a bad answer, or a store that is out of reach for now
            self.findings.ran(guardrail)
            self._write(_refused(entry, f"{guardrail}:{error.code}"))
            raise
        # Everything, and raised again: whatever a guardrail breaks at, the call that it guards must not pass.
        except Exception as error:
            self._write(_refused(entry, f"{guardrail}:failed"))
            raise ModelError(
                ErrorCode.GUARDRAIL_BLOCKED,
                f"the guardrail {guardrail} failed ({type(error).__name__}), so the call was stopped",
            ) from error
        self.findings.ran(guardrail)

    def sent(self, request: ModelRequest) -> None:
        """Log a request that may go to the model."""
        self._write(input_entry(request))

    def answered(self, request: ModelRequest, answer: ModelAnswer, *flags: str) -> None:
        """Log an answer that may go to whoever asked."""
        self._write(output_entry(request, answer, *flags))

    def failed(self, request: ModelRequest, error: ModelError) -> None:
        """Log a call that gave no answer."""
        entry = AuditEntry(direction=Direction.OUTPUT, is_allowed=False, role=request.role.value)
        self._write(replace(entry, flags=(f"model:{error.code}",), tokens=error.usage.total_tokens))

    def brought_in(self, *codes: str, digest: str) -> None:
        """Log what was found in something that a tool has brought in, whose digest is given."""
        self._write(AuditEntry(direction=Direction.RESULT, is_allowed=True, flags=codes, digest=digest))

    def _write(self, entry: AuditEntry) -> None:
        if self._audit is None:
            return
        info = activity.info()
        caller = Caller(info.workflow_id or "", info.activity_type, info.activity_id, info.attempt)
        ran = tuple(name.value for name in self.findings.names)
        try:
            self._audit.write(caller, replace(entry, guardrails=ran))
        except OSError as error:
            raise ModelError(
                ErrorCode.GUARDRAIL_BLOCKED,
                f"the audit log cannot be written ({error.strerror or type(error).__name__}), so the call was stopped",
            ) from error


async def injections(text: str) -> tuple[str, ...]:
    """Return the kinds of attack in a text, which may be large."""
    find = find_injections if len(text) > REMEMBERED_CHARS else _found_before
    return await off_loop(lambda: find(text), size=len(text))


@lru_cache(maxsize=64)
def _found_before(text: str) -> tuple[str, ...]:
    return find_injections(text)


def input_entry(request: ModelRequest) -> AuditEntry:
    """Return the entry of a request, private values replaced in it."""
    return AuditEntry(
        direction=Direction.INPUT, is_allowed=True, digest=digest(*texts_of(request)), role=request.role.value
    )


def output_entry(request: ModelRequest, answer: ModelAnswer, *flags: str) -> AuditEntry:
    """Return the entry of an answer."""
    return AuditEntry(
        direction=Direction.OUTPUT,
        is_allowed=True,
        flags=flags,
        digest=digest(answer.text, *(part for call in answer.calls for part in (call.name, call.arguments))),
        role=request.role.value,
        model=answer.model or answer.usage.model,
        tokens=answer.usage.total_tokens,
        latency_ms=answer.latency_ms,
    )


def texts_of(request: ModelRequest) -> list[str]:
    """Return what a model reads of a request."""
    said = [
        part for message in request.messages for part in (message.text, *(call.arguments for call in message.calls))
    ]
    return [request.system, request.user, *said]


def digest(*texts: str) -> str:
    """Return the SHA-256 of texts, each ended by a zero character."""
    hashed = hashlib.sha256()
    for text in texts:
        hashed.update(text.encode(errors="surrogatepass") + b"\0")
    return hashed.hexdigest()


def _refused(entry: AuditEntry, *flags: str) -> AuditEntry:
    return replace(entry, is_allowed=False, flags=flags)
