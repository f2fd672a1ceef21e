"""One tool call as an activity. Its activity type is the tool's name, its id names node and attempt."""

import asyncio
import inspect
import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic import JsonValue, ValidationError
from pydantic_core import PydanticSerializationError
from temporalio import activity
from temporalio.common import RawValue

from activities.failures import activity_boundary, describe_validation
from activities.model.bounded import BoundedModel
from activities.model.request import Model
from activities.tool_threads import ToolThreads
from activities.toolkit import Tool, ToolContext
from activities.try_ledger import TryLedger
from harness.calls import ToolReply, ToolRequest
from harness.errors import ErrorCode, ToolError
from harness.wire_size import MAX_DEPTH, depth_of


class ToolActivities:
    """Runs the tools of a worker's toolkits."""

    def __init__(self, tools: Mapping[str, Tool], model: Model, *, secrets: tuple[str, ...] = ()) -> None:
        """Serve these tools by name, with this model for those that call one; no error tells a secret."""
        self._tools = tools
        self._model = model
        self._secrets = secrets
        self._threads = ToolThreads()

    @activity.defn(dynamic=True)
    async def call_tool(self, args: Sequence[RawValue]) -> ToolReply:
        """Validate the arguments, run the tool that the activity type names, and return its result as JSON."""
        ledger = TryLedger.resume()
        request: ToolRequest = activity.payload_converter().from_payload(args[0].payload, ToolRequest)
        model = BoundedModel(self._model, request.max_tokens, models=request.models, on_fallback=ledger.on_fallback)
        async with activity_boundary(ledger, lambda: model.usage, secrets=self._secrets), ledger.beating():
            tool = self._find(activity.info().activity_type)
            context = _context(tool, request, model)
            value = await self._run(tool, request.arguments, context)
            result = _encode(tool, value, limit=request.max_result_bytes, node_id=context.node_id)
        reply: dict[str, object] = {"value": result, "latency_ms": ledger.latency_ms, "queue_ms": ledger.queue_ms}
        if model.usage.model:
            reply["usage"] = model.usage
        if ledger.try_number > 1:
            reply |= {"tries": ledger.tries, "try_number": ledger.try_number}
        return ToolReply.model_validate(reply)

    async def _run(self, tool: Tool, arguments: dict[str, JsonValue], context: ToolContext) -> Any:  # noqa: ANN401 - a tool's own type
        keywords = _validated(tool, arguments)
        if tool.context_parameter:
            keywords[tool.context_parameter] = context
        limit_s = tool.spec.timeout.total_seconds()
        try:
            if not inspect.iscoroutinefunction(tool.function):
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


def _context(tool: Tool, request: ToolRequest, model: BoundedModel) -> ToolContext:
    info = activity.info()
    run_id = info.workflow_id or info.activity_id
    return ToolContext(
        run_id=run_id,
        node_id=info.activity_id.partition("@")[0],
        try_number=info.attempt,
        idempotency_key=f"{run_id}/{info.activity_id}",
        deadline=info.started_time + tool.spec.timeout,
        model=model,
        max_tokens=request.max_tokens,
        feedback=request.feedback,
    )


def _validated(tool: Tool, arguments: dict[str, JsonValue]) -> dict[str, Any]:
    try:
        model = tool.arguments.model_validate_json(json.dumps(arguments))
    except ValidationError as exc:
        missing = all(error["type"] == "missing" for error in exc.errors())
        code = ErrorCode.MISSING_REQUIRED_ARGUMENT if missing else ErrorCode.INVALID_ARGUMENT
        raise ToolError(code, f"{tool.spec.name}: {describe_validation(exc)}") from exc
    return {name: getattr(model, name) for name in type(model).model_fields}


def _encode(tool: Tool, value: object, *, limit: int, node_id: str) -> JsonValue:
    """Check the result against the tool's own type and return it as JSON that any server can carry."""
    name = tool.spec.name
    try:
        _refuse_what_json_lacks(tool.result.dump_python(value, warnings="error"))
        plain: JsonValue = tool.result.dump_python(value, mode="json", warnings="error")
        encoded = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        tool.result.validate_json(encoded)
    except (ValidationError, PydanticSerializationError, ValueError, RecursionError) as exc:
        detail = describe_validation(exc) if isinstance(exc, ValidationError) else f"{type(exc).__name__}: {exc}"
        raise ToolError(ErrorCode.INVALID_OUTPUT, f"{name} returned what no JSON of its type holds: {detail}") from exc
    if len(encoded) > limit:
        raise ToolError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"node {node_id!r}: the result of {name} has {len(encoded):,} bytes, the limit is {limit:,}; return less",
        )
    return plain


def _refuse_what_json_lacks(value: object) -> None:
    """Refuse NaN and infinities, which pydantic would turn into null, and what is nested too deep to decode."""
    if depth_of(value, MAX_DEPTH) > MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, float | Decimal) and not math.isfinite(current):
            raise ValueError(f"{current} has no JSON form")
        if isinstance(current, dict):
            waiting.extend(current.values())
        elif isinstance(current, list | tuple | set | frozenset):
            waiting.extend(current)
