"""One tool call as an activity. Its activity type is the tool's name, its id names node and attempt."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, JsonValue, ValidationError
from temporalio import activity
from temporalio.common import RawValue

from activities.artifacts import ArtifactStore, owner_of_activity
from activities.failures import ActivityBoundary, describe_validation
from activities.model.bounded import BoundedModel
from activities.model.request import Model
from activities.stored_arguments import loaded
from activities.tool_result import encode
from activities.tool_threads import ToolThreads
from activities.toolkit import Tool, ToolContext
from activities.try_ledger import TryLedger
from harness.artifact import INLINE_BYTES, PREVIEW_CHARS, Artifact
from harness.binding import reuse_key
from harness.calls import ToolReply, ToolRequest
from harness.catalog import ToolRole
from harness.errors import ErrorCode, ToolError
from harness.usage import Usage

_PLAIN = frozenset({str, int, float, bool, type(None)})


class ToolActivities:
    """Runs the tools of a worker's toolkits."""

    def __init__(
        self, tools: Mapping[str, Tool], model: Model, store: ArtifactStore, *, secrets: tuple[str, ...] = ()
    ) -> None:
        """Serve these tools by name, with this model for those that call one; no error tells a secret.

        Results that are too large for history go to the store.
        """
        self._tools = tools
        self._model = model
        self._store = store
        self._secrets = secrets
        self._threads = ToolThreads()

    @activity.defn(dynamic=True)
    async def call_tool(self, args: Sequence[RawValue]) -> ToolReply:
        """Validate the arguments, run the tool that the activity type names, and return its result as JSON."""
        ledger = TryLedger.resume()
        ledger.has_begun = False
        request = ToolRequest.model_validate_json(args[0].payload.data)
        model = BoundedModel(self._model, request.max_tokens, models=request.models, on_fallback=ledger.on_fallback)
        async with ActivityBoundary(ledger, lambda: model.usage, secrets=self._secrets, store=self._store):
            with ledger.beating():
                result = await self._call(request, model, ledger)
        return _reply(ledger, model.usage, result)

    async def _call(self, request: ToolRequest, model: BoundedModel, ledger: TryLedger) -> dict[str, Any]:
        """Return the fields of the reply that tell the result."""
        tool = self._find(activity.info().activity_type)
        arguments = await self._arguments(request)
        key = {"key": reuse_key(tool.spec, arguments)} if request.stored and tool.spec.is_reusable else {}
        if key and key["key"] in request.written:
            return {**key, "is_reused": True}
        keywords = _validated(tool, arguments)
        if tool.context_parameter:
            keywords[tool.context_parameter] = _context(tool, request, model)
        ledger.has_begun = True
        value = await self._run(tool, keywords)
        plain, data = encode(tool, value, limit=request.max_result_bytes, node_id=_node_id())
        return {**await self._result(tool, plain, data), **key}

    async def _arguments(self, request: ToolRequest) -> dict[str, JsonValue]:
        if not request.stored:
            return request.arguments
        try:
            return await loaded(request.arguments, request.stored, self._store, owner_of_activity())
        except ToolError as error:
            raise ToolError(error.code, f"node {_node_id()!r}: {error.message}") from error

    async def _result(self, tool: Tool, plain: JsonValue, data: bytes) -> dict[str, Any]:
        """Return the result as it travels; a report always travels whole, because the workflow must read it."""
        if len(data) <= INLINE_BYTES or tool.spec.role is ToolRole.FINAL_SYNTHESIS:
            return {"value": plain}
        digest = await self._store.put(owner_of_activity(), data)
        preview = data[: 4 * PREVIEW_CHARS].decode(errors="ignore")[:PREVIEW_CHARS]
        return {"artifact": Artifact(digest=digest, size=len(data), preview=preview)}

    async def _run(self, tool: Tool, keywords: dict[str, Any]) -> Any:  # noqa: ANN401 - a tool's own type
        limit_s = tool.spec.timeout.total_seconds()
        try:
            if not tool.is_async:
                return await self._threads.run(lambda: tool.function(**keywords), limit_s=limit_s)
            async with asyncio.timeout(limit_s):
                return await tool.function(**keywords)
        except TimeoutError as exc:
            raise ToolError(ErrorCode.TIMEOUT, str(exc) or f"{tool.spec.name} took longer than {limit_s:g} s") from exc

    def _find(self, name: str) -> Tool:
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(sorted(self._tools))
            raise ToolError(ErrorCode.UNKNOWN_TOOL, f"this worker has no tool {name!r}; it has {known}")
        return tool


def _reply(ledger: TryLedger, usage: Usage, result: dict[str, Any]) -> ToolReply:
    """Build the reply with the fields that say something only: each byte is kept in history."""
    told: dict[str, Any] = {"latency_ms": ledger.latency_ms, "queue_ms": ledger.queue_ms, "tries": ledger.tries}
    if usage.model:
        told["usage"] = usage
    if ledger.try_number > 1:
        told["try_number"] = ledger.try_number
    return ToolReply(**result, **{name: value for name, value in told.items() if value})


def _node_id() -> str:
    return activity.info().activity_id.partition("@")[0]


def _context(tool: Tool, request: ToolRequest, model: BoundedModel) -> ToolContext:
    info = activity.info()
    run_id = info.workflow_id or info.activity_id
    return ToolContext(
        run_id=run_id,
        node_id=_node_id(),
        try_number=info.attempt,
        idempotency_key=f"{run_id}/{info.activity_id}",
        deadline=info.started_time + tool.spec.timeout,
        model=model,
        max_tokens=request.max_tokens,
        feedback=request.feedback,
    )


def _fitting(tool: Tool, arguments: dict[str, JsonValue]) -> BaseModel | None:
    """Return arguments whose values are plain and fit as they are, which spares writing and reading their JSON.

    What does not fit so may fit as JSON: a text that stands for a date.
    """
    if not all(type(value) in _PLAIN for value in arguments.values()):
        return None
    try:
        return tool.arguments.model_validate(arguments)
    except ValidationError:
        return None


def _validated(tool: Tool, arguments: dict[str, JsonValue]) -> dict[str, Any]:
    try:
        model = _fitting(tool, arguments) or tool.arguments.model_validate_json(json.dumps(arguments))
    except ValidationError as exc:
        missing = all(error["type"] == "missing" for error in exc.errors())
        code = ErrorCode.MISSING_REQUIRED_ARGUMENT if missing else ErrorCode.INVALID_ARGUMENT
        raise ToolError(code, f"{tool.spec.name}: {describe_validation(exc)}") from exc
    return {name: getattr(model, name) for name in type(model).model_fields}
