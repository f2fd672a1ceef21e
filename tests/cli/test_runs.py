"""What a run answers, without a server."""

from datetime import UTC, datetime
from typing import Any, cast

import pytest
from pydantic import TypeAdapter
from temporalio.client import Client, WorkflowUpdateRPCTimeoutOrCancelledError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from activities.artifact_folders import Owner
from activities.artifacts import ArtifactStore
from cli import runs
from cli.exit_codes import ExitCode, Refusal
from cli.run_kinds import KINDS, Mode
from cli.runs import Run
from harness.artifact import Artifact
from harness.budget import BudgetSnapshot, Extension
from harness.loop import LoopPhase, LoopView
from harness.run import RunPhase, RunResult, RunView
from harness.trace import TraceEvent, TraceKind, TracePage
from harness.trace_log import TraceSlice
from tests.builders import NO_BUDGET
from tests.cli.stub_loop_workflow import STEPS
from workflows.data_converter import data_converter

STORE = ArtifactStore.open("memory://")
MORE = Extension(message_id="one", tokens=5)


class Handle:
    """Answers as the workflow would."""

    def __init__(
        self, *, events: int = 0, paged: int = 0, page: int = 10, fails: list[Exception] | None = None
    ) -> None:
        self.trace = tuple(map(event, range(events)))
        self.paged, self.page, self.fails = paged, page, fails or []
        self.pages: tuple[TracePage, ...] = ()
        self.moves = 0
        """How often events go into another page while they are read."""
        self.ids: list[str] = []

    async def query(self, name: str, after: int = 0, **_: object) -> TraceSlice | RunView:
        if name == "state":
            await self.keep()
            return RunView(
                run_id="run-1",
                session_id="",
                goal="g",
                phase=RunPhase.EXECUTING,
                attempt=0,
                budget=NO_BUDGET,
                trace_pages=self.pages,
            )
        if self.moves:
            self.moves, self.paged = self.moves - 1, self.paged + 3
        first = max(after, self.paged)
        return TraceSlice(first=first, events=self.trace[first : first + 10])

    async def keep(self) -> None:
        """Put the paged events into pages of the store, at most two in each."""
        pages = list(self.pages) if not self.paged else []
        for start in range(0, self.paged, 2):
            events = self.trace[start : min(start + 2, self.paged)]
            data = TypeAdapter(tuple[TraceEvent, ...]).dump_json(events)
            digest = await STORE.put(Owner("default", "run-1"), data)
            pages.append(TracePage(artifact=Artifact(digest=digest, size=len(data)), events=len(events)))
        self.pages = tuple(pages)

    async def execute_update(self, _name: str, _more: Extension, *, id: str, **_: object) -> BudgetSnapshot:
        self.ids.append(id)
        if self.fails:
            raise self.fails.pop(0)
        return NO_BUDGET

    async def describe(self, **_: object) -> Any:
        return Described()

    async def result(self) -> RunResult:
        if self.fails:
            raise self.fails.pop(0)
        known = {"run_id": "run-1", "session_id": "", "status": "SUCCEEDED", "report": "found", "budget": NO_BUDGET}
        return RunResult.model_validate({**known, "trace": [{"kind": "newer"}]})


class Described:
    workflow_type = "OrchestratorWorkflow"

    async def memo(self) -> dict[str, str]:
        return {"status": "SUCCEEDED"}


class HandleClient:
    namespace = "default"
    data_converter = data_converter(STORE)

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def get_workflow_handle(self, _run_id: str, **_: Any) -> Handle:
        return self._handle


def event(number: int) -> TraceEvent:
    return TraceEvent(
        timestamp=datetime.fromtimestamp(number, UTC),
        run_id="run-1",
        session_id="",
        attempt=0,
        kind=TraceKind.NODE_START,
        status="RUNNING",
        message=str(number),
        budget=NO_BUDGET,
    )


def run_of(handle: Handle) -> Run:
    return Run(cast("Client", HandleClient(handle)), "run-1")


class LoopHandle(Handle):
    """Answers as an agent loop would whose calls have ended in another order."""

    async def query(self, *_: object, **__: object) -> LoopView:  # type: ignore[override]
        plain = {"run_id": "run-1", "session_id": "", "goal": "g", "phase": LoopPhase.ACTING, "max_steps": 20}
        return LoopView.model_validate({**plain, "steps": STEPS[::-1], "budget": NO_BUDGET})


async def test_calls_of_a_loop_under_way_are_listed_by_step_and_place() -> None:
    view = await Run(cast("Client", HandleClient(LoopHandle())), "run-1", KINDS[Mode.LOOP]).state()

    assert isinstance(view, LoopView)
    assert view.steps == STEPS


@pytest.mark.parametrize("paged", [0, 1, 7, 10, 13, 24, 25])
async def test_whole_trace_holds_every_event_once_also_those_in_pages(paged: int) -> None:
    events = await run_of(Handle(events=25, paged=paged)).whole_trace()

    assert [int(event.message or "") for event in events] == list(range(25))


async def test_whole_trace_is_read_again_when_events_go_into_a_page_meanwhile() -> None:
    handle = Handle(events=25, paged=4)
    handle.moves = 3

    events = await run_of(handle).whole_trace()

    assert [int(event.message or "") for event in events] == list(range(25))
    assert handle.moves == 0


async def test_a_trace_whose_page_is_lost_is_refused_in_one_line() -> None:
    handle = Handle(events=5, paged=4)
    await handle.keep()
    lost = Artifact(digest="0" * 64, size=1)
    handle.pages = (TracePage(artifact=lost, events=2), *handle.pages[1:])
    handle.paged = 0

    with pytest.raises(Refusal, match=f"^Part of the trace of run run-1 cannot be read: .*{lost.digest}"):
        await run_of(handle).whole_trace()


@pytest.mark.parametrize(
    "status",
    [
        RPCStatusCode.RESOURCE_EXHAUSTED,
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.ABORTED,
    ],
)
async def test_extension_is_sent_again_under_its_id(monkeypatch: pytest.MonkeyPatch, status: RPCStatusCode) -> None:
    monkeypatch.setattr(runs, "SEND_PAUSE_S", 0)
    handle = Handle(fails=[RPCError("busy", status, b"")] * 2)

    assert await run_of(handle).extend(MORE) == NO_BUDGET
    assert handle.ids == ["one"] * 3


@pytest.mark.parametrize(
    "error", [RPCError("busy", RPCStatusCode.UNAVAILABLE, b""), WorkflowUpdateRPCTimeoutOrCancelledError()]
)
async def test_extension_without_an_answer_is_not_called_refused(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(runs, "SEND_PAUSE_S", 0)
    handle = Handle(fails=[error] * 99)

    with pytest.raises(
        Refusal, match=r"^It is not known whether run run-1 was extended .* starter.py show run-1$"
    ) as it:
        await run_of(handle).extend(MORE)
    assert it.value.code is ExitCode.FAILED
    assert len(handle.ids) <= runs.SENDS


async def test_extension_that_the_server_refuses_is_not_sent_again() -> None:
    handle = Handle(fails=[RPCError("no", RPCStatusCode.PERMISSION_DENIED, b"")])

    with pytest.raises(RPCError, match="no"):
        await run_of(handle).extend(MORE)
    assert handle.ids == ["one"]


@pytest.mark.parametrize(
    ("error_type", "code"),
    [("ARTIFACT_LOST", ExitCode.USAGE), ("PROVIDER_UNAVAILABLE", ExitCode.FAILED)],
)
async def test_a_result_that_cannot_be_read_is_one_line(error_type: str, code: ExitCode) -> None:
    run = run_of(Handle(fails=[ApplicationError("the store is elsewhere", type=error_type)]))

    with pytest.raises(Refusal) as refusal:
        await run.result()

    assert refusal.value.code is code
    assert refusal.value.message == (
        "Run run-1 has ended SUCCEEDED, but its result cannot be read: the store is elsewhere."
    )


async def test_a_trace_of_another_version_costs_a_line_and_no_report(capsys: pytest.CaptureFixture[str]) -> None:
    result = await run_of(Handle()).result()

    assert result.report == "found"
    assert len(result.trace) == 0
    assert "The trace of run run-1 is of another version and cannot be read: " in capsys.readouterr().err
