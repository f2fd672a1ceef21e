"""What the README and docs say holds: examples run; paths, options, limits and figures are those of the code."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

import bench.__main__
import bench.knobs
import chaos.__main__
from activities.guardrails.audit import MAX_FILE_BYTES, AuditEntry, AuditLog, Caller, Direction
from activities.guardrails.placeholders import placeholders_of
from activities.guardrails.private import PrivateKind
from activities.stored_arguments import MAX_LOADED_BYTES
from activities.toolkit_loading import load_toolkit
from bench.summary import PROMISES
from chaos.checks import Rule
from cli.ending import exit_code_of
from cli.main import command as starter
from harness.agent_state import MAX_CALLS
from harness.artifact import INLINE_BYTES
from harness.binding import MAX_ARGUMENT_BYTES
from harness.carry import INLINE_CARRY_BYTES
from harness.catalog import Effect
from harness.errors import MAX_ERROR_BYTES
from harness.guardrail import Guardrail
from harness.loop import LoopStatus
from harness.loop_calls import LOOP_INLINE_BYTES
from harness.loop_detection import LEAST_STEPS
from harness.loop_options import LoopOptions
from harness.memory import MAX_FACTS, MAX_KEY_CHARS, MAX_VALUE_CHARS
from harness.message_fit import MAX_ANSWER_BYTES, MAX_RESULT_BYTES
from harness.run import RunOptions
from harness.trace import TraceKind
from workflows.data_converter import RESULT_INLINE_BYTES, STARTER_INLINE_BYTES
from workflows.run_core import MAX_RUN_BYTES, MAX_RUN_EVENTS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PAGES = {page.name: page.read_text() for page in sorted((ROOT / "docs").glob("*.md"))}
EVERYTHING = "\n".join((README, *PAGES.values()))
PATHS = sorted(
    set(re.findall(r"`((?:[a-z_]+/)+[a-z_]*(?:\.[a-z]+)?|[a-z_]+\.py|[A-Za-z-]+\.yml|Dockerfile)`", EVERYTHING))
)
OWN = {"weather.py", ".whippletree/", ".whippletree/starter.log"}
KIB, MIB = 1024, 1024 * 1024
OPTIONS = RunOptions()
LIMITS = [
    ("a value in history | 16 KiB", INLINE_BYTES, 16 * KIB),
    ("what a starter sends | 256 KiB", STARTER_INLINE_BYTES, 256 * KIB),
    ("result of a run in history | 64 KiB", RESULT_INLINE_BYTES, 64 * KIB),
    ("result of a run | 8 MB", MAX_RESULT_BYTES, 8_000_000),
    ("answer to a query | 1.5 MB", MAX_ANSWER_BYTES, 1_500_000),
    ("result of a node | 8 MiB", OPTIONS.max_result_bytes, 8 * MIB),
    ("arguments of a node | 8 MiB", MAX_ARGUMENT_BYTES, 8 * MIB),
    ("and 256 MiB of those", MAX_LOADED_BYTES, 256 * MIB),
    ("text of an error | 4 KiB", MAX_ERROR_BYTES, 4 * KIB),
    ("state carried by continue-as-new | 64 KiB", INLINE_CARRY_BYTES, 64 * KIB),
    ("nodes of a plan | 500", OPTIONS.max_plan_nodes, 500),
    ("nodes in flight | 5", OPTIONS.max_concurrency, 5),
    ("one workflow run | 9,000 events", MAX_RUN_EVENTS, 9_000),
    ("9,000 events, 6 MB", MAX_RUN_BYTES, 6_000_000),
]


LOOP = LoopOptions()
LOOP_LIMITS = [
    ("`max_steps` | 20", LOOP.max_steps, 20),
    ("`step_output_tokens` | 1,000", LOOP.step_output_tokens, 1_000),
    ("`soft_context_tokens` | 8,000", LOOP.soft_context_tokens, 8_000),
    ("`hard_context_tokens` | 12,000", LOOP.hard_context_tokens, 12_000),
    ("`repeat_limit` | 3", LOOP.repeat_limit, 3),
    ("`no_progress_steps` | 5", LOOP.no_progress_steps, 5),
    ("`max_failed_answers` | 3", LOOP.max_failed_answers, 3),
    ("up to 50 of", MAX_FACTS, 50),
    ("keys of 100", MAX_KEY_CHARS, 100),
    ("values of 2,000", MAX_VALUE_CHARS, 2_000),
    ("Results over 2 KiB", LOOP_INLINE_BYTES, 2 * KIB),
    ("over the last 12", LEAST_STEPS, 12),
    ("beyond the 20th", MAX_CALLS, 20),
]


@pytest.mark.parametrize("path", [path for path in PATHS if path not in OWN])
def test_a_path_that_is_named_exists(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((docs/[^)]*)\)", README))))
def test_a_page_that_the_readme_links_to_exists(link: str) -> None:
    assert (ROOT / link).is_file()


def test_every_page_is_linked_to() -> None:
    assert [name for name in PAGES if f"(docs/{name})" not in README] == []


@pytest.mark.parametrize(("words", "limit", "said"), LIMITS, ids=[words for words, _, _ in LIMITS])
def test_a_limit_is_that_of_the_code(words: str, limit: int, said: int) -> None:
    assert words in PAGES["size.md"]
    assert limit == said


def test_the_highest_settings_of_a_run_are_those_of_the_code() -> None:
    schema = RunOptions.model_json_schema()["properties"]
    most = {name: schema[name]["maximum"] for name in ("max_plan_nodes", "max_concurrency", "max_result_bytes")}

    assert most == {"max_plan_nodes": 10_000, "max_concurrency": 50, "max_result_bytes": 64 * MIB}
    for words in ("`max_plan_nodes`, at most 10,000", "`max_concurrency`, at most 50", "at most 64 MiB"):
        assert words in PAGES["size.md"]


@pytest.mark.parametrize(
    ("page", "commands"),
    [("speed.md", (bench.__main__.command, bench.knobs.command)), ("chaos.md", (chaos.__main__.command,))],
    ids=["speed", "chaos"],
)
def test_an_option_that_a_page_names_is_one_of_its_commands(page: str, commands: tuple[click.Command, ...]) -> None:
    known = {flag for command in commands for option in command.params for flag in option.opts}

    assert set(re.findall(r"(?<!-)--[a-z][a-z-]*", PAGES[page])) - known - {"--goal", "--help"} == set()


def test_every_promised_figure_is_explained() -> None:
    assert [one.figure for one in PROMISES if PAGES["speed.md"].count(f"`{one.figure}`") < 2] == []


def test_every_rule_of_chaos_is_explained() -> None:
    assert [rule for rule in Rule if f"`{rule}`" not in PAGES["chaos.md"]] == []


@pytest.mark.parametrize(("words", "limit", "said"), LOOP_LIMITS, ids=[words for words, _, _ in LOOP_LIMITS])
def test_a_limit_of_agent_loops_is_that_of_the_code(words: str, limit: int, said: int) -> None:
    assert words in " ".join(PAGES["agent-loop.md"].split())
    assert limit == said


def test_every_option_of_agent_loops_is_explained() -> None:
    rows = [line for line in PAGES["agent-loop.md"].splitlines() if line.startswith("| `")]

    assert [name for name in LoopOptions.model_fields if not any(row.startswith(f"| `{name}` |") for row in rows)] == []


@pytest.mark.parametrize("status", LoopStatus)
def test_every_end_of_an_agent_loop_is_explained_with_its_exit_code(status: LoopStatus) -> None:
    (row,) = re.findall(rf"^\| `{status}` \|.*\| ([0-9]) \|$", PAGES["agent-loop.md"], re.MULTILINE)

    assert int(row) == exit_code_of(status)


def test_every_guardrail_and_kind_of_event_is_explained_in_the_order_of_the_chain() -> None:
    page = PAGES["guardrails.md"]

    assert re.findall(r"^\| `([a-z]+)` \| (?:the goal|every|answers|reports)", page, re.MULTILINE) == list(Guardrail)
    assert [kind for kind in (TraceKind.GUARDRAIL_FLAG, TraceKind.GUARDRAIL_BLOCK) if f"`{kind}`" not in page] == []


def test_every_kind_of_private_value_is_named() -> None:
    assert [kind for kind in PrivateKind if f"`{kind}`" not in PAGES["guardrails.md"]] == []


def test_every_field_of_the_audit_log_is_explained(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    log.write(Caller("run-1", "take_step", "step@1", 1), AuditEntry(direction=Direction.INPUT, is_allowed=True))
    (file,) = tmp_path.iterdir()
    section = PAGES["guardrails.md"].partition("## The audit log")[2]
    told = [
        name for row in re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    ]

    assert sorted(told) == sorted(json.loads(file.read_text()))
    assert MAX_FILE_BYTES == 10 * MIB
    assert all(f"`{direction}`" in section for direction in Direction)


def test_a_placeholder_that_is_shown_is_one() -> None:
    shown = set(re.findall(r"`(<[A-Z_]+_[0-9a-f]{8}>)`", EVERYTHING))

    assert shown == {"<EMAIL_3f9a2c41>"}
    assert all(placeholders_of(one) for one in shown)


def test_an_option_of_the_command_line_that_is_named_is_one() -> None:
    commands = (starter, *starter.commands.values())
    known = {flag for command in commands for option in command.params for flag in option.opts}

    for page in ("agent-loop.md", "guardrails.md"):
        assert set(re.findall(r"(?<!-)--[a-z][a-z-]*", PAGES[page])) - known == set()


def test_its_agent_loop_runs_as_written(tmp_path: Path) -> None:
    done = _run_as_written("--mode", tmp_path)

    assert done.returncode == 0, done.stderr
    assert "Outer Wilds" in done.stdout
    assert "ended COMPLETED" in done.stderr


def test_its_toolkit_runs_as_written(tmp_path: Path) -> None:
    (tmp_path / "weather.py").write_text(_only_block("python"))

    done = _run_as_written("--toolkit", tmp_path)

    assert done.returncode == 0, done.stderr
    assert "day 2 is the warmest, with 21 degrees" in done.stdout


def test_its_mcp_server_runs_as_written(tmp_path: Path) -> None:
    servers = _only_block("json").replace(".venv/bin", str(Path(sys.executable).parent))
    (tmp_path / "servers.json").write_text(servers)

    done = _run_as_written("--mcp", tmp_path)

    assert done.returncode == 0, done.stderr
    assert "Asia/Tokyo" in done.stdout


def test_the_toolkit_of_the_page_on_tools_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGES["tools.md"], re.DOTALL)
    (tmp_path / "shop.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)

    tools = load_toolkit("shop:TOOLKIT").by_name()

    assert tools["place_order"].spec.effect is Effect.WRITE
    assert list(tools) == ["place_order", "confirm"]


def _only_block(language: str) -> str:
    (block,) = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return str(block)


def _run_as_written(flag: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command of the README that has this flag, with files and state in a folder."""
    (command,) = re.findall(rf"^\.venv/bin/python (starter\.py --goal \"[^\"]+\" {flag} \S+)$", README, re.MULTILINE)
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("TEMPORAL_", "OPENAI_", "OTEL_"))}
    return subprocess.run(
        [sys.executable, *shlex.split(command.replace("servers.json", str(folder / "servers.json")))],
        cwd=ROOT,
        env=plain | {"PYTHONPATH": str(folder), "WHIPPLETREE_HOME": str(folder / "home")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
