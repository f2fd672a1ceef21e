"""What model calls are for, and the models that a run asks for in place of its worker's."""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class ModelRole(StrEnum):
    """What a model call is for."""

    PLANNER = "planner"
    SYNTHESIS = "synthesis"
    """Calls of tools, the final report among them."""
    STEPS = "steps"
    """Steps of an agent loop."""
    JUDGE = "judge"
    """Checks of a report."""


ModelName = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^\P{C}+$")]
"""One printable name, as the model's server knows it."""


class ModelChoice(BaseModel):
    """The models that a run asks for; what it does not name is the worker's choice."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    by_role: dict[ModelRole, ModelName] = {}
    fallback: ModelName | None = None
    """Asked when the provider of a role's model fails."""


NO_CHOICE = ModelChoice()


def no_choice() -> ModelChoice:
    """Return the choice of a run that leaves all models to the worker; pydantic would copy a plain default."""
    return NO_CHOICE
