"""What the flags of a start say of tools reaches the run: the real starter, with a worker and a server of its own."""

import pytest

from harness.run import RunResult, RunStatus
from harness.trace import TraceKind
from tests.cli.shell import STARTER, Shell


def run(shell: Shell, *flags: str) -> tuple[int, RunResult]:
    shell.script = STARTER
    done = shell.run("--goal", "a calm game", "--json", *flags)
    return done.returncode, RunResult.model_validate_json(done.stdout)


def test_a_denied_report_ends_the_run_in_one_line(shell: Shell) -> None:
    code, result = run(shell, "--deny", "get_prices,summarizer_*", "--deny", "typo", "--allow-writes")

    assert (code, result.status) == (1, RunStatus.FAILED_PLANNING)
    assert result.error is not None
    assert result.error.startswith("the run may use no tool that writes the report (FINAL_SYNTHESIS)")
    assert "'summarizer_node': it is denied by 'summarizer_*'" in result.error
    assert result.error.endswith("no tool matches 'typo': check the spelling")
    assert "\n" not in result.error


@pytest.mark.parametrize("flags", [("--allow", "get_*", "--allow", "summarizer_node"), ("--allow-writes",)], ids=str)
def test_a_run_that_may_use_what_it_needs_succeeds(shell: Shell, flags: tuple[str, ...]) -> None:
    code, result = run(shell, *flags)

    assert (code, result.status) == (0, RunStatus.SUCCEEDED)


def test_fewer_tools_may_be_shown_than_there_are(shell: Shell) -> None:
    _, result = run(shell, "--max-tools-shown", "3", "--max-replans", "0")

    (routed,) = [event for event in result.trace if event.kind is TraceKind.ROUTING_FINISH]
    assert routed.data["by"] == "model"
    assert routed.data["left_out"]["count"] == 2
    assert len(routed.data["shown"]) == 3
    assert "summarizer_node" in routed.data["shown"]
