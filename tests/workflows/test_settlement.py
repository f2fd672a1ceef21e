from typing import Any, cast

import pytest

from harness.binding import Arguments
from harness.call import Call
from harness.catalog import Effect, ToolSpec
from tests.builders import tool_spec
from workflows.flight import Flight
from workflows.settlement import MOST_BYTES_LATER, _may_wait_for_keys

READ, WRITE = tool_spec("read"), tool_spec("write", effect=Effect.WRITE)


@pytest.mark.parametrize(
    ("tool", "size", "is_later"),
    [
        pytest.param(READ, MOST_BYTES_LATER, True, id="small read"),
        pytest.param(READ, MOST_BYTES_LATER + 1, False, id="large read: of many of them one task could not hash all"),
        pytest.param(WRITE, 1, False, id="write"),
        pytest.param(tool_spec("clock", ageing=True), 1, False, id="never reused"),
    ],
)
def test_keys_wait_until_somebody_asks_only_where_that_is_cheap(tool: ToolSpec, size: int, *, is_later: bool) -> None:
    call = Call(tool, Arguments({"x": 1}, most_bytes=size))
    nothing = cast("Any", None)

    flight = Flight(nothing, tool, nothing, nothing, nothing, call, nothing)

    assert _may_wait_for_keys(flight) is is_later
