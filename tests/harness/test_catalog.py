from decimal import Decimal

import pytest

from harness.catalog import Effect, JsonSchema, ModelCard, ToolRole
from harness.model_choice import ModelRole
from tests.builders import NUMBER, TEXT, catalog, games_catalog, tool_spec


def test_finds_a_tool_by_its_exact_name() -> None:
    tools = games_catalog()

    assert tools.tool("get_games") is tools.tools[2]
    assert tools.tool("Get_games") is None


@pytest.mark.parametrize(("effect", "tries"), [(Effect.READ, 4), (Effect.IDEMPOTENT_WRITE, 4), (Effect.WRITE, 1)])
def test_a_write_has_one_try(effect: Effect, tries: int) -> None:
    assert tool_spec(effect=effect, max_tries=4).tries == tries


def test_reports_and_ageing_reads_are_not_reused() -> None:
    assert tool_spec(effect=Effect.WRITE).is_reusable
    assert not tool_spec(ageing=True).is_reusable
    assert not tool_spec(role=ToolRole.FINAL_SYNTHESIS).is_reusable
    assert tool_spec(effect=Effect.WRITE, ageing=True).is_reusable


def test_parameters_keep_the_order_of_declaration() -> None:
    tool = tool_spec(parameters={"z": TEXT, "a": NUMBER, "m": TEXT}, optional=["a"])

    assert list(tool.parameter_schemas) == ["z", "a", "m"]
    assert tool.required_parameters == ("z", "m")


@pytest.mark.parametrize(
    "parameters", [{}, {"properties": 5, "required": "a"}, {"properties": {"a": 5}, "required": [5]}]
)
def test_odd_schemas_have_no_parameters(parameters: JsonSchema) -> None:
    tool = tool_spec().model_copy(update={"parameters": parameters})

    assert tool.parameter_schemas == {}
    assert tool.required_parameters == ()


def test_calls_are_reserved_by_the_dearer_of_a_roles_model_and_the_fallback() -> None:
    cheap = ModelCard(name="cheap", input_token_usd=Decimal(1), output_token_usd=Decimal(1))
    dear = ModelCard(name="dear", input_token_usd=Decimal(2), output_token_usd=Decimal(2))
    plain = catalog().model_copy(update={"model": cheap})

    assert plain.card_of(ModelRole.PLANNER) is cheap
    assert plain.model_copy(update={"fallback": dear}).card_of(ModelRole.PLANNER) is dear
    assert plain.model_copy(update={"role_models": {ModelRole.SYNTHESIS: dear}}).card_of(ModelRole.SYNTHESIS) is dear
