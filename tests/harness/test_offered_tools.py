import pytest

from harness.catalog import ToolRole
from harness.errors import ErrorCode, ToolError
from harness.offered_tools import offered_tools
from tests.builders import catalog, tool_spec


def test_writers_of_reports_are_left_out_and_the_memory_comes_last() -> None:
    tools = offered_tools(catalog(tool_spec("b"), tool_spec("report", role=ToolRole.FINAL_SYNTHESIS), tool_spec("a")))

    assert [tool.name for tool in tools] == ["b", "a", "remember", "recall"]


def test_writers_of_reports_are_offered_when_there_are_no_other_tools() -> None:
    tools = offered_tools(catalog(tool_spec("report", role=ToolRole.FINAL_SYNTHESIS)))

    assert [tool.name for tool in tools] == ["report", "remember", "recall"]


def test_a_tool_with_a_name_of_the_memory_is_refused_with_what_to_do() -> None:
    with pytest.raises(ToolError) as caught:
        offered_tools(catalog(tool_spec("recall"), tool_spec("read")))

    assert caught.value.code is ErrorCode.INVALID_ARGUMENT
    assert caught.value.message == (
        "agent loops have tools of their own with these names: 'recall'; rename those of toolkit 'test', or deny them "
        "to the run"
    )
