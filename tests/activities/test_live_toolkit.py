from dataclasses import replace

import pytest

from activities.live_toolkit import LiveToolkit
from activities.toolkit import Toolkit, ToolkitError
from tests.stage import ScriptedTools


class Changing:
    """A toolkit whose tools a test changes."""

    def __init__(self, *names: str) -> None:
        self.revision = 0
        self.builds = 0
        self.names = names

    def change(self, *names: str) -> None:
        self.names = names
        self.revision += 1

    def build(self) -> Toolkit:
        self.builds += 1
        if "broken" in self.names:
            raise ToolkitError("two tools are called the same")
        return replace(ScriptedTools().toolkit(self.names), name="live")

    def live(self) -> LiveToolkit:
        return LiveToolkit("live", self.build, lambda: self.revision)


def test_a_toolkit_is_as_it_is_now_also_for_whoever_asked_before() -> None:
    changing = Changing("a")
    kit = changing.live()
    tools = kit.by_name()
    assert set(tools) == {"a", "write", "write_report"}

    changing.change("a", "b")

    assert "b" in tools
    assert {tool.spec.name for tool in kit["live"].tools} == {"a", "b", "write", "write_report"}
    assert len(tools) == 4


def test_it_is_built_again_only_after_a_change() -> None:
    changing = Changing("a")
    kit = changing.live()

    assert [kit.current, kit["live"], kit.by_name()["a"]]

    assert changing.builds == 1


def test_a_change_that_cannot_serve_leaves_it_as_it_was(caplog: pytest.LogCaptureFixture) -> None:
    changing = Changing("a")
    kit = changing.live()

    changing.change("broken")

    assert "a" in kit.by_name()
    assert "stays as it was: two tools are called the same" in caplog.text


def test_it_goes_by_one_name() -> None:
    kit = Changing("a").live()

    assert list(kit) == ["live"]
    assert "other" not in kit
