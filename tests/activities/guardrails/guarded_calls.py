"""Model calls through the chain of guardrails, in an activity, without a server."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from temporalio.testing import ActivityEnvironment

from activities.artifacts import ArtifactStore
from activities.guardrails.audit import AuditLog
from activities.guardrails.chain import Guardrails
from activities.guardrails.vault import Vault
from activities.model.request import ModelAnswer, ModelError, ModelRequest
from harness.model_choice import ModelRole
from harness.usage import Usage

T = TypeVar("T")

USAGE = Usage(model="m", input_tokens=5, output_tokens=3)


class Answers:
    """A model that gives its answers in order, the last one again and again, and raises those that are errors."""

    def __init__(self, *answers: str | ModelError | Exception) -> None:
        self._answers = list(answers)
        self.requests: list[ModelRequest] = []

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return ModelAnswer(answer, USAGE, model="m-1", latency_ms=4)


def request(user: str = "Say hello.", **fields: Any) -> ModelRequest:
    """Return a request for a text."""
    given = {"role": ModelRole.SYNTHESIS, "system": "Be brief.", "max_output_tokens": 100} | fields
    return ModelRequest(user=user, **({"timeout": timedelta(seconds=30)} | given))


def rails(folder: Path, vault: Vault | None = None) -> Guardrails:
    """Return guardrails that log into a folder."""
    return Guardrails(vault or Vault(ArtifactStore.open("memory://")), AuditLog(folder))


async def in_activity(call: Callable[[], Awaitable[T]]) -> T:
    """Make a call in an activity called draft_plan, of run r."""
    env = ActivityEnvironment()
    env.info = replace(env.info, activity_type="draft_plan", activity_id="a1", workflow_id="r", attempt=2)

    async def called() -> T:
        return await call()

    result: T = await env.run(called)
    return result


def logged(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of the audit log."""
    return [json.loads(line) for file in sorted(folder.glob("*")) for line in file.read_text().splitlines()]
