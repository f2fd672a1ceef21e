import asyncio
import logging
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
from pydantic import JsonValue

from activities.mcp import keeper
from activities.mcp.entry import ServersFileError
from activities.mcp.servers import open_servers
from activities.mcp.toolkits import McpToolkits
from harness.errors import ErrorCode, NothingDoneError, ToolError
from tests.mcp.rig import RAW, context, gone, is_alive, kill, noted, raw, scripted, servers_file, until

KIT = "mcp:it"


async def call(servers: McpToolkits, name: str, /, **arguments: JsonValue) -> Any:
    return await servers[KIT].by_name()[f"it_{name}"].function(root=arguments, context=context())


def opened(folder: Path, entry: dict[str, Any], environment: Mapping[str, str] = os.environ) -> Any:
    return open_servers(servers_file(folder, it=entry), environment)


def waits(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the waits before a session is opened again that were logged so far."""
    return re.findall(r"opening it again in ([\d.]+) s", caplog.text)


@asynccontextmanager
async def refusing_server() -> AsyncIterator[int]:
    """Answer whatever comes over HTTP with 401."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def refusal(folder: Path, entry: dict[str, Any], environment: Mapping[str, str] = os.environ) -> str:
    with pytest.raises(ServersFileError) as refused:
        async with opened(folder, entry, environment):
            pytest.fail("it is no server")
    assert "\n" not in str(refused.value)
    return str(refused.value)


async def test_text_of_any_script_and_size_comes_back(tmp_path: Path) -> None:
    text = '日本語 🎌 \u200d é\u0301 \\ " \n\t' + "\U0001f600"
    async with opened(tmp_path, scripted(tmp_path)) as servers:
        assert await call(servers, "echo", text=text) == {"result": text}
        assert len((await call(servers, "huge", size=3_000_000))["result"]) == 3_000_000


async def test_calls_do_not_wait_for_each_other(tmp_path: Path) -> None:
    async with opened(tmp_path, scripted(tmp_path)) as servers:
        waiting = asyncio.create_task(call(servers, "wait_for_it"))
        await noted(tmp_path / "wait_for_it")
        assert await call(servers, "echo", text="a") == {"result": "a"}
        waiting.cancel()


async def test_a_cancelled_call_is_cancelled_at_the_server(tmp_path: Path) -> None:
    async with opened(tmp_path, scripted(tmp_path)) as servers:
        waiting = asyncio.create_task(call(servers, "wait_for_it"))
        await noted(tmp_path / "wait_for_it")

        waiting.cancel()

        await noted(tmp_path / "wait_for_it.cancelled", within_s=5)


async def test_the_idempotency_key_goes_along(tmp_path: Path) -> None:
    async with opened(tmp_path, scripted(tmp_path)) as servers:
        assert "run-1/n" in str(await call(servers, "key_of"))


async def test_progress_becomes_heartbeats(tmp_path: Path) -> None:
    beats: list[str | None] = []
    async with opened(tmp_path, scripted(tmp_path)) as servers:
        tool = servers[KIT].by_name()["it_steps"]
        await tool.function(root={}, context=context(beat=beats.append))

    assert beats == ["0 of 3: step 0", "1 of 3: step 1", "2 of 3: step 2"]


async def test_the_servers_own_words_are_the_feedback(tmp_path: Path) -> None:
    async with opened(tmp_path, scripted(tmp_path)) as servers:
        with pytest.raises(ToolError) as failed:
            await call(servers, "fail", why="there is no such city")

    assert failed.value.code is ErrorCode.INVALID_ARGUMENT
    assert "there is no such city" in failed.value.message


async def test_a_secret_is_in_no_result(tmp_path: Path) -> None:
    entry = scripted(tmp_path, env={"KEY": "${MY_KEY}"})
    async with opened(tmp_path, entry, {**os.environ, "MY_KEY": "hunter2-hunter2"}) as servers:
        assert servers.secrets == ("hunter2-hunter2",)
        assert await call(servers, "secret_of", name="KEY") == {"result": "KEY is ***"}


async def test_a_value_that_is_no_secret_stays_in_results(tmp_path: Path) -> None:
    entry = scripted(tmp_path, env={"ZONE": "${TZ:-UTC}", "BRANCH": "${BRANCH}"})
    async with opened(tmp_path, entry, {**os.environ, "TZ": "Asia/Tokyo", "BRANCH": "main"}) as servers:
        assert await call(servers, "secret_of", name="ZONE") == {"result": "ZONE is Asia/Tokyo"}
        assert await call(servers, "echo", text="the main domain") == {"result": "the main domain"}


async def test_a_server_gets_no_variables_but_its_own(tmp_path: Path) -> None:
    async with opened(tmp_path, scripted(tmp_path), {**os.environ, "OPENAI_API_KEY": "sk-x"}) as servers:
        assert await call(servers, "secret_of", name="OPENAI_API_KEY") == {"result": "OPENAI_API_KEY is None"}


async def test_a_server_killed_in_mid_call_fails_the_call_at_once_and_serves_the_next(tmp_path: Path) -> None:
    async with opened(tmp_path, scripted(tmp_path)) as servers:
        waiting = asyncio.create_task(call(servers, "wait_for_it"))
        pid = await noted(tmp_path / "wait_for_it")

        kill(pid)

        async with asyncio.timeout(2):
            with pytest.raises(ToolError, match="has gone in mid-call") as failed:
                await waiting
        assert failed.value.code is ErrorCode.PROVIDER_UNAVAILABLE
        assert not isinstance(failed.value, NothingDoneError)
        assert await call(servers, "wait_for_it") == {"result": "wait_for_it at last"}
        assert (tmp_path / "pid").read_text() != pid


async def test_a_call_to_a_server_that_does_not_come_back_says_that_nothing_was_done(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    program = Path(copy(RAW, tmp_path))
    entry = {"command": sys.executable, "args": [str(program), "good", str(tmp_path)], "timeout_s": 1}
    async with opened(tmp_path, entry) as servers:
        program.unlink()  # noqa: ASYNC240 - it is a moment
        kill((tmp_path / "pid").read_text())
        await until(lambda: len(waits(caplog)) >= 2)

        with pytest.raises(NothingDoneError, match=r"so nothing was done; it said: .*No such file") as failed:
            await call(servers, "say")

    assert failed.value.code is ErrorCode.PROVIDER_UNAVAILABLE


async def test_a_server_that_hangs_at_start_is_started_more_and_more_seldom(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "LONG_LIFE_S", 0.5)
    async with opened(tmp_path, raw("hanging", tmp_path, start_timeout_s=3)) as servers:
        kill((tmp_path / "pid").read_text())
        await until(lambda: len(waits(caplog)) >= 3)
        assert servers

    assert waits(caplog)[:3] == ["0.2", "0.4", "0.8"]


async def test_no_process_outlives_its_session(tmp_path: Path) -> None:
    async with opened(tmp_path, scripted(tmp_path)):
        pid = (tmp_path / "pid").read_text()
        assert is_alive(pid)

    assert await gone(pid)


async def test_a_server_that_never_answers_is_refused_in_time_and_killed(tmp_path: Path) -> None:
    said = await refusal(tmp_path, raw("silent", tmp_path, start_timeout_s=2))

    assert "MCP server 'it'" in said
    assert "raw_server.py ...) did not start" in said
    assert "no answer to initialize and tools/list within 2 s" in said
    assert await gone((tmp_path / "pid").read_text())


async def test_a_server_that_ends_is_refused_with_its_last_words_without_secrets(tmp_path: Path) -> None:
    entry = raw("dying", tmp_path, env={"PASSWORD": "${PASS}"})
    said = await refusal(tmp_path, entry, {**os.environ, "PASS": "hunter2-hunter2"})

    assert "did not start" in said
    assert said.endswith("it said: the database is locked | with the password ***")


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    said = await refusal(tmp_path, {"command": "no-such-program", "args": ["--fast"]})

    assert said.startswith("MCP server 'it' (no-such-program --fast) did not start: ")
    assert "No such file or directory" in said


async def test_arguments_of_a_server_that_does_not_start_are_not_shown(tmp_path: Path) -> None:
    said = await refusal(tmp_path, {"command": "no-such-program", "args": ["--api-key", "sk-literal-123456", "my-pw"]})

    assert said.startswith("MCP server 'it' (no-such-program --api-key ...) did not start: ")
    assert "sk-literal" not in said
    assert "my-pw" not in said


async def test_the_value_of_a_first_argument_is_not_shown(tmp_path: Path) -> None:
    said = await refusal(tmp_path, {"command": "no-such-program", "args": ["--pin=1234"]})

    assert said.startswith("MCP server 'it' (no-such-program --pin=***) did not start: ")


async def test_an_address_is_shown_without_credentials_and_query(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with refusing_server() as port:
        said = await refusal(tmp_path, {"url": f"http://u:pw-1@127.0.0.1:{port}/mcp?key=zzz-1&k=yyy-1"})

    assert f"(http://127.0.0.1:{port}/mcp) did not start" in said
    shown = said + "".join(each.getMessage() for each in caplog.records if each.name.startswith(("activities", "mcp")))
    assert not any(secret in shown for secret in ("pw-1", "zzz-1", "yyy-1"))


async def test_an_address_where_nobody_listens_is_named(tmp_path: Path) -> None:
    said = await refusal(tmp_path, {"type": "http", "url": "http://127.0.0.1:9/mcp"})

    assert said.startswith("MCP server 'it' (http://127.0.0.1:9/mcp) did not start: ConnectError")


async def test_all_servers_that_do_not_start_are_told_together(tmp_path: Path) -> None:
    path = servers_file(tmp_path, a={"command": "no-such-a"}, b={"command": "no-such-b"}, c=scripted(tmp_path))

    with pytest.raises(ServersFileError, match=r"'a' .*; MCP server 'b' "):
        async with open_servers(path, os.environ):
            pytest.fail("two of three are missing")

    assert await gone((tmp_path / "pid").read_text())


async def test_garbage_on_stdout_is_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    async with opened(tmp_path, raw("noisy", tmp_path)) as servers:
        assert await call(servers, "say") == "grüße 🌍"

    assert [record.getMessage() for record in caplog.records if record.name.startswith(("mcp.", "activities."))] == [
        "MCP server 'it' wrote what is no MCP message to its stdout"
    ]


async def test_a_result_that_is_none_is_the_servers_fault(tmp_path: Path) -> None:
    async with opened(tmp_path, raw("broken", tmp_path)) as servers:
        with pytest.raises(ToolError, match="broke its own word") as failed:
            await call(servers, "say")

    assert failed.value.code is ErrorCode.INVALID_OUTPUT


async def test_a_tool_that_a_server_adds_is_there_the_next_time(tmp_path: Path) -> None:
    async with opened(tmp_path, scripted(tmp_path)) as servers:
        kit = servers.load(KIT)
        assert "it_grown" not in kit.by_name()

        await call(servers, "grow")

        await until(lambda: "it_grown" in kit.by_name(), within_s=5)
        assert await call(servers, "grown") == {"result": "new"}


async def test_only_allowed_tools_exist(tmp_path: Path) -> None:
    async with opened(tmp_path, scripted(tmp_path, allow=["e*", "steps"])) as servers:
        assert set(servers[KIT].by_name()) == {"it_echo", "it_steps"}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"effects": {"ecko": "WRITE"}}, "'effects' names 'ecko', which fits none of"),
        ({"effects": {"ecko": "WRITE"}}, "did you mean 'echo'?"),
        ({"allow": ["e*", "mispelt_*"]}, "'allow' names 'mispelt_*', which fits none of"),
        ({"stable": ["get_*"]}, "'stable' names 'get_*', which fits none of"),
        ({"allow": ["nothing"]}, "has no tool that 'allow' ('nothing') lets through"),
    ],
)
async def test_a_slip_in_what_the_file_says_of_tools_is_refused(
    tmp_path: Path, keys: dict[str, Any], said: str
) -> None:
    assert said in await refusal(tmp_path, scripted(tmp_path, **keys))
