"""What a tool is told of its call, when it wants to know."""

import asyncio
import contextvars
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from temporalio import activity

from activities.artifact_folders import Owner
from activities.artifacts import ArtifactStore
from activities.guardrails.vault import Vault
from activities.model.request import Model
from activities.model.scrubbing import hide
from activities.tool_artifacts import ToolArtifacts
from activities.tool_context import ToolContext
from activities.tool_log import ToolLog
from activities.toolkit import Tool
from activities.try_ledger import TryLedger
from harness.calls import ToolRequest


@dataclass(frozen=True)
class RunningCall:
    """One try of a call."""

    info: activity.Info
    node_id: str
    owner: Owner
    """The run."""
    tool: Tool
    request: ToolRequest


@dataclass(frozen=True)
class CallContexts:
    """Makes the contexts of the calls of one worker."""

    store: ArtifactStore
    vault: Vault
    secrets: tuple[str, ...]
    """Texts that get into no log and no heartbeat."""

    def of(self, call: RunningCall, model: Model, ledger: TryLedger, given_up: threading.Event) -> ToolContext:
        """Return the context of a call; `given_up` is set when nobody waits for it any more."""
        info, tool, request, owner = call.info, call.tool, call.request, call.owner
        loop, context = asyncio.get_running_loop(), contextvars.copy_context()
        run_id = info.workflow_id or info.activity_id
        names = {"run_id": run_id, "node_id": call.node_id, "try_number": info.attempt, "tool": tool.spec.name}

        def private_hidden(text: str) -> str:
            return self.vault.hidden(owner, text)

        def beat(message: str | None) -> None:
            told = None if message is None else private_hidden(hide(str(message), self.secrets))
            loop.call_soon_threadsafe(ledger.say, told, context=context)

        return ToolContext(
            run_id=run_id,
            node_id=call.node_id,
            try_number=info.attempt,
            idempotency_key=f"{run_id}/{info.activity_id}",
            deadline=datetime.now(UTC) + tool.spec.timeout,
            model=model,
            max_tokens=request.max_tokens,
            feedback=request.feedback,
            try_id=uuid4().hex,
            logger=ToolLog(names, secrets=self.secrets, hide_private=private_hidden),
            artifacts=ToolArtifacts(self.store, owner, loop),
            beat=beat,
            cancelled=given_up,
        )
