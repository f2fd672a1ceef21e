from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, JsonValue

from activities.model.client import OpenAIModel
from activities.settings import WorkerSettings
from activities.toolkit import Report, Tool, ToolContext, Toolkit, ToolkitError, describe, tool
from activities.toolkits.games import TOOLKIT
from harness.catalog import Backoff, Effect, RateLimit, ToolRole
from tests.activities.tool_calls import call, failure


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


def _named(name: str, *, doc: str | None = "Do something.", **policy: Any) -> Tool:
    def function() -> str:
        return ""

    function.__name__ = name
    function.__doc__ = doc
    return tool(**policy)(function)


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
        ((_named("never", timeout=timedelta(0)),), "tool 'never': its timeout is 0 s"),
        ((_named("owing", max_model_tokens=-1),), "tool 'owing': its max_model_tokens is -1"),
        ((_named("eager", backoff=Backoff(first=timedelta(minutes=1))),), "tool 'eager': its backoff begins above"),
        ((_named("model", rate_limit=5),), "the rate limit 'model' is that of the model calls"),
        (
            (_named("a", rate_limit=RateLimit(name="x", per_second=1)), _named("x", rate_limit=2.5)),
            "the rate limit 'x' is 1 and 2.5 calls a second",
        ),
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


def _unknown_type(value: "Nowhere") -> str:  # type: ignore[name-defined]  # noqa: F821
    return str(value)


def _yielding() -> Iterator[str]:
    yield ""


def _described(value: str) -> str:
    """Do something.

    Args:
        size: How large.
    """
    return value


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (_untyped, "the parameter 'value' has no type"),
        (_without_result, "the result has no type"),
        (_star, "no named parameter"),
        (_opaque, "its types have no JSON schema"),
        (_unknown_type, "its types cannot be resolved"),
        (_yielding, "it yields its results one by one; return them in a list"),
        (_described, "its docstring describes 'size', which it does not take; its parameters: 'value'"),
        (7, "int is no function"),
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


POLICIES: dict[str, dict[str, Any]] = {
    "role": {"role": ToolRole.EVIDENCE},
    "effect": {"effect": Effect.WRITE},
    "timeout": {"timeout": timedelta(minutes=2)},
    "max_tries": {"max_tries": 7},
    "backoff": {"backoff": Backoff(first=timedelta(seconds=2), limit=timedelta(minutes=5))},
    "rate_limit": {"rate_limit": RateLimit(name="shop", per_second=0.5)},
    "max_result_bytes": {"max_result_bytes": 1000},
    "version": {"version": "2"},
    "ageing": {"ageing": True},
    "max_model_tokens": {"max_model_tokens": 500},
    "permission": {"permission": "shop"},
    "needs_approval": {"needs_approval": False},
}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_policy_is_in_the_spec_and_whatever_is_usual_is_left_out(policy: dict[str, Any]) -> None:
    spec = _named("shop", **policy).spec

    (name, value) = next(iter(policy.items()))
    assert getattr(spec, name) == value
    assert set(spec.model_dump(exclude_unset=True)) == {"name", "description", "parameters", "result", name}


def test_a_usual_value_that_is_spelled_out_is_left_out_as_well() -> None:
    spec = _named("shop", timeout=timedelta(seconds=5), max_tries=3, effect=Effect.READ).spec

    assert set(spec.model_dump(exclude_unset=True)) == {"name", "description", "parameters", "result"}


def test_a_number_limits_the_rate_of_the_tool_alone() -> None:
    assert _named("shop", rate_limit=3).spec.rate_limit == RateLimit(name="shop", per_second=3)


def test_a_tool_may_have_another_name_than_its_function() -> None:
    @tool(name="shop.order")
    def order() -> str:
        """Order."""
        return ""

    assert order.spec.name == "shop.order"


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"max_tries": 0}, "tool 'shop': max_tries is 0: Input should be greater than or equal to 1"),
        ({"max_tries": "often"}, "tool 'shop': max_tries is 'often'"),
        ({"timeout": "soon"}, "tool 'shop': timeout is 'soon'"),
        ({"rate_limit": 0}, "tool 'shop': per_second is 0"),
        ({"max_result_bytes": 0}, "tool 'shop': max_result_bytes is 0"),
        ({"role": "BOSS"}, "tool 'shop': role is 'BOSS'"),
        ({"permission": "x" * 101}, "at most 100 characters"),
    ],
)
def test_a_policy_that_cannot_be_is_refused_in_one_line(policy: dict[str, Any], said: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        _named("shop", **policy)

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_decorator_without_parentheses_is_told_from_one_with() -> None:
    def shop() -> str:
        """Sell."""
        return ""

    with pytest.raises(ToolkitError, match=r"tool 'shop': write @tool\(\) with parentheses"):
        tool(shop)


def test_arguments_are_described_by_the_docstring_unless_they_describe_themselves() -> None:
    @tool()
    def shop(item: str, count: Annotated[int, Field(description="How many.", ge=1)], *, schema: str = "x") -> str:
        """Sell.

        Args:
            item: What to
                sell.
            count: Not this.
            schema: A name that models have, too.

        Returns:
            The receipt.
        """
        return f"{count} {item} {schema}"

    assert shop.spec.description == "Sell."
    described = {name: schema.get("description") for name, schema in shop.spec.parameter_schemas.items()}
    assert described == {"item": "What to sell.", "count": "How many.", "schema": "A name that models have, too."}
    assert shop.spec.required_parameters == ("item", "count")


async def test_parameters_may_be_called_as_models_call_their_own() -> None:
    @tool()
    def shop(schema: str, copy: int, _hidden: bool, model_config: str = "usual") -> str:  # noqa: FBT001
        """Sell."""
        return f"{schema} {copy} {_hidden} {model_config}"

    assert list(shop.spec.parameter_schemas) == ["schema", "copy", "_hidden", "model_config"]
    assert (await call(shop, {"schema": "s", "copy": 1, "_hidden": True})).value == "s 1 True usual"
    assert "argument 'copy'" in (await failure(shop, {"schema": "s", "copy": "1", "_hidden": True})).message


def _plain() -> None:
    """Do nothing."""


@pytest.mark.parametrize("tools", [_plain, (_plain,), [], None], ids=["function", "in a tuple", "list", "none"])
def test_what_is_no_tuple_of_tools_is_refused_with_what_would_be_right(tools: Any) -> None:
    with pytest.raises(ToolkitError, match=r"decorate each function with @tool\(\) and give a tuple"):
        Toolkit("mine", tools)
