from datetime import timedelta

import pytest

from cli.exit_codes import Refusal
from cli.request import build_request, read_models, read_patterns
from harness.model_choice import NO_CHOICE, ModelChoice, ModelRole

EVERY = dict.fromkeys(ModelRole, "small")


@pytest.mark.parametrize(
    ("values", "choice"),
    [
        ([], NO_CHOICE),
        (["small"], ModelChoice(by_role=EVERY)),
        (["org/small:7b"], ModelChoice(by_role=dict.fromkeys(ModelRole, "org/small:7b"))),
        (["planner=large"], ModelChoice(by_role={ModelRole.PLANNER: "large"})),
        (["planner=large", "small"], ModelChoice(by_role=EVERY | {ModelRole.PLANNER: "large"})),
        (["small", "judge=a=b"], ModelChoice(by_role=EVERY | {ModelRole.JUDGE: "a=b"})),
        (["fallback=spare"], ModelChoice(fallback="spare")),
        (["first", "small", "fallback=spare"], ModelChoice(by_role=EVERY, fallback="spare")),
    ],
    ids=str,
)
def test_models_are_named_for_all_roles_or_for_one(values: list[str], choice: ModelChoice) -> None:
    request = build_request({"goal": "x"}, {}, {"models": read_models(values)})

    assert request.options.models == choice
    assert ("models" in request.options.model_fields_set) == bool(values)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("painter=x", "'painter' is no role; use one of planner, synthesis, steps, judge, fallback."),
        ("planner=", "--model planner= is '', it must have at least 1 character."),
        ("fallback= ", "--model fallback= is '', it must have at least 1 character."),
        ("", "it must have at least 1 character."),
        ("judge=" + "x" * 201, "it must have at most 200 characters."),
        ("two\nlines", "must match pattern"),
    ],
)
def test_what_is_no_model_of_a_role_is_refused(value: str, said: str) -> None:
    with pytest.raises(Refusal) as caught:
        build_request({"goal": "x"}, {}, {"models": read_models([value])})

    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("values", "patterns"),
    [
        ([], None),
        (["get_*"], ("get_*",)),
        (["get_*, pay", "permission:mail"], ("get_*", "pay", "permission:mail")),
    ],
    ids=str,
)
def test_patterns_are_repeated_or_have_commas_between(values: list[str], patterns: tuple[str, ...] | None) -> None:
    request = build_request({"goal": "x"}, {}, {"allow": read_patterns("--allow", values)})

    assert request.options.allow == (patterns or ())
    assert ("allow" in request.options.model_fields_set) == bool(values)


def test_what_a_run_may_use_is_left_out_of_a_request_that_says_nothing_of_it() -> None:
    request = build_request({"goal": "x"}, {}, {"allow": None, "deny": None, "allow_writes": None})

    assert request.model_dump(exclude_unset=True)["options"] == {"limits": {}}


def test_the_time_of_a_model_call_is_given_in_seconds() -> None:
    request = build_request({"goal": "x"}, {}, {"model_timeout": 300.5})

    assert request.options.model_timeout == timedelta(seconds=300.5)


def test_agents_and_their_steps_are_asked_for_together() -> None:
    request = build_request({"goal": "x"}, {}, {"allow_agents": True, "loop": {"max_steps": "7"}})

    assert request.options.allow_agents
    assert request.options.loop.max_steps == 7
