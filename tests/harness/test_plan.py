import json
from typing import Any

import pytest
from pydantic import ValidationError

from harness.plan import Plan, read_plan
from tests.builders import chain, games_plan

PLAN = json.loads(games_plan().model_dump_json())


def test_plan_survives_json() -> None:
    assert Plan.model_validate_json(json.dumps(PLAN)) == games_plan()


@pytest.mark.parametrize(
    "change",
    [
        lambda node: node.pop("deps"),
        lambda node: node.update(status="DONE"),
        lambda node: node.update(id=5),
        lambda node: node.update(deps=None),
        lambda node: node["arguments"][0]["value"].pop("path"),
        lambda node: node["arguments"][0]["value"].update(type="CODE"),
        lambda node: node["arguments"][0].update(extra=1),
    ],
)
def test_plan_refuses_missing_extra_and_mistyped_fields(change: Any) -> None:
    broken = json.loads(json.dumps(PLAN))
    change(broken["nodes"][4])

    with pytest.raises(ValidationError):
        Plan.model_validate_json(json.dumps(broken))


def test_null_nodes_are_refused() -> None:
    with pytest.raises(ValidationError):
        Plan.model_validate_json('{"nodes": [null]}')


def test_schema_requires_every_field_and_forbids_others() -> None:
    schema = Plan.model_json_schema()
    objects = [schema, *schema["$defs"].values()]

    for each in objects:
        if each["type"] == "object":
            assert each["required"] == list(each["properties"])
            assert each["additionalProperties"] is False
    assert "oneOf" not in json.dumps(schema)


def test_a_plan_is_read_once_while_workflow_runs_take_it_up_one_after_the_other() -> None:
    text, other = games_plan().model_dump_json(), chain(3).model_dump_json()

    first = read_plan(text)

    assert first == games_plan()
    assert read_plan(other) == chain(3)
    assert read_plan(text) is first


def test_what_is_no_plan_is_not_read() -> None:
    with pytest.raises(ValidationError):
        read_plan("")
