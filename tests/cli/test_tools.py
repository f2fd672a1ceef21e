"""The listing of tools and their lint, which need no server."""

import json
import sys
import time
from pathlib import Path

import click
import pytest

from activities.toolkit import ToolkitError
from cli.import_place import place_of
from harness.catalog import ToolSpec
from tests.cli.conftest import CommandLine
from tests.cli.shell import STARTER, Shell

ORDERS = "tests.cli.orders_toolkit:TOOLKIT"


@pytest.fixture
def servers_file(tmp_path: Path) -> Path:
    path = tmp_path / "servers.json"
    time_server = {"command": sys.executable, "args": ["-m", "mcp_server_time"]}
    path.write_text(json.dumps({"mcpServers": {"time": time_server}}))
    return path


def test_a_tool_is_listed_with_all_that_differs_from_the_usual(command_line: CommandLine) -> None:
    done = command_line("tools", "--toolkit", ORDERS)

    assert done.code == 0, done.said
    assert done.answer.startswith(
        f"pay_order  DATA WRITE  from {ORDERS}\n"
        "  Pay an order of the shop.\n"
        "  takes order_id: integer, required - Number of the order.\n"
        "        speed: one of 'slow', 'fast' = 'slow' - How soon.\n"
        "        notes: array of string or null = null - Lines for the invoice.\n"
        "  gives object of integer\n"
        "  rules timeout 90 s, 1 try, back-off 2 s to 120 s, rate limit shop 0.5 a second, result up to 2,000 bytes, "
        "version 2, needs permission:pay, needs approval\n"
        "\n"
        f"find_order  DATA READ  from {ORDERS}\n"
        "  Find orders.\n"
        "  takes data: any value, required\n"
        "  gives array of integer\n"
        "  rules 1 try, needs no approval, answers age, up to 3,000 model tokens\n"
        "\n"
        "write_report  FINAL_SYNTHESIS READ  from report\n"
    )
    assert done.answer.endswith(f"\n\n3 tools of {ORDERS}\n")


def test_json_has_every_field_and_nothing_else_on_stdout(shell: Shell) -> None:
    shell.script = STARTER

    done = shell.run("tools", "--toolkit", ORDERS, "--toolkit", "games", "--json")

    listed = json.loads(done.stdout)
    tools = {tool["name"]: tool for tool in listed["tools"]}
    assert listed["toolkit"] == f"games+{ORDERS}"
    assert done.stderr == "imported\n"
    assert set(tools) == {
        *("pay_order", "find_order"),
        *("get_genre_facts", "get_genre_reviews", "get_games", "get_prices", "summarizer_node"),
    }
    assert set(tools["get_prices"]) == set(ToolSpec.model_fields)
    assert ToolSpec.model_validate(tools["pay_order"]).permission == "pay"


def test_games_are_listed_by_default(command_line: CommandLine) -> None:
    done = command_line("tools")

    assert "get_prices  DATA READ  from games\n" in done.answer
    assert "  takes nothing\n  gives array of GamePrice\n" in done.answer
    assert done.answer.endswith("5 tools of games\n")


def test_tools_of_mcp_servers_are_listed(command_line: CommandLine, servers_file: Path) -> None:
    done = command_line("tools", "--mcp", str(servers_file), "--json")

    tools = {tool["name"]: tool["toolkit"] for tool in json.loads(done.answer)["tools"]}
    assert tools == {
        "time_get_current_time": "mcp:time",
        "time_convert_time": "mcp:time",
        "write_report": "report",
    }


def test_findings_are_lines_and_exit_code_1(command_line: CommandLine) -> None:
    done = command_line("tools", "--toolkit", ORDERS, "--lint")

    assert done.code == 1
    assert done.answer == (
        "find_order.data: vague-name: its name does not say what to give; name a tool for what it does (get_prices), "
        "a parameter for what it holds (order_id)\n"
        "find_order.data: no-description: it has no description; say in the docstring what the tool gives, and under "
        '"Args:" what each parameter means\n'
        "find_order.data: untyped-parameter: its type, or that of what it holds, is not declared; annotate it with "
        "what fits: str, int, Literal, a list of one, a model with fields\n"
        f"3 findings of {ORDERS}\n"
    )
    findings = json.loads(command_line("tools", "--toolkit", ORDERS, "--lint", "--json").answer)["findings"]
    assert [(finding["tool"], finding["parameter"], finding["rule"]) for finding in findings] == [
        ("find_order", "data", "vague-name"),
        ("find_order", "data", "no-description"),
        ("find_order", "data", "untyped-parameter"),
    ]


def test_tools_without_findings_are_exit_code_0(command_line: CommandLine) -> None:
    assert command_line("tools", "--toolkit", "report", "--lint") == (0, "0 findings of report\n", "")


def test_a_broken_toolkit_is_one_line_with_its_place_and_exit_code_2(shell: Shell) -> None:
    shell.script = STARTER

    done = shell.run("tools", "--toolkit", "tests.cli.broken_toolkit:TOOLKIT")

    place = STARTER.parent / "tests" / "cli" / "broken_toolkit.py"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "toolkit 'tests.cli.broken_toolkit:TOOLKIT': tool 'count_words': the parameter 'text' has no type; "
        f"annotate it (at {place}:6)\n"
    )


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("import json\n\nX = json.loads('{')\n", "(at kit.py:3)"),
        ("X = 1\nY = (\n", "SyntaxError: '(' was never closed (kit.py, line 2) (at kit.py:2)"),
        ("import helper_of_kit\n", "ZeroDivisionError: division by zero (at helper_of_kit.py:2)"),
        ("import no_such_module\n", "No module named 'no_such_module' (at kit.py:1)"),
        ("exit(3)\n", "SystemExit: 3 (at kit.py:1)"),
        ("X = 1\n", "has no 'TOOLKIT'; it has no toolkit at all\n"),
    ],
    ids=["library", "syntax", "helper", "import", "exit", "attribute"],
)
def test_the_place_is_the_last_line_of_the_users_own_code(shell: Shell, source: str, line: str) -> None:
    shell.script = STARTER
    (shell.directory / "kit.py").write_text(source)
    (shell.directory / "helper_of_kit.py").write_text("X = 0\nY = 1 / X\n")
    python_path = f"{STARTER.parent}:{shell.directory}"

    done = shell.run("tools", "--toolkit", "kit:TOOLKIT", PYTHONPATH=python_path)

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert line in done.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("--toolkit|", "no toolkit is called ''"),
        ("--toolkit|game", "no toolkit is called 'game'; there are: games, report"),
        ("--toolkit|mcp:time", "no toolkit is called 'mcp:time': say which server that is by a servers file"),
        ("--mcp|nope.json", "--mcp: "),
    ],
)
def test_unknown_toolkits_are_one_line_and_exit_code_2(command_line: CommandLine, words: str, line: str) -> None:
    done = command_line("tools", *words.split("|"))

    assert (done.code, done.answer, done.said.count("\n")) == (2, "", 1)
    assert line in done.said


def test_help_is_quick(shell: Shell) -> None:
    shell.script = STARTER

    began = time.perf_counter()
    best_s = min(_seconds_of_help(shell) for _ in range(3))

    assert best_s < 0.4, f"{best_s:.2f} s, all in {time.perf_counter() - began:.2f} s"


def _seconds_of_help(shell: Shell) -> float:
    began = time.perf_counter()
    done = shell.run("--help")
    assert "\n  tools " in done.stdout
    assert "\n  stats " in done.stdout
    return time.perf_counter() - began


def test_the_place_in_an_installed_package_is_where_its_import_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    error = ToolkitError("broken")
    with pytest.raises(ZeroDivisionError) as raised:
        exec(compile("\n\n1 / 0", click.__file__, "exec"))
    error.__cause__ = raised.value.with_traceback(raised.tb.tb_next)

    assert place_of(error) == f"{click.__file__}:3"
