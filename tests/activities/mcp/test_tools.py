from dataclasses import replace
from datetime import timedelta
from typing import Any

import mcp_types as types
import pytest
from pydantic import ValidationError

from activities.failures import describe_validation
from activities.mcp.arguments import arguments_model
from activities.mcp.entry import Command, Policy, ServerEntry
from activities.mcp.results import value_of, without_secrets
from activities.mcp.tools import effect_of, name_of, spec_of, tool_of
from activities.tool_artifacts import ToolArtifacts
from activities.tool_context import ToolContext
from harness.catalog import Effect, RateLimit, ToolSpec
from harness.errors import ErrorCode, ReportedError, ToolError
from tests.mcp.rig import context

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}, "near": {"$ref": "#/$defs/Place"}},
    "required": ["city"],
    "$defs": {"Place": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]}},
}


def offered(name: str = "get", **fields: Any) -> types.Tool:
    return types.Tool(name=name, **{"input_schema": SCHEMA, "description": "Get it.", **fields})


def entry(**policy: Any) -> ServerEntry:
    return ServerEntry("web", Command("x"), "x", Policy(**policy))


@pytest.mark.parametrize(
    ("hints", "effect"),
    [
        (None, Effect.WRITE),
        ({}, Effect.WRITE),
        ({"read_only_hint": True}, Effect.READ),
        ({"read_only_hint": True, "destructive_hint": True}, Effect.READ),
        ({"read_only_hint": False, "idempotent_hint": True}, Effect.WRITE),
        ({"idempotent_hint": True, "destructive_hint": False}, Effect.IDEMPOTENT_WRITE),
        ({"idempotent_hint": True, "destructive_hint": True}, Effect.WRITE),
        ({"destructive_hint": False}, Effect.WRITE),
        ({"open_world_hint": False, "idempotent_hint": False}, Effect.WRITE),
    ],
)
def test_hints_become_effects_and_what_they_do_not_rule_out_may_happen(
    hints: dict[str, bool] | None, effect: Effect
) -> None:
    assert effect_of(None if hints is None else types.ToolAnnotations(**hints)) is effect


def test_the_file_goes_before_the_hints() -> None:
    read = types.ToolAnnotations(read_only_hint=True)

    assert spec_of(offered(annotations=read), entry(effects={"get": Effect.WRITE})).effect is Effect.WRITE
    assert spec_of(offered(), entry(effects={"g*": Effect.READ})).effect is Effect.READ


def test_reads_age_unless_the_file_says_otherwise() -> None:
    read = types.ToolAnnotations(read_only_hint=True)

    assert spec_of(offered(annotations=read), entry()).ageing
    assert not spec_of(offered(annotations=read), entry(stable=("get",))).ageing
    assert not spec_of(offered(), entry()).ageing


def test_policies_of_the_file_reach_the_tool_and_usual_ones_are_not_sent() -> None:
    spec = spec_of(offered(), entry(timeout=timedelta(seconds=3), max_tries=7, per_second=2.0), version="9")

    assert (spec.timeout, spec.max_tries, spec.version) == (timedelta(seconds=3), 7, "9")
    assert spec.rate_limit == RateLimit(name="mcp.web", per_second=2)
    usual = spec_of(offered(annotations=types.ToolAnnotations(read_only_hint=True)), entry(stable=("*",)))
    assert usual.model_fields_set == {"name", "description", "parameters", "result", "timeout"}


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("git", "git_log", "git_git_log"),
        ("git", "log/all now", "git_log_all_now"),
        ("1st", "get", "mcp_1st_get"),
        ("w", "größe", "w_gr__e"),
    ],
)
def test_names_keep_to_the_letters_of_tools(server: str, tool: str, name: str) -> None:
    assert name_of(server, tool) == name


def test_long_names_are_cut_and_stay_different() -> None:
    names = {name_of("web", "x" * 80 + end) for end in "ab"}

    assert len(names) == 2
    assert {len(name) for name in names} == {64}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "city: Field required"),
        ({"city": 3}, "city: expected string, got 3"),
        ({"city": "x", "unit": "K"}, "unit: expected one of 'C', 'F', got 'K'"),
        ({"city": "x", "near": {"lat": "n"}}, "near: at '/lat': expected number, got 'n'"),
        ({"city": "x", "near": {}}, "near: missing fields: 'lat'"),
        ({"city": "x", "town": "y"}, "town: Extra inputs are not permitted"),
        ({"unit": 1, "town": 2}, "city: Field required; unit: expected one of 'C', 'F', got 1; town: Extra inputs"),
    ],
)
def test_wrong_arguments_are_refused_by_field_before_anything_is_sent(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        arguments_model(spec_of(offered(), entry())).model_validate(arguments)

    assert describe_validation(refused.value).startswith(said)


def test_fitting_arguments_pass_as_they_are() -> None:
    given = {"city": "Köln", "unit": "C", "near": {"lat": 1.5, "more": [None]}}

    assert arguments_model(spec_of(offered(), entry())).model_validate(given).root == given


def test_a_tool_that_says_nothing_of_its_parameters_takes_none() -> None:
    model = arguments_model(spec_of(offered(input_schema={"type": "object"}), entry()))

    assert model.model_validate({}).root == {}
    with pytest.raises(ValidationError):
        model.model_validate({"x": 1})


def test_a_tool_without_a_description_gets_one() -> None:
    titled = offered(description=None, annotations=types.ToolAnnotations(title="Get the weather"))

    assert spec_of(titled, entry()).description == "Get the weather"
    assert spec_of(offered(description=" "), entry()).description == "The tool 'get' of the MCP server 'web'."
    assert len(spec_of(offered(description="x" * 10_000), entry()).description) <= 4_000


TEXT = types.TextContent(text="a")
PIXEL = types.ImageContent(data="iVBORw0KGgo=", mime_type="image/png")


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ([TEXT], "a"),
        ([TEXT, TEXT], ["a", "a"]),
        ([], None),
        (
            [types.EmbeddedResource(resource=types.TextResourceContents(uri="a:b", text="t", mime_type="text/x"))],
            {"type": "resource", "uri": "a:b", "mime_type": "text/x", "text": "t"},
        ),
        (
            [types.ResourceLink(uri="a:b", name="n", size=5)],
            {"type": "resource_link", "uri": "a:b", "name": "n", "bytes": 5},
        ),
    ],
)
async def test_content_becomes_one_value(content: list[Any], value: Any) -> None:
    assert await value_of(types.CallToolResult(content=content), ToolArtifacts.in_memory(), tool="t") == value


async def test_structured_content_goes_before_content() -> None:
    result = types.CallToolResult(content=[TEXT], structured_content={"n": 1})

    assert await value_of(result, ToolArtifacts.in_memory(), tool="t") == {"n": 1}


async def test_an_image_is_described_and_its_bytes_are_kept_with_the_run() -> None:
    artifacts = ToolArtifacts.in_memory()

    value = await value_of(types.CallToolResult(content=[TEXT, PIXEL]), artifacts, tool="t")

    assert isinstance(value, list)
    text, image = value
    assert text == "a"
    assert isinstance(image, dict)
    assert {name: image[name] for name in ("type", "mime_type", "bytes")} == {
        "type": "image",
        "mime_type": "image/png",
        "bytes": 8,
    }
    assert await artifacts.get(str(image["artifact"])) == b"\x89PNG\r\n\x1a\n"


async def test_what_the_server_says_of_a_failure_is_told_whole_so_that_no_secret_in_it_is_cut() -> None:
    said = "no such city" + "x" * 9_000
    result = types.CallToolResult(content=[types.TextContent(text=said)], is_error=True)

    with pytest.raises(ReportedError) as failed:
        await value_of(result, ToolArtifacts.in_memory(), tool="web_get")

    assert failed.value.code is ErrorCode.INVALID_ARGUMENT
    assert failed.value.message == f"web_get failed: {said}"


async def test_an_image_that_is_none_is_the_servers_fault() -> None:
    broken = types.ImageContent(data="%%%", mime_type="image/png")

    with pytest.raises(ToolError, match="not base64"):
        await value_of(types.CallToolResult(content=[broken]), ToolArtifacts.in_memory(), tool="t")


class Answers:
    """Stands where a session would be."""

    def __init__(self, result: types.CallToolResult) -> None:
        self._result = result

    async def call(
        self, tool: types.Tool, spec: ToolSpec, arguments: dict[str, Any], context: ToolContext
    ) -> types.CallToolResult:
        return self._result


async def test_an_answer_that_cannot_be_read_came_after_whatever_the_tool_has_done() -> None:
    broken = types.CallToolResult(content=[types.ImageContent(data="%%%", mime_type="image/png")])
    tool = tool_of(offered(), entry(), Answers(broken), version="1")

    with pytest.raises(ReportedError) as failed:
        await tool.function(root={}, context=context(artifacts=ToolArtifacts.in_memory()))

    assert failed.value.code is ErrorCode.INVALID_OUTPUT


def test_secrets_are_hidden_wherever_they_stand_in_a_result() -> None:
    value = {"a": ["key hunter2-x", 1, None], "hunter2-x": {"b": "é"}}

    assert without_secrets(value, ("hunter2-x",)) == {"a": ["key ***", 1, None], "***": {"b": "é"}}
    assert without_secrets(value, ("other",)) is value


def test_secrets_are_hidden_in_what_a_server_says_of_its_tools() -> None:
    secret = "hunter2-hunter2"
    schema = {"properties": {"key": {"type": "string", "default": secret}}}
    told = offered(description=f"Uses {secret}.", input_schema=schema, output_schema={"title": secret})
    careful = replace(entry(), secrets=(secret,))

    assert secret not in spec_of(told, careful).model_dump_json()
