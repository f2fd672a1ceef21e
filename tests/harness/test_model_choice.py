import pytest
from pydantic import ValidationError

from harness.model_choice import NO_CHOICE, ModelChoice, ModelRole


def test_names_models_by_role() -> None:
    choice = ModelChoice.model_validate({"by_role": {"planner": "a"}, "fallback": "b"})

    assert choice == ModelChoice(by_role={ModelRole.PLANNER: "a"}, fallback="b")
    assert choice != NO_CHOICE
    assert ModelChoice(by_role={}) == NO_CHOICE


@pytest.mark.parametrize(
    "given",
    [
        {"by_role": {"painter": "a"}},
        {"by_role": {"planner": ""}},
        {"by_role": {"planner": "x" * 201}},
        {"by_role": {"planner": "two\nlines"}},
        {"fallback": "\x1b[31m"},
        {"planner": "a"},
    ],
)
def test_refuses_what_is_no_name_of_a_model(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ModelChoice.model_validate(given)
