"""One scratch directory a test, and no server left behind."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import NamedTuple

import pytest

from cli.dev_server import embedded_server
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
        code = guarded(
            lambda: command.main(list(words), prog_name="starter.py", standalone_mode=False, obj=stub_worker)
        )
        return Done(code, *capsys.readouterr())

    yield run
    assert not has_server(tmp_path / ".whippletree")


@pytest.fixture(scope="session")
def kept_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("kept")
    server = embedded_server(home)
    with asyncio.Runner() as runner:
        with pytest.MonkeyPatch.context() as patch:
            stay_off_the_usual_ports(free_port(), patch.setattr)
            runner.run(_enter(server))
        yield home
        runner.run(_leave(server))


@pytest.fixture
def kept_server(kept_home: Path, shell: Shell, command_line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test's command lines use a server that stays, because starting and ending one takes a second."""
    assert command_line  # which empties the environment first
    monkeypatch.setenv("WHIPPLETREE_HOME", str(kept_home))
    shell.settings["WHIPPLETREE_HOME"] = str(kept_home)


async def _enter(server: AbstractAsyncContextManager[object]) -> None:
    await server.__aenter__()


async def _leave(server: AbstractAsyncContextManager[object]) -> None:
    await server.__aexit__(None, None, None)
