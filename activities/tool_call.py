"""One tool call as an activity. Its activity type is the tool's name, its id names node and attempt."""

import asyncio
import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, JsonValue, ValidationError
from temporalio import activity
from temporalio.common import RawValue

from activities.argument_errors import argument_error
from activities.artifact_folders import Owner
from activities.artifacts import ArtifactStore, owner_of
from activities.call_context import CallContexts, RunningCall
from activities.failures import ActivityBoundary, describe_validation
from activities.first_step import within_if_it_waits
from activities.guardrails.chain import GuardedModel, Guardrails
from activities.guardrails.tool_values import given, reported, returned
from activities.model.bounded import BoundedModel
from activities.model.request import Model
from activities.rate_gate import RateGate
from activities.stored_arguments import loaded
from activities.tool_reply import Outcome, tool_reply
from activities.tool_result import check_size, encode
from activities.tool_signature import keywords_of
from activities.tool_threads import ToolThreads
from activities.toolkit import Tool
from activities.try_ledger import TryLedger
from harness.artifact import PREVIEW_CHARS, Artifact
from harness.binding import reuse_key
from harness.calls import ToolReply, ToolRequest
from harness.catalog import USUAL_BACKOFF, Backoff, Effect, ToolRole
from harness.errors import ErrorCode, NothingDoneError, ReportedError, ToolError

_STRICTNESS = (Effect.READ, Effect.IDEMPOTENT_WRITE, Effect.WRITE)
_PLAIN = frozenset({str, int, float, bool, type(None)})


class ToolActivities:
    """Runs the tools of a worker's toolkits."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        model: Model,
        store: ArtifactStore,
        *,
        secrets: tuple[str, ...] = (),
        gate: RateGate | None = None,
        guardrails: Guardrails | None = None,
    ) -> None:
        """Serve these tools by name, with this model for those that call one; no error tells a secret.

        Results that are too large for history go to the store. Private values do so with the usual guardrails, too.
        """
        self._tools = tools
        self._model = model
        self._store = store
        self._secrets = secrets
        self._threads = ToolThreads()
        self._gate = gate or RateGate()
        self._guardrails = guardrails or Guardrails.of(store)
        self._contexts = CallContexts(store, self._guardrails.vault, secrets)

    @activity.defn(dynamic=True)
    async def call_tool(self, args: Sequence[RawValue]) -> ToolReply | RawValue:
        """Validate the arguments, run the tool that the activity type names, and return its result as JSON."""
        info, ledger = activity.info(), TryLedger.resume()
        ledger.has_begun = False
        request = ToolRequest.model_validate_json(args[0].payload.data)
        model = BoundedModel(self._model, request.max_tokens, models=request.models, on_fallback=ledger.on_fallback)
        guarded = self._guardrails.around(model, is_saving=request.is_saving)
        boundary = ActivityBoundary(
            ledger,
            lambda: model.usage,
            secrets=self._secrets,
            store=self._store,
            waits=self._waits(info.activity_type),
            vault=self._guardrails.vault,
            guard=lambda: guarded.report,
        )
        async with boundary:
            try:
                outcome = await within_if_it_waits(self._call(info, request, guarded, ledger), ledger.beating)
            finally:
                ledger.end()
        return tool_reply(ledger, model.usage, outcome)

    async def _call(self, info: activity.Info, request: ToolRequest, model: GuardedModel, ledger: TryLedger) -> Outcome:
        """Return what the reply tells of the result."""
        tool, owner = self._find(info.activity_type), owner_of(info)
        node_id = info.activity_id.partition("@")[0]
        _refuse_changed(tool, request)
        arguments = await self._loaded(request, owner, node_id) if request.stored else request.arguments
        key = {"key": reuse_key(tool.spec, arguments)} if request.stored and tool.spec.is_reusable else {}
        if key and key["key"] in request.written:
            return Outcome({**key, "is_reused": True})
        size = sum(each.artifact.size for each in request.stored)
        keywords = _validated(tool, await given(self._guardrails.vault, owner, arguments, size=size))
        if not self._gate.is_open(tool.spec.name, tool.spec.rate_limit):
            ledger.note_wait(await self._gate.enter_tool(tool.spec))
        given_up: threading.Event | None = None
        if tool.context_parameter:
            given_up = threading.Event()
            call = RunningCall(info, node_id, owner, tool, request)
            keywords[tool.context_parameter] = self._contexts.of(call, model, ledger, given_up)
        ledger.has_begun = True
        try:
            value = await self._run(tool, keywords)
        except ToolError as error:
            self._gate.heed_tool(tool.spec, error)
            raise
        finally:
            if given_up:
                given_up.set()
        self._gate.end_pause_of_tool(tool.spec)
        plain, data = encode(tool, value, limit=request.max_result_bytes, node_id=node_id)
        told = await returned(self._guardrails.vault, owner, plain, data)
        if told.is_masked:
            check_size(tool, len(told.data), limit=request.max_result_bytes, node_id=node_id)
        artifact = await self._kept(tool, owner, told.data, inline_bytes=request.inline_bytes)
        report = reported(told, model, where=f"{tool.spec.name} {node_id}")
        said = {**key, **({"guard": report} if report else {})}
        return Outcome({**said, "artifact": artifact}) if artifact else Outcome(said, told.plain, told.data)

    async def _loaded(self, request: ToolRequest, owner: Owner, node_id: str) -> dict[str, JsonValue]:
        try:
            return await loaded(request.arguments, request.stored, self._store, owner)
        except ToolError as error:
            raise ToolError(error.code, f"node {node_id!r}: {error.message}") from error

    async def _kept(self, tool: Tool, owner: Owner, data: bytes, *, inline_bytes: int) -> Artifact | None:
        """Keep a result that is too large for the reply; a report always travels whole: the workflow must read it."""
        if len(data) <= inline_bytes or tool.spec.role is ToolRole.FINAL_SYNTHESIS:
            return None
        digest = await self._store.put(owner, data)
        preview = data[: 4 * PREVIEW_CHARS].decode(errors="ignore")[:PREVIEW_CHARS]
        return Artifact(digest=digest, size=len(data), preview=preview)

    async def _run(self, tool: Tool, keywords: dict[str, Any]) -> Any:  # noqa: ANN401 - a tool's own type
        limit_s = tool.spec.timeout.total_seconds()
        try:
            if not tool.is_async:
                return await self._threads.run(lambda: tool.function(**keywords), limit_s=limit_s)
            deadline = asyncio.get_running_loop().time() + limit_s
            value = await within_if_it_waits(tool.function(**keywords), lambda: asyncio.timeout_at(deadline))
            await _cancelled_if_so()
            return value
        except ReportedError as exc:
            if tool.spec.effect is not Effect.WRITE:
                raise
            raise ToolError(ErrorCode.UNCERTAIN_EFFECT, exc.message) from exc
        except ValidationError as exc:  # the arguments were valid: it is what the tool has met
            raise ToolError(ErrorCode.INVALID_OUTPUT, f"{tool.spec.name} failed: {describe_validation(exc)}") from exc
        except TimeoutError as exc:
            raise ToolError(ErrorCode.TIMEOUT, str(exc) or f"{tool.spec.name} took longer than {limit_s:g} s") from exc

    def _waits(self, name: str) -> Backoff:
        tool = self._tools.get(name)
        return tool.spec.backoff if tool else USUAL_BACKOFF

    def _find(self, name: str) -> Tool:
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(sorted(self._tools))
            raise ToolError(ErrorCode.UNKNOWN_TOOL, f"this worker has no tool {name!r}; it has {known}")
        return tool


async def _cancelled_if_so() -> None:
    """Be cancelled now, if a tool has cancelled its own task and not waited since: later, the reply would be lost."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        await asyncio.sleep(0)


def _refuse_changed(tool: Tool, request: ToolRequest) -> None:
    """Refuse to call a tool that does more than the run was told: another plan starts from the catalog as it is now."""
    if tool.spec.effect is request.effect:
        return
    if _STRICTNESS.index(tool.spec.effect) > _STRICTNESS.index(request.effect):
        raise NothingDoneError(
            ErrorCode.INVALID_ARGUMENT,
            f"{tool.spec.name} has become a {tool.spec.effect}, the plan was made when it was a {request.effect}; "
            "it was not called",
        )


def _fitting(tool: Tool, arguments: Mapping[str, JsonValue]) -> BaseModel | None:
    """Return arguments whose values are plain and fit as they are, which spares writing and reading their JSON.

    What does not fit so may fit as JSON: a text that stands for a date.
    """
    if not all(type(value) in _PLAIN for value in arguments.values()):
        return None
    try:
        return tool.arguments.model_validate(arguments)
    except ValidationError:
        return None


def _validated(tool: Tool, arguments: Mapping[str, JsonValue]) -> dict[str, Any]:
    try:
        model = _fitting(tool, arguments) or tool.arguments.model_validate_json(json.dumps(arguments), strict=True)
    except ValidationError as exc:
        raise argument_error(tool.spec, exc) from exc
    return keywords_of(model)
