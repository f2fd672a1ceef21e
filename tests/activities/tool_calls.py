"""One tool call through the real activity, without a server."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import JsonValue
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.model.client import OpenAIModel
from activities.settings import WorkerSettings
from activities.tool_call import ToolActivities
from activities.toolkit import Tool
from harness.calls import ToolReply, ToolRequest
from harness.usage import TryRecord
from tests.stage import MEMORY
from workflows.data_converter import DATA_CONVERTER


def environment(tool: Tool, *, try_number: int = 1, earlier: tuple[TryRecord, ...] = ()) -> ActivityEnvironment:
    """Return an environment in which a try of a tool runs, at a node called n of run r."""
    env = ActivityEnvironment()
    now = datetime.now(UTC)
    env.info = replace(
        env.info,
        activity_type=tool.spec.name,
        activity_id="n@0",
        workflow_id="r",
        attempt=try_number,
        heartbeat_details=[[record.model_dump(mode="json") for record in earlier]] if earlier else [],
        started_time=now,
        current_attempt_scheduled_time=now - timedelta(milliseconds=5),
    )
    return env


async def call(
    tool: Tool,
    arguments: Mapping[str, JsonValue] | None = None,
    *,
    env: ActivityEnvironment | None = None,
    secrets: tuple[str, ...] = (),
    **request: Any,
) -> ToolReply:
    """Call a tool as a workflow does."""
    asked = ToolRequest(arguments=dict(arguments or {}), **({"effect": tool.spec.effect} | request))
    (payload,) = DATA_CONVERTER.payload_converter.to_payloads([asked])
    served = ToolActivities({tool.spec.name: tool}, OpenAIModel(WorkerSettings()), MEMORY, secrets=secrets)
    reply = await (env or environment(tool)).run(served.call_tool, [RawValue(payload)])
    (sent,) = DATA_CONVERTER.payload_converter.to_payloads([reply])
    received = DATA_CONVERTER.payload_converter.from_payload(sent, ToolReply)
    assert isinstance(received, ToolReply)
    return received


async def failure(tool: Tool, arguments: Mapping[str, JsonValue] | None = None, **how: Any) -> ApplicationError:
    """Call a tool that fails, and return its error."""
    try:
        reply = await call(tool, arguments, **how)
    except ApplicationError as error:
        return error
    raise AssertionError(f"the call gave {reply}")
