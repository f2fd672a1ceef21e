import pytest

from tests.cli.conftest import CommandLine
from tests.cli.shell import STARTER, Shell

LONG_GOAL = "x" * 20_001


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("", "No goal: give --goal TEXT, or see starter.py --help."),
        ("--goal|", "--goal is blank: say what is wanted."),
        ("--goal| \n\t", "--goal is blank: say what is wanted."),
        (f"--goal|{LONG_GOAL}", "--goal is too long: 20,001 characters, at most 20,000 are taken."),
        ("--goal|x|--max-tokens|0", "--max-tokens is '0', it must be greater than 0."),
        ("--goal|x|--max-tokens|many", "--max-tokens is 'many', it must be a valid integer, unable to parse"),
        ("--goal|x|--max-tool-calls|-1", "--max-tool-calls is '-1', it must be greater than 0."),
        ("--goal|x|--max-cost|nan", "--max-cost is 'nan', it must be a finite number."),
        ("--goal|x|--max-cost|0|--max-replans|99", "--max-replans is '99', it must be less than or equal to 20."),
        ("--goal|x|--max-wall-clock|0", "--max-wall-clock is '0.0', it must be greater than"),
        ("--goal|x|--max-wall-clock|nan", "--max-wall-clock is 'nan', it must be"),
        ("--goal|x|--max-wall-clock|soon", "Invalid value for '--max-wall-clock': 'soon' is not a valid float."),
        ("--goal|x|--model-timeout|0", "--model-timeout is '0.0', it must be greater than"),
        ("--goal|x|--model-timeout|nan", "--model-timeout is 'nan', it must be"),
        ("--goal|x|--model-timeout|3601", "--model-timeout is '3601.0', it must be less than or equal to 1 hour."),
        ("--goal|x|--model-timeout|soon", "Invalid value for '--model-timeout': 'soon' is not a valid float."),
        ("--goal|x|--max-concurrency|51", "--max-concurrency is '51', it must be less than or equal to 50."),
        ("--goal|x|--toolkit|", "--toolkit is '', it must have at least 1 character."),
        ("--goal|x|--model|painter=y", "--model 'painter=y': 'painter' is no role; use one of planner"),
        ("--goal|x|--model|planner=", "--model planner= is '', it must have at least 1 character."),
        ("--goal|x|--allow|", "--allow has an empty pattern: name tools, such as get_*, or leave it out."),
        ("--goal|x|--deny|pay,,get_*", "--deny has an empty pattern: name tools"),
        ("--goal|x|--deny|" + "x" * 201, "--deny is 'xxx"),
        ("--goal|x|--allow|" + ",".join(["x"] * 101), "it must have at most 100 items"),
        ("--goal|x|--max-tools-shown|0", "--max-tools-shown is '0', it must be greater than or equal to 1."),
        ("--goal|x|--mode|dance", "Invalid value for '--mode': 'dance' is not one of 'plan', 'loop'."),
        ("--goal|x|--mode|loop|--max-steps|0", "--max-steps is '0', it must be greater than or equal to 1."),
        ("--goal|x|--max-steps|5", "--max-steps is for agent loops: give --mode loop, or --allow-agents"),
        ("--goal|x|--mode|loop|--max-replans|1", "--max-replans goes with --mode plan"),
        ("--goal|x|--mode|loop|--allow-agents", "--allow-agents goes with --mode plan"),
        ("--goal|x|--detach|--with-worker", "--with-worker ends with this command"),
        ("--goal|x|--fast", "No such option '--fast'."),
        ("--goal", "Option '--goal' requires an argument."),
        ("--goal|x|show|run-1", "--goal starts a run and goes with no command"),
        ("dance", "No such command 'dance'."),
        ("show", "Missing argument 'RUN_ID'."),
        ("artifacts", "Missing command."),
        ("show|", "RUN_ID is '', which names no run"),
        ("show|\udcff", "RUN_ID is '\\udcff', which names no run"),
        ("--goal|x|--worker-wait|nan", "--worker-wait is 'nan', it must be a number of seconds."),
        ("extend|run-1", "Nothing to add"),
        ("--max-wall-clock|soon", "'soon' is not a valid float. See starter.py --help."),
        ("extend|run-1|--seconds|5", ") See starter.py extend --help."),
        ("extend|run-1|--wall-clock|soon", "'soon' is not a valid float. See starter.py extend --help."),
        ("artifacts|prune|--force", "No such option '--force'. See starter.py artifacts prune --help."),
        ("artifacts|burn", "No such command 'burn'. See starter.py artifacts --help."),
        ("extend|run-1|--tokens|-5", "--tokens is '-5', it must be greater than or equal to 0."),
        ("show|run-1", "There is no run 'run-1' here: nothing has been run in"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(command_line: CommandLine, words: str, line: str) -> None:
    done = command_line(*(words.split("|") if words else ()))

    assert done.code == 2, done.said
    assert done.answer == ""
    assert done.said.count("\n") == 1
    assert line in done.said


@pytest.mark.parametrize(
    ("variable", "value", "line"),
    [
        ("TEMPORAL_ADDRESS", "127.0.0.1:1", "No Temporal server answers at 127.0.0.1:1 (Connection refused): start it"),
        ("TEMPORAL_ADDRESS", "no host", "No Temporal server answers at no host"),
        ("TEMPORAL_PROFILE", "nope", "The Temporal settings are wrong: Profile 'nope' not found."),
        ("TEMPORAL_CONFIG_FILE", "nope.toml", "TEMPORAL_CONFIG_FILE names 'nope.toml', which is no file"),
        ("TEMPORAL_TLS_SERVER_CA_CERT_PATH", "nope.pem", "The Temporal settings name 'nope.pem': No such file"),
        ("WHIPPLETREE_TEMPORAL_CLI", "nope", "WHIPPLETREE_TEMPORAL_CLI names 'nope', which is no program"),
        ("WHIPPLETREE_HOME", "/dev/null/x", "The state directory /dev/null/x cannot be created (Not a directory)"),
    ],
)
def test_bad_configuration_is_one_line_and_exit_code_2(
    command_line: CommandLine, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, line: str
) -> None:
    monkeypatch.setenv(variable, value)

    done = command_line("--goal", "anything")

    assert done.code == 2, done.said
    assert done.answer == ""
    assert done.said.count("\n") == 1
    assert line in done.said


def test_record_that_is_a_directory_is_one_line(shell: Shell, command_line: CommandLine) -> None:
    (shell.home / "server.json").mkdir(parents=True)

    done = command_line("--goal", "anything")

    assert (done.code, done.said.count("\n")) == (2, 1)
    assert "server.json cannot be removed" in done.said


def test_bad_usage_of_the_real_process_is_one_line_too(shell: Shell) -> None:
    shell.script = STARTER

    done = shell.run("--goal", "x", "--max-tokens", "0")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "--max-tokens is '0', it must be greater than 0.\n"
