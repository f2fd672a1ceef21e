"""Agent loops without a workflow: replies of a model, and a driver that performs effects in a test."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pydantic import JsonValue

from harness.agent_carry import AgentCarry
from harness.agent_state import AgentState, next_effect
from harness.artifact import Artifact
from harness.call_check import CallRules
from harness.catalog import ToolSpec
from harness.errors import ErrorCode
from harness.guardrail import GuardReport
from harness.loop_calls import CallResult, StepReply, SummariseReply, ToolCall
from harness.loop_effects import Ask, Closing, Effect, End, Hinted, Refused, RunCalls, Summarise
from harness.loop_options import LoopOptions
from harness.memory import MEMORY_TOOLS
from tests.builders import LIST, NUMBER, TEXT, tool_spec

CONVERSATION = Artifact(digest="0" * 64, size=1)
TOOLS = (
    tool_spec("search", parameters={"query": TEXT, "page": NUMBER}, optional=("query", "page")),
    tool_spec("get_price", parameters={"title": TEXT}),
    tool_spec("now"),
    tool_spec("plot", parameters={"points": LIST}),
)
Arguments = dict[str, JsonValue]


@dataclass(frozen=True)
class Outcome:
    """What a made call gives."""

    value: JsonValue = None
    code: ErrorCode | None = None
    message: str = ""
    is_new_fact: bool = False


@dataclass(frozen=True)
class Failure:
    """A model call that fails."""

    code: ErrorCode
    message: str = "it failed"


@dataclass(frozen=True)
class Wanted:
    """A call that a model asks for, and what comes of it."""

    tool: str
    arguments: Arguments = field(default_factory=dict)
    outcome: Outcome = Outcome("found")
    problem: str = ""


@dataclass(frozen=True)
class Turn:
    """A turn of a model."""

    calls: tuple[Wanted, ...] = ()
    answer: str | None = None
    problem: str = ""
    ungrounded: tuple[str, ...] = ()
    context_tokens: int = 100


def turn(*calls: Wanted) -> Turn:
    """Return a turn with these calls."""
    return Turn(calls)


def answer(text: str, *ungrounded: str) -> Turn:
    """Return a turn with an answer, with such figures that come from nowhere."""
    return Turn(answer=text, ungrounded=ungrounded)


def rules_of(*tools: ToolSpec) -> CallRules:
    """Return the rules of calls where these tools are offered beside the built-in ones."""
    return CallRules((*tools, *MEMORY_TOOLS))


def begin(options: LoopOptions | None = None, tools: tuple[ToolSpec, ...] = TOOLS, tokens: int = 100) -> AgentState:
    """Return a loop before its first step."""
    return AgentState.begin(options or LoopOptions(), rules_of(*tools), tokens)


def as_it_is(state: AgentState) -> AgentState:
    """Return a state without continuing as new."""
    return state


def carried(state: AgentState) -> AgentState:
    """Return a state as it is after continue-as-new, through JSON."""
    carry = AgentCarry.model_validate_json(state.carry().model_dump_json(exclude_defaults=True))
    return AgentState.resume(carry, state.options, rules_of(*TOOLS))


@dataclass
class Driver:
    """Performs the effects of a loop with scripted turns, and notes what happens."""

    state: AgentState
    between: Callable[[AgentState], AgentState] = as_it_is
    """What happens to the state after each thing it is told."""
    summary_tokens: int = 50
    effects: list[Effect] = field(default_factory=list)
    told: list[Refused | Hinted | Closing] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def run(self, turns: Iterable[Turn | Failure]) -> End:
        """Go on until the end; a closing call after the last turn is answered."""
        script = iter(turns)
        while not isinstance(effect := next_effect(self.state), End):
            self.effects.append(effect)
            self.perform(effect, script)
        return effect

    def perform(self, effect: Ask | RunCalls | Summarise, script: "Iterable[Turn | Failure]") -> None:
        """Perform one effect."""
        match effect:
            case Ask():
                self._ask(effect, next(iter(script), answer("out of turns")))
            case RunCalls():
                for call in effect.calls:
                    self._call(call)
            case Summarise():
                reply = SummariseReply(conversation=CONVERSATION, context_tokens=self.summary_tokens, summarised=1)
                self.state.summarised(reply)
                self._pass()

    def asks(self) -> list[Ask]:
        """Return what the model was asked."""
        return [effect for effect in self.effects if isinstance(effect, Ask)]

    def hints(self) -> list[str]:
        """Return what the model was told beside results."""
        return [each.text for each in self.told if isinstance(each, Hinted)]

    def closings(self) -> list[Closing]:
        """Return why the loop was closed."""
        return [each for each in self.told if isinstance(each, Closing)]

    def refusals(self) -> list[CallResult]:
        """Return the results of calls that were not made."""
        return [each.result for each in self.told if isinstance(each, Refused)]

    def _ask(self, ask: Ask, given: Turn | Failure) -> None:
        if isinstance(given, Failure):
            self.told += self.state.model_failed(given.code, given.message)
        else:
            self.told += self.state.answered(self._reply(ask, given))
        self._pass()

    def _reply(self, ask: Ask, given: Turn) -> StepReply:
        calls = []
        for place, wanted in enumerate(given.calls, 1):
            call = ToolCall(
                id=f"{ask.step}.{place}", tool=wanted.tool, arguments=wanted.arguments, problem=wanted.problem
            )
            self.outcomes[call.id] = wanted.outcome
            calls.append(call)
        return StepReply(
            conversation=CONVERSATION,
            calls=tuple(calls),
            answer=given.answer,
            problem=given.problem,
            context_tokens=given.context_tokens,
            guard=GuardReport(ungrounded=given.ungrounded) if given.ungrounded else None,
        )

    def _call(self, call: ToolCall) -> None:
        outcome = self.outcomes[call.id]
        result = CallResult(id=call.id, tool=call.tool, value=outcome.value, code=outcome.code, message=outcome.message)
        self.told += self.state.called(result, digest=repr(outcome.value), is_new_fact=outcome.is_new_fact)
        self._pass()

    def _pass(self) -> None:
        self.state = self.between(self.state)


SEARCH = Wanted("search", {"query": "a"}, Outcome("found"))
BAD = Turn(problem="the output is empty")
TRUNCATED = Failure(ErrorCode.OUTPUT_TRUNCATED, "cut after 1000 tokens")
OVERFLOW = Failure(ErrorCode.CONTEXT_OVERFLOW, "the prompt has 9000 tokens")


def pages(number: int, tokens: int = 100) -> list[Turn]:
    """Return so many turns, each of which finds something new."""
    return [
        Turn((Wanted("search", {"page": page}, Outcome([page])),), context_tokens=tokens)
        for page in range(1, number + 1)
    ]


def replied(step: int, *calls: tuple[str, Arguments]) -> StepReply:
    """Return a reply with calls of such tools and arguments."""
    made = [ToolCall(id=f"{step}.{place}", tool=tool, arguments=given) for place, (tool, given) in enumerate(calls, 1)]
    return StepReply(conversation=CONVERSATION, calls=tuple(made), context_tokens=100)
