"""Everything that runs have done for them, as one thing that a worker serves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from activities.artifacts import ArtifactStore
from activities.guardrails.chain import Guardrails
from activities.live_toolkit import LiveToolkit
from activities.loop.loop_activities import LoopActivities
from activities.model.cards import ModelCards
from activities.model.request import Model
from activities.rate_gate import RateGate
from activities.run_activities import RunActivities
from activities.state_pages import StateActivities
from activities.tool_call import ToolActivities
from activities.toolkit import Toolkit
from harness.model_choice import ModelChoice
from harness.rate_limits import limits_of


@dataclass(frozen=True)
class Activities:
    """The activities of one worker."""

    runs: RunActivities
    tools: ToolActivities
    states: StateActivities
    loops: LoopActivities
    limits: Mapping[str, float] = field(default_factory=dict)
    """Calls a second of each rate limit, by its name; a live toolkit has all its limits from its start."""
    gate: RateGate = field(default_factory=RateGate)
    """The gate that calls with a rate limit pass."""

    @classmethod
    def of(
        cls,
        kit: Toolkit | LiveToolkit,
        model: Model,
        cards: Callable[[ModelChoice], ModelCards],
        store: ArtifactStore,
        *,
        name: str | None = None,
        secrets: tuple[str, ...] = (),
        gate: RateGate | None = None,
        model_rate: float | None = None,
        guardrails: Guardrails | None = None,
    ) -> "Activities":
        """Serve one toolkit, under another name than its own if that is given; a live one has its name already.

        `gate` is that of the model, and `model_rate` what the model takes a second, if it has a limit. Without
        guardrails given, there are the usual ones without an audit log.
        """
        rails = guardrails or Guardrails.of(store)
        gate, tools = gate or RateGate(), kit.by_name()
        kits: Mapping[str, Toolkit] = kit if isinstance(kit, LiveToolkit) else {name or kit.name: kit}
        return cls(
            RunActivities(kits, model, cards, store, secrets=secrets, model_rate=model_rate, guardrails=rails),
            ToolActivities(tools, model, store, secrets=secrets, gate=gate, guardrails=rails),
            StateActivities(store, secrets=secrets),
            LoopActivities(model, store, guardrails=rails, secrets=secrets),
            limits_of([tool.spec for tool in tools.values()], model_rate),
            gate,
        )

    @property
    def functions(self) -> list[Callable[..., object]]:
        """Return what a worker registers."""
        runs, states, loops = self.runs, self.states, self.loops
        return [
            runs.describe_catalog,
            runs.draft_plan,
            runs.route_tools,
            runs.verify_report,
            self.tools.call_tool,
            states.keep_state,
            states.load_state,
            loops.begin_loop,
            loops.take_step,
            loops.summarise_steps,
            loops.remember,
            loops.recall,
        ]
