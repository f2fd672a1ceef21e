"""The activities of an agent loop with a scripted model, without a server."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar

from pydantic import JsonValue
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.artifact_folders import Owner
from activities.artifacts import ArtifactStore
from activities.guardrails.chain import Guardrails
from activities.loop.loop_activities import LoopActivities
from activities.model.request import ModelAnswer, ModelCall, ModelError, ModelRequest
from harness.artifact import Artifact
from harness.catalog import Catalog
from harness.conversation import Conversation
from harness.loop_calls import BeginRequest, CallResult, StepReply, StepRequest, SummariseReply, SummariseRequest
from harness.usage import TryRecord, Usage
from tests.builders import TEXT, catalog, tool_spec

USAGE = Usage(model="scripted", input_tokens=100, output_tokens=50)
TOOLS = catalog(tool_spec("read", parameters={"q": TEXT}), tool_spec("price", parameters={"item": TEXT}))
_runs = count(1)

Request = TypeVar("Request")
Reply = TypeVar("Reply")


def calls(*named: tuple[str, str]) -> ModelAnswer:
    """Return an answer with calls, each a tool and the JSON text of its arguments."""
    return ModelAnswer("", USAGE, calls=tuple(ModelCall(f"x{i}", tool, text) for i, (tool, text) in enumerate(named)))


def says(text: str) -> ModelAnswer:
    """Return an answer without calls."""
    return ModelAnswer(text, USAGE, model="scripted-1", finish_reason="stop", latency_ms=7)


@dataclass
class Script:
    """A model that answers by a script; the last entry repeats."""

    answers: list[ModelAnswer | ModelError]
    requests: list[ModelRequest] = field(default_factory=list)

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Answer the next entry."""
        answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        if isinstance(answer, ModelError):
            raise answer
        return answer


@dataclass
class Loop:
    """One agent loop, driven by a test as the workflow drives it."""

    model: Script
    store: ArtifactStore
    activities: LoopActivities
    run_id: str
    frame: Artifact
    soft: int = 8000
    hard: int = 12_000
    max_tokens: int = 100_000
    conversation: Artifact | None = None
    facts: Artifact | None = None
    step: int = 0

    @property
    def seen(self) -> ModelRequest:
        """Return the newest request that the model has seen."""
        return self.model.requests[-1]

    async def take(self, *results: CallResult, **more: Any) -> StepReply:
        """Take the next step, after these results."""
        reply = await self.try_step(self.step + 1, results, **more)
        self.step, self.conversation = self.step + 1, reply.conversation
        return reply

    async def try_step(self, step: int, results: Sequence[CallResult], **more: Any) -> StepReply:
        """Take a step without going on to the next one."""
        return await self.run(self.activities.take_step, self.request(step, results, **more))

    def request(self, step: int, results: Sequence[CallResult], **more: Any) -> StepRequest:
        """Return the request of a step."""
        limits = {"soft_tokens": self.soft, "hard_tokens": self.hard, **self.limits} | more
        references = {"frame": self.frame, "conversation": self.conversation, "facts": self.facts}
        return StepRequest(**references, step=step, results=tuple(results), **limits)

    async def summarise(self, **more: Any) -> SummariseReply:
        """Have older steps summarised."""
        asked = {"frame": self.frame, "conversation": self.conversation, "facts": self.facts, "soft_tokens": self.soft}
        reply = await self.run(self.activities.summarise_steps, SummariseRequest(**asked | self.limits | more))
        self.conversation = reply.conversation
        return reply

    @property
    def limits(self) -> dict[str, Any]:
        """Return the limits of a model call."""
        return {"max_output_tokens": 1000, "max_tokens": self.max_tokens, "timeout": timedelta(seconds=5)}

    async def run(self, activity: Callable[[Request], Awaitable[Reply]], request: Request, **info: Any) -> Reply:
        """Run an activity in this run."""
        reply: Reply = await environment(self.run_id, **info).run(activity, request)
        return reply

    async def kept(self) -> Conversation:
        """Return the conversation as it is kept."""
        assert self.conversation is not None
        return Conversation.model_validate_json(await self.bytes_of(self.conversation))

    async def bytes_of(self, artifact: Artifact) -> bytes:
        """Return what is kept."""
        return await self.store.get(Owner("default", self.run_id), artifact.digest)

    async def put(self, data: bytes) -> Artifact:
        """Keep bytes as a tool's activity does with a large result."""
        digest = await self.store.put(Owner("default", self.run_id), data)
        return Artifact(digest=digest, size=len(data), preview=data[:200].decode())


def environment(run_id: str, *, try_number: int = 1, earlier: tuple[TryRecord, ...] = ()) -> ActivityEnvironment:
    """Return an environment in which a try runs."""
    env, now = ActivityEnvironment(), datetime.now(UTC)
    env.info = replace(
        env.info,
        workflow_id=run_id,
        attempt=try_number,
        heartbeat_details=[[record.model_dump(mode="json") for record in earlier]] if earlier else [],
        started_time=now,
        current_attempt_scheduled_time=now,
    )
    return env


async def begin(
    *answers: ModelAnswer | ModelError,
    goal: str = "Find out what tea costs.",
    tools: Catalog = TOOLS,
    given: dict[str, JsonValue] | None = None,
    guardrails: Callable[[ArtifactStore], Guardrails] = Guardrails.of,
    **limits: int,
) -> Loop:
    """Begin a loop whose model answers by a script."""
    store, model, run_id = ArtifactStore.open("memory://"), Script(list(answers)), f"loop-{next(_runs)}"
    activities = LoopActivities(model, store, guardrails=guardrails(store))
    request = BeginRequest(goal=goal, catalog=tools, given=given or {})
    begun = await environment(run_id).run(activities.begin_loop, request)
    return Loop(model, store, activities, run_id, begun.frame, **limits)


def result(identity: str, value: JsonValue, tool: str = "read") -> CallResult:
    """Return a small result."""
    return CallResult(id=identity, tool=tool, value=value)


async def failure(call: Awaitable[object]) -> ApplicationError:
    """Return the error of an activity that fails."""
    try:
        reply = await call
    except ApplicationError as error:
        return error
    raise AssertionError(f"it gave {reply}")
