"""Agent loops at the command line."""

import asyncio
import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from activities.artifact_folders import Owner
from activities.artifacts import ArtifactStore
from cli.answer_notes import answer_notes
from cli.loop_story import story_of_loop_result, story_of_loop_view
from cli.step_pages import in_order
from harness.artifact import Artifact
from harness.loop import LoopPhase, LoopResult, LoopStatus, LoopView, StepPage, StepRecord
from harness.trace import TraceEvent, TraceKind
from tests.builders import NO_BUDGET, event
from tests.cli.conftest import CommandLine
from tests.cli.shell import Shell, started_run
from tests.cli.stub_loop_workflow import STEPS
from tests.cli.test_stats import told_server

SHOWN = (
    "\n"
    "Steps\n"
    "  call  tool    ok   tries  latency  arguments                                    note\n"
    '  1.1   search  yes  1      12 ms    {"query": "a \\u001b[31mcalm\\u001b[0m game"}  {"found": 3}\n'
    f"  1.2   read    yes  2      5 ms                                                  artifact {'a' * 64}"
    " (20,000 bytes)\n"
    "  2.1   serach  no   0                                                            "
    "UNKNOWN_TOOL tool 'serach' is unknown; did you mean search?\n"
    "\n"
    "Answer\n"
    "The answer\n"
)


@pytest.mark.usefixtures("kept_server")
def test_a_loop_that_has_ended_is_shown_traced_and_watched_from_its_stored_result(command_line: CommandLine) -> None:
    started = command_line("--goal", "any thing", "--mode", "loop", "--json")
    run_id = LoopResult.model_validate_json(started.answer).run_id

    shown = command_line("show", run_id)
    told = command_line("show", run_id, "--json")
    traced = command_line("trace", run_id)
    lines = command_line("trace", run_id, "--json").answer.splitlines()
    watched = command_line("watch", run_id)

    assert started.code == shown.code == traced.code == watched.code == 0
    assert shown.answer.startswith(
        f"Run {run_id}: COMPLETED after 2 steps\nGoal: any thing\nModel: stub\nGuardrails: injection, pii\n"
    )
    assert SHOWN in shown.answer
    assert "with \\x1b[31mred" in shown.answer
    assert LoopResult.model_validate_json(told.answer).steps == STEPS
    assert [line.split("  ", 1)[1] for line in traced.answer.splitlines()] == [
        "run.start  STARTED  run started",
        "step.finish  step 1  DONE  wants search, serach",
        "call.refuse  1.2 serach  REFUSED  there is no such tool",
        "node.finish  1.1 search  DONE  12 ms",
        "run.finish  COMPLETED  \\x1b[31mrun\\x1b[0m finished",
    ]
    assert len([TypeAdapter(TraceEvent).validate_json(line) for line in lines]) == 5
    assert watched.answer.startswith("The answer")


def test_a_loop_under_way_is_shown_and_extended(shell: Shell, command_line: CommandLine) -> None:
    with shell.running("--goal", "sleep 2", "--mode", "loop", "--max-steps", "7") as starter:
        run_id = started_run(starter)
        extended = command_line("extend", run_id, "--tokens", "5", "--json")
        shown = command_line("show", run_id)
        told = command_line("show", run_id, "--json")
        traced = command_line("trace", run_id)
        assert starter.wait(20) == 0

    assert json.loads(extended.answer)["max_tokens"] == 20_005, extended.said
    assert shown.answer.startswith(
        f"Run {run_id}: ACTING, step 2 of 7\nGoal: sleep 2\nModel: stub\nContext: about 1,234 tokens\nAt work: search\n"
    )
    assert f"these are the newest 1 calls; python starter.py trace {run_id} tells of all" in shown.answer
    assert LoopView.model_validate_json(told.answer).budget.max_tokens == 20_005
    assert "run.start" in traced.answer


def test_a_loop_is_cancelled_by_its_id(shell: Shell, command_line: CommandLine) -> None:
    with shell.running("--goal", "sleep 60", "--mode", "loop") as starter:
        run_id = started_run(starter)
        done = command_line("cancel", run_id)
        assert starter.wait(20) == 4

    assert done.code == 0, done.said
    assert f"Run {run_id} ended CANCELLED" in done.said
    assert command_line("cancel", run_id) == (2, "", f"Run {run_id} has ended already: CANCELLED.\n")


@pytest.mark.usefixtures("kept_server")
@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("COMPLETED", 0),
        ("MAX_STEPS_EXCEEDED", 1),
        ("TIMEOUT", 1),
        ("NO_PROGRESS", 1),
        ("FAILED", 1),
        ("BUDGET_EXHAUSTED", 3),
        ("CANCELLED", 4),
    ],
)
def test_the_exit_code_tells_how_a_loop_ended_and_a_partial_answer_is_named_so(
    command_line: CommandLine, status: str, code: int
) -> None:
    done = command_line("--goal", f"end {status}", "--mode", "loop")

    ended = f"{status} (GUARDRAIL_BLOCKED)" if status == "FAILED" else status
    note = f"The answer is partial, the run ended {ended}: as asked"
    assert done.code == code, done.said
    assert done.answer.startswith("The answer\n")
    assert f"ended {ended}{': as asked (' if code else ' ('}tokens" in done.said.splitlines()[-1]
    assert (note in done.said.splitlines()) == (status != "COMPLETED")


@pytest.mark.usefixtures("kept_server")
def test_an_error_is_shown_with_its_class_and_code(command_line: CommandLine) -> None:
    run_id = command_line("--goal", "end FAILED", "--mode", "loop").said.splitlines()[-1].split()[1]

    assert "\nError: FATAL GUARDRAIL_BLOCKED: as asked\n" in command_line("show", run_id).answer
    assert command_line("cancel", run_id).said == f"Run {run_id} has ended already: FAILED (GUARDRAIL_BLOCKED).\n"


@pytest.mark.usefixtures("kept_server")
def test_calls_that_ended_in_another_order_are_listed_by_step_and_place(command_line: CommandLine) -> None:
    told = command_line("--goal", "crossed", "--mode", "loop", "--json")
    result = LoopResult.model_validate_json(told.answer)

    assert result.steps == STEPS
    assert SHOWN in command_line("show", result.run_id).answer


def test_the_tenth_call_of_a_step_comes_after_the_ninth() -> None:
    records = [STEPS[0].model_copy(update={"number": 3, "call": call}) for call in ("3.10", "3.9", "3.1")]

    assert [record.call for record in in_order((*records, STEPS[0]))] == ["1.1", "3.1", "3.9", "3.10"]


@pytest.mark.usefixtures("kept_server")
def test_what_the_guardrails_found_is_told_beside_the_answer(command_line: CommandLine) -> None:
    done = command_line("--goal", "doubtful", "--mode", "loop")

    ungrounded, finds, outcome = done.said.splitlines()[-3:]
    run_id = outcome.split()[1]
    assert done.code == 0
    assert ungrounded == "Ungrounded: no result, goal or memory has these figures of the answer: 42, 12 USD"
    assert finds == (
        "Guardrails found: injection: search 1.0: \\x1b[31morders; injection: search 1.1: \\x1b[31morders; "
        f"injection: search 1.2: \\x1b[31morders; and 2 more. All of it: python starter.py trace {run_id}"
    )
    assert "FLAGGED  6 findings  injection: search 1.0: \\x1b[31morders  injection: search 1.1" in done.said
    assert "Ungrounded: 42, 12 USD\n" in command_line("show", run_id).answer


def result_of_loop(**fields: object) -> LoopResult:
    plain = {"run_id": "run-1", "session_id": "", "status": LoopStatus.COMPLETED, "budget": NO_BUDGET}
    return LoopResult.model_validate({**plain, **fields})


def test_of_many_ungrounded_figures_some_are_named() -> None:
    result = result_of_loop(ungrounded=tuple(map(str, range(100, 123))))

    (note,) = answer_notes(result)

    assert note.endswith("118, 119 and 3 more")


def test_a_block_that_ended_the_run_is_told_once() -> None:
    blocked = event(TraceKind.GUARDRAIL_BLOCK, "BLOCKED", "the goal was stopped")
    result = result_of_loop(status=LoopStatus.FAILED, error="the goal was stopped", trace=(blocked,), report="nothing")

    assert list(answer_notes(result)) == ["The answer is partial, the run ended FAILED: the goal was stopped"]


def test_a_loop_that_gives_no_answer_has_no_partial_one() -> None:
    assert list(answer_notes(result_of_loop(status=LoopStatus.FAILED, error="no model"))) == []


def test_steps_that_are_not_there_are_counted() -> None:
    page = StepPage(artifact=Artifact(digest="0" * 64, size=1), steps=1200)
    result = result_of_loop(steps=STEPS, steps_dropped=3, step_pages=(page,), report="x", status=LoopStatus.TIMEOUT)

    story = list(story_of_loop_result(result, "a goal"))

    assert "  3 calls are left out, the result would not fit in one message" in story
    assert "  1,200 earlier calls are in pages that cannot be read here" in story
    assert story[-2:] == ["Partial answer", "x"]


def test_a_loop_that_has_made_no_call_has_no_table() -> None:
    view = LoopView(
        run_id="run-1", session_id="", goal="g", phase=LoopPhase.ASKING, max_steps=20, model="m", budget=NO_BUDGET
    )

    story = list(story_of_loop_view(view))

    assert story[0] == "Run run-1: ASKING, step 0 of 20"
    assert "Steps" not in story


@pytest.mark.usefixtures("kept_server")
async def test_steps_in_pages_come_before_the_others(shell: Shell, command_line: CommandLine, kept_home: Path) -> None:
    store = ArtifactStore.open(str(kept_home / "artifacts"))
    data = TypeAdapter(list[StepRecord]).dump_json(list(STEPS[:1]))
    run_id = "run-with-a-page"
    digest = await store.put(Owner("default", run_id), data)
    await _run_loop(kept_home, run_id, f"paged {digest} {len(data)}")
    lost_id = "run-that-lost-a-page"
    await _run_loop(kept_home, lost_id, f"paged {'0' * 64} 5")

    done = await asyncio.to_thread(shell.run, "show", run_id, "--json")
    lost = await asyncio.to_thread(shell.run, "show", lost_id)

    result = LoopResult.model_validate_json(done.stdout)
    assert (result.steps, result.step_pages) == (STEPS, ())
    assert lost.returncode == 0
    assert f"Part of the steps of run {lost_id} cannot be read: artifact '{'0' * 64}'" in lost.stderr
    assert "  1 earlier calls are in pages that cannot be read here" in lost.stdout


@pytest.mark.usefixtures("kept_server")
def test_the_live_picture_of_a_loop_shows_its_calls_as_text(shell: Shell) -> None:
    seen = shell.on_terminal("--goal", "sleep 1", "--mode", "loop", columns=160)

    assert "ACTING step 2 of 20 stub" in seen
    assert "at work: search" in seen
    assert "UNKNOWN_TOOL" in seen
    assert "\\u001b[31mcalm" in seen
    assert "\x1b[?25h" in seen  # the cursor is back


async def _run_loop(home: Path, run_id: str, goal: str) -> None:
    async with told_server(home) as client:
        handle = await client.start_workflow("AgentLoopWorkflow", {"goal": goal}, id=run_id, task_queue="told")
        await handle.result()
