"""From flags to models: what is wrong with a flag is said in its own words."""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from cli.exit_codes import Refusal
from cli.run_kinds import Mode
from harness.budget import Extension
from harness.model_choice import ModelRole
from harness.run import MAX_GOAL_CHARS, RunRequest

Flags = Mapping[str, object]
"""Values by field name; None where a flag was not given."""
Model = TypeVar("Model", bound=BaseModel)

FLAGS = {
    "goal": "--goal",
    "toolkit": "--toolkit",
    "session_id": "--session",
    "max_tokens": "--max-tokens",
    "max_tool_calls": "--max-tool-calls",
    "max_wall_clock": "--max-wall-clock",
    "max_cost_usd": "--max-cost",
    "max_replans": "--max-replans",
    "max_concurrency": "--max-concurrency",
    "max_steps": "--max-steps",
    "model_timeout": "--model-timeout",
    "max_tools_shown": "--max-tools-shown",
    "allow": "--allow",
    "deny": "--deny",
    "tokens": "--tokens",
    "tool_calls": "--tool-calls",
    "wall_clock": "--wall-clock",
    "cost_usd": "--cost",
    **{role.value: f"--model {role}=" for role in ModelRole},
    "fallback": "--model fallback=",
}
FALLBACK = "fallback"
_SHOWN_CHARS = 60


def build_request(who: Flags, limits: Flags, options: Flags) -> RunRequest:
    """Return the request of a run; refuse with every flag that is wrong."""
    return _validated(RunRequest, {**_given(who), "options": {**_given(options), "limits": _given(limits)}})


def refuse_mismatch(mode: Mode, flags: Flags) -> None:
    """Refuse a flag that says nothing in this mode."""
    if mode is Mode.LOOP and flags["max_replans"] is not None:
        raise Refusal("--max-replans goes with --mode plan, an agent loop has no plan: leave it out.")
    if mode is Mode.LOOP and flags["allow_agents"]:
        raise Refusal("--allow-agents goes with --mode plan, an agent loop is one itself: leave it out.")
    if mode is Mode.PLAN and flags["max_steps"] is not None and not flags["allow_agents"]:
        raise Refusal("--max-steps is for agent loops: give --mode loop, or --allow-agents, or leave it out.")


def read_models(values: Sequence[str]) -> dict[str, object] | None:
    """Return the models of a run from NAME, which is for all roles, and ROLE=NAME, which goes before it."""
    for_all: dict[str, str] = {}
    named: dict[str, str] = {}
    for value in values:
        role, is_named, name = value.partition("=")
        if not is_named:
            for_all = dict.fromkeys(map(str, ModelRole), value.strip())
        elif role in {*ModelRole, FALLBACK}:
            named[role] = name.strip()
        else:
            known = ", ".join((*ModelRole, FALLBACK))
            raise Refusal(f"--model {value[:_SHOWN_CHARS]!r}: {role[:_SHOWN_CHARS]!r} is no role; use one of {known}.")
    by_role = {role: name for role, name in {**for_all, **named}.items() if role != FALLBACK}
    return _given({"by_role": by_role or None, FALLBACK: named.get(FALLBACK)}) or None


def read_patterns(flag: str, values: Sequence[str]) -> tuple[str, ...] | None:
    """Return the patterns of a flag that can be repeated and takes several, with commas between; None for none."""
    patterns = tuple(pattern.strip() for value in values for pattern in value.split(","))
    if not all(patterns):
        raise Refusal(f"{flag} has an empty pattern: name tools, such as get_*, or leave it out.")
    return patterns or None


def build_extension(message_id: str, amounts: Flags) -> Extension:
    """Return what to add to the limits of a run."""
    more = _validated(Extension, {"message_id": message_id, **_given(amounts)})
    if not (more.tokens or more.tool_calls or more.wall_clock or more.cost_usd):
        raise Refusal("Nothing to add: give at least one of --tokens, --tool-calls, --wall-clock, --cost.")
    return more


def _given(flags: Flags) -> dict[str, object]:
    return {name: value for name, value in flags.items() if value is not None}


def _validated(model: type[Model], values: dict[str, object]) -> Model:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise Refusal("; ".join(_describe(detail) for detail in error.errors())) from error


def _describe(detail: ErrorDetails) -> str:
    name = next((part for part in reversed(detail["loc"]) if isinstance(part, str)), "")  # no place in a list
    flag = FLAGS.get(name, name)
    value = detail["input"]
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if name == "goal" and isinstance(value, str):
        if len(value) > MAX_GOAL_CHARS:
            return f"{flag} is too long: {len(value):,} characters, at most {MAX_GOAL_CHARS:,} are taken."
        if not value.strip():
            return f"{flag} is blank: say what is wanted."
    wanted = re.sub(r"^\w+ should ", "must ", detail["msg"])
    return f"{flag} is {str(value)[:_SHOWN_CHARS]!r}, it {wanted}."
