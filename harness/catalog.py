"""The catalog: the tools of one run as data, pinned in history at the start of each attempt."""

from datetime import timedelta
from decimal import Decimal
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from harness.model_choice import ModelRole

JsonSchema = dict[str, JsonValue]


class ToolRole(StrEnum):
    """What a tool's result is for."""

    DATA = "DATA"
    EVIDENCE = "EVIDENCE"
    ANALYSIS = "ANALYSIS"
    HYPOTHESIS_TEST = "HYPOTHESIS_TEST"
    FINAL_SYNTHESIS = "FINAL_SYNTHESIS"
    """Writes the report. A plan has exactly one such node; its result is an object with a text field `report`."""


class Effect(StrEnum):
    """What a tool may do to the world. Decides retries and reuse."""

    READ = "READ"
    IDEMPOTENT_WRITE = "IDEMPOTENT_WRITE"
    """May be repeated with the same idempotency key without a second effect."""
    WRITE = "WRITE"
    """Must never be repeated: one try, and a lost worker gives UNCERTAIN_EFFECT."""


class Backoff(BaseModel):
    """How long the next try of a failed call waits: `first`, doubling to `limit`, with jitter."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    first: timedelta = Field(default=timedelta(seconds=1), gt=timedelta(0), le=timedelta(hours=1))
    limit: timedelta = Field(default=timedelta(seconds=30), gt=timedelta(0), le=timedelta(hours=24))


USUAL_BACKOFF = Backoff()


class RateLimit(BaseModel):
    """How often a tool may be called, by all workers together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")
    """Tools with the same name share the limit."""
    per_second: float = Field(gt=0, le=10_000, allow_inf_nan=False)


class ToolSpec(BaseModel):
    """One tool as the planner, the validator and the scheduler see it."""

    model_config = ConfigDict(frozen=True)

    name: str
    description: str
    parameters: JsonSchema
    """JSON schema of the arguments, an object schema."""
    result: JsonSchema
    """JSON schema of the result."""
    role: ToolRole = ToolRole.DATA
    effect: Effect = Effect.READ
    timeout: timedelta = timedelta(seconds=5)
    """Time limit of one try."""
    max_tries: int = Field(default=3, ge=1, le=20)
    """Tries of one dispatch, the first included. A WRITE always has one."""
    version: str = "1"
    """Results are reused only between equal versions."""
    ageing: bool = False
    """True for a READ whose answer grows stale (the time, live prices): never reused."""
    max_model_tokens: int = 0
    """Most tokens, prompt and output together, that one try may use on models. 0 means that it calls none."""
    toolkit: str = ""
    """The toolkit that it comes from."""
    backoff: Backoff = USUAL_BACKOFF
    """Waits between tries."""
    rate_limit: RateLimit | None = None
    """How often it may be called; None for as often as workers can."""
    max_result_bytes: int | None = Field(default=None, ge=1)
    """Largest encoded result, where that is less than the run's own limit."""
    permission: str = Field(default="", max_length=100)
    """What a run must be granted to use the tool; empty for nothing beyond its name."""
    needs_approval: bool | None = None
    """Whether a person must approve a call; None leaves it to the effect."""

    @property
    def tries(self) -> int:
        """Return how often one dispatch may try, by effect."""
        return 1 if self.effect is Effect.WRITE else self.max_tries

    @property
    def is_reusable(self) -> bool:
        """Return whether a DONE result may serve a later attempt of the same run."""
        is_stale = self.ageing and self.effect is Effect.READ
        return self.role is not ToolRole.FINAL_SYNTHESIS and not is_stale

    @property
    def parameter_schemas(self) -> dict[str, JsonSchema]:
        """Return the schema of each parameter by name, in declaration order."""
        properties = self.parameters.get("properties")
        if not isinstance(properties, dict):
            return {}
        return {name: schema for name, schema in properties.items() if isinstance(schema, dict)}

    @property
    def required_parameters(self) -> tuple[str, ...]:
        """Return the names of the required parameters, in declaration order."""
        required = self.parameters.get("required")
        names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        return tuple(name for name in self.parameter_schemas if name in names)


class ModelCard(BaseModel):
    """A model that serves a run, as far as the budget must know it."""

    model_config = ConfigDict(frozen=True)

    name: str
    offline: bool = False
    input_token_usd: Decimal | None = None
    """Price of one prompt token; None means unknown, which is never counted as free."""
    output_token_usd: Decimal | None = None
    """Price of one output token; None means unknown."""

    @property
    def token_usd(self) -> Decimal:
        """Return the most that one token can cost; 0 when that is unknown, where the token limit alone bounds a run."""
        return max(self.input_token_usd or Decimal(0), self.output_token_usd or Decimal(0))


class Withheld(BaseModel):
    """A tool that the run may not use."""

    model_config = ConfigDict(frozen=True)

    name: str
    reason: str
    """Why, and how it would be allowed."""


class Catalog(BaseModel):
    """The tools a run may use, with what the planner is told beside them."""

    model_config = ConfigDict(frozen=True)

    toolkit: str
    tools: tuple[ToolSpec, ...]
    model: ModelCard
    """The model that plans."""
    role_models: dict[ModelRole, ModelCard] = {}
    """The models of the roles that have another one than the planner."""
    fallback: ModelCard | None = None
    """The model that is asked when the provider of another one fails."""
    guidance: str = ""
    """The toolkit's advice to the planner."""
    has_verifier: bool = False
    """True when the toolkit checks reports by rules of its own."""
    withheld: tuple[Withheld, ...] = ()
    """Tools of the toolkit that the run may not use; the planner is not told of them."""
    unmatched_patterns: tuple[str, ...] = ()
    """Patterns of the run, for tools that it may use or not, that match no tool of the toolkit."""
    left_out: tuple[str, ...] = ()
    """Tools that the run may use, but that are not in `tools` because others suit the goal better."""
    model_rate: float | None = None
    """Requests a second that the models take, from all workers together; None for any number."""

    def tool(self, name: str) -> ToolSpec | None:
        """Return the tool of that exact name, or None."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def card_of(self, role: ModelRole) -> ModelCard:
        """Return the card by which calls of a role are reserved: the dearer one of its model and the fallback."""
        card = self.role_models.get(role, self.model)
        return max(card, self.fallback or card, key=lambda each: each.token_usd)
