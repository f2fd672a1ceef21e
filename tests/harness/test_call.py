from harness.binding import Arguments, reuse_keys
from harness.call import Call
from harness.catalog import ToolRole
from tests.builders import tool_spec


def test_keys_are_found_out_when_somebody_asks_and_once() -> None:
    tool = tool_spec("search", parameters={"query": {}})
    call = Call(tool, Arguments({"query": "games"}))

    assert "keys" not in vars(call)
    assert call.keys == reuse_keys(tool, Arguments({"query": "games"}))
    assert call.keys is call.keys


def test_what_may_not_be_reused_has_no_keys() -> None:
    assert Call(tool_spec("report", role=ToolRole.FINAL_SYNTHESIS), Arguments({})).keys == ()
    assert Call(tool_spec("clock", ageing=True), Arguments({})).keys == ()
