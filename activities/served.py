"""Everything that runs have done for them, as one thing that a worker serves."""

from collections.abc import Callable
from dataclasses import dataclass

from activities.artifacts import ArtifactStore
from activities.model.cards import ModelCards
from activities.model.request import Model
from activities.run_activities import RunActivities
from activities.state_pages import StateActivities
from activities.tool_call import ToolActivities
from activities.toolkit import Toolkit
from harness.model_choice import ModelChoice


@dataclass(frozen=True)
class Activities:
    """The activities of one worker."""

    runs: RunActivities
    tools: ToolActivities
    states: StateActivities

    @classmethod
    def of(
        cls,
        kit: Toolkit,
        model: Model,
        cards: Callable[[ModelChoice], ModelCards],
        store: ArtifactStore,
        *,
        name: str | None = None,
        secrets: tuple[str, ...] = (),
    ) -> "Activities":
        """Serve one toolkit, under another name than its own if that is given."""
        return cls(
            RunActivities({name or kit.name: kit}, model, cards, store, secrets=secrets),
            ToolActivities(kit.by_name(), model, store, secrets=secrets),
            StateActivities(store, secrets=secrets),
        )

    @property
    def functions(self) -> list[Callable[..., object]]:
        """Return what a worker registers."""
        runs, states = self.runs, self.states
        return [
            runs.describe_catalog,
            runs.draft_plan,
            runs.verify_report,
            self.tools.call_tool,
            states.keep_state,
            states.load_state,
        ]
