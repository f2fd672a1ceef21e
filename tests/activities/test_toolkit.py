from typing import Any

import pytest
from pydantic import BaseModel, JsonValue

from activities.model.client import OpenAIModel
from activities.settings import WorkerSettings
from activities.toolkit import Report, Tool, ToolContext, Toolkit, ToolkitError, describe, load_toolkit, tool
from activities.toolkits.games import TOOLKIT
from harness.catalog import ToolRole


@tool()
def echo(text: str) -> str:
    """Give the text back."""
    return text


def test_describes_a_toolkit_as_data() -> None:
    catalog = describe(TOOLKIT, OpenAIModel(WorkerSettings()).cards())

    assert catalog.toolkit == "games"
    assert catalog.model.name == "offline"
    assert catalog.has_verifier
    assert catalog.guidance
    assert [each.name for each in catalog.tools] == [each.spec.name for each in TOOLKIT.tools]


def test_loads_a_built_in_toolkit_and_one_by_path() -> None:
    assert load_toolkit("games") is TOOLKIT
    assert load_toolkit("activities.toolkits.games:TOOLKIT") is TOOLKIT


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("chess", "no toolkit is called 'chess'; built in: games"),
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
        load_toolkit(name)

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def _named(name: str, *, doc: str | None = "Do something.", role: ToolRole = ToolRole.DATA) -> Tool:
    def function() -> str:
        return ""

    function.__name__ = name
    function.__doc__ = doc
    return tool(role=role)(function)


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ((), "it has no tools"),
        ((echo, echo), "2 tools are called 'echo'"),
        ((_named("draft_plan"),), "belongs to the harness"),
        ((_named("describe_catalog"),), "belongs to the harness"),
        ((_named("verify_report"),), "belongs to the harness"),
        ((_named("with space"),), "a name is a letter"),
        ((_named("_hidden"),), "a name is a letter"),
        ((_named("x" * 65),), "at most 64"),
        ((_named("bare", doc=None),), "it has no description"),
        ((_named("final", role=ToolRole.FINAL_SYNTHESIS),), "must return an object with a text field 'report'"),
    ],
)
def test_a_toolkit_that_could_not_run_is_refused(tools: tuple[Tool, ...], said: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        Toolkit(name="bad", tools=tools)

    assert said in str(caught.value)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ToolkitError) as caught:
        Toolkit(name="bad", tools=(_named("draft_plan", doc=""), _named("with space")))

    assert "belongs to the harness" in str(caught.value)
    assert "a name is a letter" in str(caught.value)
    assert "it has no description" in str(caught.value)


class Nested(BaseModel):
    report: str
    more: "list[Nested]" = []


def _untyped(value) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001
    return str(value)


def _without_result(value: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
    return value


def _star(*values: str) -> str:
    return "".join(values)


def _opaque(value: str) -> type:
    return type(value)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (_untyped, "the parameter 'value' has no type"),
        (_without_result, "the result has no type"),
        (_star, "no named parameter"),
        (_opaque, "its types have no JSON schema"),
    ],
)
def test_a_function_that_does_not_say_its_types_is_no_tool(function: Any, said: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        tool()(function)

    assert said in str(caught.value)


def test_a_report_may_refer_to_itself() -> None:
    @tool(role=ToolRole.FINAL_SYNTHESIS)
    def final() -> Nested:
        """Report."""
        return Nested(report="")

    assert Toolkit(name="ok", tools=(final,)).by_name()["final"] is final


def test_the_context_is_no_argument() -> None:
    @tool(role=ToolRole.FINAL_SYNTHESIS)
    def final(sources: list[JsonValue], context: ToolContext, style: str = "plain") -> Report:
        """Report."""
        return Report(report="")

    assert final.context_parameter == "context"
    assert list(final.spec.parameter_schemas) == ["sources", "style"]
    assert final.spec.required_parameters == ("sources",)
