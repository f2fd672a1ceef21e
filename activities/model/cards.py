"""Cards: the models of one run, as its catalog pins them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.catalog import ModelCard
from harness.model_choice import ModelRole


@dataclass(frozen=True)
class ModelCards:
    """The models of one run."""

    planner: ModelCard
    by_role: Mapping[ModelRole, ModelCard] = field(default_factory=dict)
    """Those of the roles that have another one than the planner."""
    fallback: ModelCard | None = None
