import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from activities.mcp.entry import Address, Command, ServersFileError
from activities.mcp.servers_file import read_servers, server_names
from harness.catalog import Effect
from tests.mcp.rig import servers_file

ENVIRONMENT = {"TOKEN": "s3cret-s3cret", "HOST": "example.org", "EMPTY": "", "HOME": "/home/me"}


def refusal(path: Path) -> str:
    with pytest.raises(ServersFileError) as refused:
        read_servers(path, ENVIRONMENT)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)
    return str(refused.value)


def refusal_of(folder: Path, **entry: Any) -> str:
    return refusal(servers_file(folder, web=entry))


def test_reads_a_server_that_is_a_process_and_one_that_is_an_address(tmp_path: Path) -> None:
    path = servers_file(
        tmp_path,
        time={"command": "mcp-server-time", "args": ["--x", "${HOST}"], "env": {"A": "b"}, "cwd": "/tmp"},
        web={"type": "http", "url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    )

    time, web = read_servers(path, ENVIRONMENT)

    assert time.place == Command("mcp-server-time", ("--x", "example.org"), {"A": "b"}, "/tmp")
    assert web.place == Address("https://example.org/mcp", {"Authorization": "Bearer s3cret-s3cret"})
    assert (time.toolkit, web.toolkit) == ("mcp:time", "mcp:web")


def test_reads_what_a_server_may_do(tmp_path: Path) -> None:
    keys = {"allow": ["get_*"], "effects": {"get_*": "READ", "get_lock": "IDEMPOTENT_WRITE"}, "stable": ["get_name"]}
    numbers = {"timeout_s": 2.5, "max_tries": 5, "rate_per_s": 0.5, "start_timeout_s": 9}
    path = servers_file(tmp_path, web={"command": "x", **keys, **numbers})

    [entry] = read_servers(path, {})

    policy = entry.policy
    assert (policy.timeout, policy.max_tries, policy.per_second) == (timedelta(seconds=2.5), 5, 0.5)
    assert entry.start_limit == timedelta(seconds=9)
    assert policy.allows("get_name")
    assert not policy.allows("Get_name")
    assert policy.effect("get_lock") is Effect.IDEMPOTENT_WRITE
    assert policy.effect("get_name") is Effect.READ
    assert policy.effect("set_name") is None
    assert policy.is_stable("get_name")
    assert not policy.is_stable("get_lock")


def test_values_of_variables_that_are_named_like_secrets_are_hidden_and_no_others(tmp_path: Path) -> None:
    entry = {"command": "x", "args": ["--token", "${TOKEN}", "${HOME}/repo", "${PORT:-80}"], "env": {"H": "${HOST}"}}

    [read] = read_servers(servers_file(tmp_path, web=entry), ENVIRONMENT)

    assert read.place == Command("x", ("--token", "s3cret-s3cret", "/home/me/repo", "80"), {"H": "example.org"})
    assert read.secrets == ("s3cret-s3cret",)
    assert read.shown == "x --token ..."
    assert "s3cret" not in repr(read)


@pytest.mark.parametrize(
    ("keys", "secrets"),
    [
        ({"env": {"API_KEY": "literal-123456", "ZONE": "Asia/Tokyo"}}, {"literal-123456"}),
        ({"env": {"API_KEY": "short"}}, set()),
        ({"env": {"API_KEY": "${PLAIN}"}}, {"plain-value"}),
        ({"env": {"A": "${API_TOKEN:-by-default-1}"}}, {"by-default-1"}),
        ({"env": {"A": "${PLAIN}", "B": "${HOST:-localhost}"}}, set()),
        ({"env": {"DB": "postgres://me:pass%2Fword1@db/x"}}, {"pass%2Fword1", "pass/word1", "me:pass%2Fword1@"}),
        ({"args": ["--api-key", "literal-123456"]}, {"literal-123456"}),
        ({"args": ["--apiKey=literal-123456"]}, {"literal-123456"}),
        ({"args": ["-e", "GITHUB_TOKEN=literal-123456"]}, {"literal-123456"}),
        ({"args": ["--header", "Authorization: Bearer literal-123456"]}, {"literal-123456"}),
        ({"args": ["--token", "--verbose-output", "--branch", "main-branch"]}, set()),
    ],
)
def test_literal_values_are_secrets_by_their_names(tmp_path: Path, keys: dict[str, Any], secrets: set[str]) -> None:
    [read] = read_servers(servers_file(tmp_path, web={"command": "x", **keys}), {"PLAIN": "plain-value"})

    assert set(read.secrets) == secrets


@pytest.mark.parametrize(
    ("url", "headers", "secrets"),
    [
        ("https://u:pw@h/mcp?key=zzz", {}, {"u:pw@", "key=zzz"}),
        ("https://h/mcp?page=12345678&access_token=literal-1", {}, {"literal-1", "access_token=literal-1"}),
        ("https://h/mcp", {"X-Api-Key": "literal-123456", "X-Zone": "Asia/Tokyo"}, {"literal-123456"}),
        ("https://h/mcp", {"authorization": "Bearer literal-123456"}, {"literal-123456"}),
    ],
)
def test_literal_secrets_of_an_address_are_hidden_and_it_is_shown_without(
    tmp_path: Path, url: str, headers: dict[str, str], secrets: set[str]
) -> None:
    [read] = read_servers(servers_file(tmp_path, web={"url": url, "headers": headers}), {})

    assert set(read.secrets) == secrets
    assert read.shown == "https://h/mcp"


@pytest.mark.parametrize("url", ["ftp://u:pw@h/mcp?key=zzz", "https://u:pw/x@h/mcp?key=zzz"])
def test_an_address_that_is_refused_shows_no_credentials(tmp_path: Path, url: str) -> None:
    said = refusal_of(tmp_path, url=url)

    assert "'url' must be an http or https URL" in said
    assert "pw" not in said
    assert "zzz" not in said


@pytest.mark.parametrize("variable", ["MISSING", "EMPTY"])
def test_a_variable_that_is_not_set_is_named_with_its_server(tmp_path: Path, variable: str) -> None:
    said = refusal_of(tmp_path, command="x", env={"A": f"${{{variable}}}"})

    assert f"server 'web' needs the variable {variable}, which is not set" in said


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"command": "x", "timeouts_s": 3}, "the key 'timeouts_s' is unknown; did you mean 'timeout_s'"),
        ({"command": "x", "alow": ["*"]}, "the key 'alow' is unknown; did you mean 'allow'?"),
        (
            {"command": "x", "effects": {"a": "REED"}},
            "effects.a: Input should be 'READ', 'IDEMPOTENT_WRITE' or 'WRITE'",
        ),
        ({"command": "x", "args": "-v"}, "args: Input should be a valid array"),
        ({"command": "x", "env": {"PORT": 80}}, "env.PORT: Input should be a valid string"),
        ({"command": "x", "timeout_s": 0}, "timeout_s: Input should be greater than or equal to 0.001"),
        ({"command": "x", "url": "http://a/b"}, "it needs either a 'command', or a 'url'"),
        ({}, "it needs either a 'command', or a 'url'"),
        ({"type": "stdio", "url": "http://a/b"}, "it needs either a 'command', or a 'url'"),
        ({"url": "ftp://a/b"}, "'url' must be an http or https URL"),
        ({"type": "sse", "url": "http://a/b"}, "the transport 'sse' is not served"),
        ({"type": "pigeon", "command": "x"}, "type: Input should be"),
    ],
)
def test_a_wrong_entry_is_one_line_that_says_what_would_be_right(
    tmp_path: Path, entry: dict[str, Any], said: str
) -> None:
    assert f"server 'web': {said}" in refusal_of(tmp_path, **entry)


def test_keys_of_other_clients_are_left_alone(tmp_path: Path) -> None:
    others = {"alwaysAllow": ["a"], "timeout": 60, "autoApprove": [], "icon": "x.png", "gallery": True}

    assert read_servers(servers_file(tmp_path, web={"command": "x", **others}), {})


def test_a_disabled_server_is_not_there(tmp_path: Path) -> None:
    path = servers_file(tmp_path, a={"command": "x", "disabled": True}, b={"command": "${MISSING}"})

    assert server_names(path) == ("b",)


def test_only_the_wanted_servers_need_their_variables(tmp_path: Path) -> None:
    path = servers_file(tmp_path, a={"command": "x"}, b={"command": "${MISSING}"})

    assert [entry.name for entry in read_servers(path, {}, ["a"])] == ["a"]
    with pytest.raises(ServersFileError, match=r"no server 'aa'; did you mean 'a'\?; there are: a, b"):
        read_servers(path, {}, ["aa"])


@pytest.mark.parametrize("name", ["a b", "a+b", "", "a/b", "x" * 41, "~"])
def test_a_name_that_could_not_be_part_of_a_toolkits_name_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": {name: {"command": "x"}}}))

    assert "a name has letters, digits" in refusal(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[]", "names no servers under 'mcpServers'"),
        ('{"servers": {}}', "names no servers under 'mcpServers'"),
        ('{"mcpServers": {}}', "names no servers under 'mcpServers'"),
        ('{"mcpServers": {"web": "x"}}', "server 'web' must be an object"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_a_file_that_is_none_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "servers.json"
    path.write_text(text)

    assert said in refusal(path)
    assert "mcpServers" in refusal(path)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    assert "cannot be read: No such file or directory" in refusal(tmp_path / "none.json")
