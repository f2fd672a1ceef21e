from datetime import timedelta

import httpx2
import mcp_types as types
import pytest
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED

from activities.mcp.entry import Address, Policy, ServerEntry
from activities.mcp.session import ServerSession
from activities.mcp.tools import spec_of
from activities.mcp.transport import client_of
from harness.errors import NothingDoneError
from tests.cli.shell import free_port
from tests.mcp.rig import context


@pytest.mark.parametrize(("call_s", "start_s"), [(86_400, 30), (30, 3_600)])
async def test_no_limit_of_http_ends_a_call_or_a_start_before_its_own_does(call_s: int, start_s: int) -> None:
    address = Address("http://127.0.0.1:9/mcp")
    policy = Policy(timeout=timedelta(seconds=call_s))
    entry = ServerEntry("it", address, "it", policy, start_limit=timedelta(seconds=start_s))

    async with client_of(address, entry) as client:
        assert client.timeout.read is not None
        assert client.timeout.read > max(call_s, start_s)


class Unreachable:
    """Sends a call where nobody listens, as the SDK does that still believes in its session."""

    async def call_tool(self, *_: object, **__: object) -> None:
        address = Address(f"http://127.0.0.1:{free_port()}/mcp")
        async with client_of(address, ServerEntry("it", address, "it", Policy())) as client:
            try:
                await client.post(address.url)
            except httpx2.ConnectError as error:
                raise MCPError(CONNECTION_CLOSED, "connection closed") from error


async def test_a_call_that_found_nobody_to_connect_to_has_done_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ready_client(_session: ServerSession, _limit_s: float) -> Unreachable:
        return Unreachable()

    monkeypatch.setattr(ServerSession, "ready_client", ready_client)
    entry = ServerEntry("it", Address("http://127.0.0.1:9/mcp"), "it", Policy())
    offered = types.Tool(name="act", input_schema={"type": "object"})

    with pytest.raises(NothingDoneError, match="cannot be reached, so nothing was done"):
        await ServerSession(entry).call(offered, spec_of(offered, entry), {}, context())
