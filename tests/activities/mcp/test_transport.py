from datetime import timedelta

import pytest

from activities.mcp.entry import Address, Policy, ServerEntry
from activities.mcp.transport import client_of


@pytest.mark.parametrize(("call_s", "start_s"), [(86_400, 30), (30, 3_600)])
async def test_no_limit_of_http_ends_a_call_or_a_start_before_its_own_does(call_s: int, start_s: int) -> None:
    address = Address("http://127.0.0.1:9/mcp")
    policy = Policy(timeout=timedelta(seconds=call_s))
    entry = ServerEntry("it", address, "it", policy, start_limit=timedelta(seconds=start_s))

    async with client_of(address, entry) as client:
        assert client.timeout.read is not None
        assert client.timeout.read > max(call_s, start_s)
