import inspect
from typing import Any

import pytest
from pydantic import JsonValue

from activities.toolkit import Report, Toolkit, ToolkitError, tool
from activities.toolkit_loading import load_toolkit
from activities.toolkits.games import TOOLKIT as GAMES
from harness.catalog import ToolRole
from harness.errors import ToolError
from harness.verification import PASSED, Verdict


@tool()
def read_clock() -> str:
    """Tell the time."""
    return "noon"


@tool(role=ToolRole.FINAL_SYNTHESIS)
def say_time(time: str) -> Report:
    """Report the time."""
    return Report(report=time)


@tool()
def read_scale() -> float:
    """Tell the weight."""
    return 1.5


CLOCK = Toolkit("clock", (read_clock,), guidance="Ask once.")
SCALE = Toolkit("scale", (read_scale,))
SPEAKER = Toolkit("speaker", (say_time,), guidance="Speak last.")


def names(kit: Toolkit) -> list[str]:
    return [each.spec.name for each in kit.tools]


@pytest.mark.parametrize("name", ["games", "activities.toolkits.games:TOOLKIT"])
def test_a_toolkit_is_loaded_by_its_name_and_its_tools_say_so(name: str) -> None:
    kit = load_toolkit(name)

    assert (kit.name, kit.guidance, kit.verify) == (name, GAMES.guidance, GAMES.verify)
    assert [each.spec.model_copy(update={"toolkit": ""}) for each in kit.tools] == [each.spec for each in GAMES.tools]
    assert {each.spec.toolkit for each in kit.tools} == {name}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("chess", "no toolkit is called 'chess'; there are: games, report, mcp:time"),
        ("", "no toolkit is called ''"),
        ("no.such.module:TOOLKIT", "'no.such.module' cannot be imported"),
        ("activities.toolkits.games:TOOLS", "has no 'TOOLS'; it has TOOLKIT"),
        ("activities.toolkits.games:get_games", "has a Tool, not a Toolkit, as 'get_games'; it has TOOLKIT"),
        ("activities.toolkit_rules:x", "it has no toolkit at all"),
        (":x", "no toolkit is called ':x'"),
        ("..:x", "no toolkit is called"),
    ],
)
def test_says_in_one_line_what_was_looked_for_and_what_there_is(name: str, said: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        load_toolkit(name, {"mcp:time": CLOCK})

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_toolkits_together_have_all_their_tools_and_advice() -> None:
    others = {"mcp:time": CLOCK, "speaker": SPEAKER}

    kit = load_toolkit("speaker+mcp:time+speaker", others)

    assert kit.name == "mcp:time+speaker"
    assert [(each.spec.name, each.spec.toolkit) for each in kit.tools] == [
        ("read_clock", "mcp:time"),
        ("say_time", "speaker"),
    ]
    assert kit.guidance == "mcp:time:\nAsk once.\n\nspeaker:\nSpeak last."
    assert kit.verify is None


def test_toolkits_without_a_tool_that_writes_the_report_get_one() -> None:
    kit = load_toolkit("clock+scale", {"clock": CLOCK, "scale": SCALE})

    assert kit.name == "clock+scale"
    assert names(kit) == ["read_clock", "read_scale", "write_report"]
    assert kit.tools[-1].spec.toolkit == "report"
    assert "report:\n" in kit.guidance


def test_games_and_others_need_no_other_report() -> None:
    assert "write_report" not in names(load_toolkit("games+clock", {"clock": CLOCK}))


def test_a_tool_that_two_toolkits_have_is_refused_with_both_named() -> None:
    others = {"a": CLOCK, "b": Toolkit("b", (read_clock, read_scale)), "c": SCALE}

    with pytest.raises(ToolkitError) as caught:
        load_toolkit("a+b+c", others)

    assert "the tool 'read_clock' is in 'a' and in 'b'" in str(caught.value)
    assert "the tool 'read_scale' is in 'b' and in 'c'" in str(caught.value)
    assert "\n" not in str(caught.value)


def rejecting(reason: str) -> Any:
    return lambda *_: Verdict(outcome="REJECTED", reasons=(reason,))


async def waiting(*_: object) -> Verdict:
    return Verdict(outcome="NOT_VERIFIED", reasons=("the server is away",))


async def verdict_of(*rules: Any) -> Verdict:
    kits = {f"k{i}": Toolkit("k", (_numbered(i),), verify=rule) for i, rule in enumerate(rules)}
    rule = load_toolkit("+".join(kits), kits).verify
    assert rule is not None
    answer: Any = rule("goal", {"report": "text"}, {})
    verdict = await answer if inspect.isawaitable(answer) else answer
    assert isinstance(verdict, Verdict)
    return verdict


def _numbered(number: int) -> Any:
    @tool(name=f"read_{number}")
    def read() -> JsonValue:
        """Read."""
        return number

    return read


async def test_a_report_must_pass_the_rules_of_all_toolkits() -> None:
    assert await verdict_of(lambda *_: PASSED, lambda *_: PASSED) == PASSED
    assert await verdict_of(rejecting("too long")) == Verdict(outcome="REJECTED", reasons=("too long",))
    assert await verdict_of(rejecting("too long"), lambda *_: PASSED, waiting, rejecting("too dull")) == Verdict(
        outcome="REJECTED", reasons=("too long", "too dull", "the server is away")
    )
    assert (await verdict_of(lambda *_: PASSED, waiting)).outcome == "NOT_VERIFIED"


async def test_a_rule_that_gives_no_verdict_passes_nothing() -> None:
    with pytest.raises(ToolError, match="a rule returned a bool, no Verdict"):
        await verdict_of(lambda *_: PASSED, lambda *_: True)
