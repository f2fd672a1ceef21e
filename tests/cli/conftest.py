"""One scratch directory a test, and no server left behind."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from cli.main import command
from cli.process import guarded
from tests.cli.shell import Shell, clean_environment, free_port, has_server
from tests.cli.stub_starter import stay_off_the_usual_ports, stub_worker


class Done(NamedTuple):
    """How a command ended."""

    code: int
    answer: str
    said: str


CommandLine = Callable[..., Done]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path)
    yield shell
    if shell.has_server():
        shell.kill_server()
        pytest.fail("a server was left behind")


@pytest.fixture
def command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[CommandLine]:
    """The command line in this process, for tables of cases that would take long in processes of their own."""
    for name in set(os.environ) - set(clean_environment()):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    stay_off_the_usual_ports(free_port(), monkeypatch.setattr)

    def run(*words: str) -> Done:
        code = guarded(lambda: command.main(list(words), standalone_mode=False, obj=stub_worker))
        return Done(code, *capsys.readouterr())

    yield run
    assert not has_server(tmp_path / ".whippletree")
