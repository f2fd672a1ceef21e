"""The table in the docstring of activities.model: one whole run for each of its rows (PITFALLS A6, A7, A10, A11)."""

import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio
from temporalio.client import Client

import activities.model
from harness.errors import ErrorClass, classify, parse_code
from harness.run import RunResult, RunStatus
from tests.scripted_model import Reply, ScriptedServer, completion, error
from tests.temporal_server import time_skipping_server
from tests.workflows.model_runs import PLAN, PLANNED, REPORT, games_on, run, run_on, start

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = PLAN.model_dump_json()
UNQUOTED = TEXT.replace('"nodes":', "nodes: /* five */ ").removesuffix("]}") + ",]}"
NO_SCHEMA = Reply(400, error("'response_format' of type 'json_schema' is not supported with this model"))
SHORT = timedelta(milliseconds=100)

REPLIES = {
    "200, valid": PLANNED,
    "200, fenced": Reply(body=completion(f"Here it is:\n```json\n{TEXT}\n```")),
    "200, JSON of bad syntax": Reply(body=completion(UNQUOTED)),
    "200, a cut object": Reply(body=completion(TEXT[:-20])),
    "200, another object": Reply(body=completion('{"steps": []}')),
    "200, prose": Reply(body=completion("I would first look at the prices.")),
    "200, empty content": Reply(body=completion("")),
    "200, null content": Reply(body=completion(None)),
    "200, a web page": Reply(200, "<html>Welcome to nginx!</html>"),
    "200, JSON of no use": Reply(200, {**completion("x"), "choices": [1]}),
    "200, JSON too deep": Reply(200, b"[" * 100_000, headers={"content-type": "application/json"}),
    "200, finished by length": Reply(body=completion(TEXT[:50], finish="length")),
    "200, length and null content": Reply(body=completion(None, finish="length")),
    "200, length though it looks whole": Reply(body=completion(TEXT, finish="length")),
    "200, refusal": Reply(body=completion(None, refusal="I will not.")),
    "200, content filter": Reply(body=completion("", finish="content_filter")),
    "400, content filter": Reply(400, error("filtered", code="content_filter")),
    "400, context overflow by code": Reply(400, error("too big", code="context_length_exceeded")),
    "400, context overflow by text": Reply(400, error("the request exceeds the available context size")),
    "413": Reply(413, "<html>too large</html>"),
    "400, unsupported parameter": NO_SCHEMA,
    "400, anything else": Reply(400, b""),
    "422": Reply(422, {"detail": [{"loc": ["body", "messages"], "msg": "Field required"}]}),
    "a redirect": Reply(307, b"", headers={"location": "/v2/chat/completions"}),
    "404, model": Reply(404, error("The model 'scripted-1' does not exist", code="model_not_found")),
    "401": Reply(401, error("Incorrect API key provided")),
    "403": Reply(403, error("no access")),
    "402": Reply(402, error("pay")),
    "429, quota": Reply(429, error("You exceeded your current quota", code="insufficient_quota")),
    "429, throttled": Reply(429, error("slow down"), headers={"retry-after": "1"}),
    "408": Reply(408, error("slow")),
    "never answers": Reply(is_hanging=True),
    "409": Reply(409, error("again")),
    "500": Reply(500, error("oops")),
    "502": Reply(502, "<html>bad gateway</html>"),
    "503": Reply(503, error("busy")),
    "529": Reply(529, error("overloaded")),
    "connection reset": Reply(is_reset=True),
}
EXTRA_REQUESTS = {"400, unsupported parameter": 1}


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    label: str
    code: str
    error_class: str
    tries: int
    told: str


def _rows() -> list[Row]:
    lines = [line for line in (activities.model.__doc__ or "").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return [Row(label.removesuffix(" *"), code, cls, int(tries), told) for label, code, cls, tries, told in cells]


ROWS = _rows()
BY_LABEL = {row.label: row for row in ROWS}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def skipping() -> AsyncIterator[Client]:
    async with time_skipping_server() as environment:
        yield environment.client


async def test_every_row_of_the_table_has_its_run() -> None:
    assert [row.label for row in ROWS] == [*REPLIES, "connection refused"]


async def test_the_classes_in_the_table_are_those_of_the_codes() -> None:
    failing = [row for row in ROWS if row.code]

    assert {row.label: row.error_class for row in failing} == {
        row.label: classify(parse_code(row.code)) for row in failing
    }
    assert all((row.tries == 3) == (row.error_class == ErrorClass.TRANSIENT) for row in failing)


@pytest.mark.parametrize("label", REPLIES)
async def test_an_answer_of_the_model_server_has_its_one_outcome(skipping: Client, label: str) -> None:
    row, reply = BY_LABEL[label], REPLIES[label]
    timeout = {"model_timeout": SHORT} if reply.is_hanging else {}
    then = [REPORT] if label in {"200, valid", "200, fenced", "200, JSON of bad syntax"} else [PLANNED, REPORT]

    result, server = await run(skipping, *[reply] * row.tries, *then, max_replans=1, **timeout)

    planning = [seen for seen in server.requests if "You draw up plans" in str(seen.body)]
    _check_end(row, result)
    if row.error_class == ErrorClass.FATAL:
        assert len(server.requests) == row.tries
    elif row.code:
        assert len(planning) == row.tries + 1
        assert row.told in _said(planning[-1].body)
        assert planning[-1].body != planning[-2].body
    else:
        assert len(planning) == 1 + EXTRA_REQUESTS.get(label, 0)


async def test_a_connection_that_is_refused_has_its_one_outcome(skipping: Client) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    result = await run_on(skipping, f"http://127.0.0.1:{port}/v1", max_replans=0)

    planned = result.trace[1]
    assert result.error_code == BY_LABEL["connection refused"].code
    assert planned.data["tries"] == BY_LABEL["connection refused"].tries
    assert BY_LABEL["connection refused"].told in (planned.message or "")


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("20", 20, 29),
        (lambda: _http_date(seconds=25), 20, 29),
        ("3600", 30, 39),
        ("999999999", 0, 9),
        ("-5", 0, 9),
        ("soon", 0, 9),
        (lambda: _http_date(seconds=-60), 0, 9),
    ],
    ids=["seconds", "date", "an hour", "absurd", "negative", "malformed", "past date"],
)
async def test_retry_after_is_heeded_within_reason(skipping: Client, header: object, least: int, most: int) -> None:
    value = header() if callable(header) else header
    throttled = Reply(429, error("slow down"), headers={"retry-after": value})

    result, server = await run(skipping, throttled, PLANNED, REPORT)

    assert result.status is RunStatus.SUCCEEDED, result.error
    assert len(server.requests) == 3
    assert timedelta(seconds=least) <= result.budget.elapsed < timedelta(seconds=most)


async def test_what_a_server_refused_is_asked_once_in_the_life_of_a_worker(skipping: Client) -> None:
    replies = [NO_SCHEMA, PLANNED, REPORT, PLANNED, REPORT]
    async with ScriptedServer(*replies) as server, games_on(skipping, server.url) as queue:
        results = [await (await start(skipping, queue)).result() for _ in range(2)]

    formats = [seen.body.get("response_format", {}).get("type") for seen in server.requests]
    assert [result.status for result in results] == [RunStatus.SUCCEEDED] * 2
    assert formats == ["json_schema", "json_object", None, "json_object", None]


def _check_end(row: Row, result: RunResult) -> None:
    if row.error_class == ErrorClass.FATAL:
        assert (result.status, result.error_code) == (RunStatus.FAILED_PLANNING, row.code)
        return
    assert result.status is RunStatus.SUCCEEDED, result.error
    assert [attempt.error_class for attempt in result.attempts] == ([row.error_class] if row.code else [])
    first = next(event for event in result.trace if event.kind == "planning.finish")
    assert first.data.get("errorCode", first.data.get("error_code", "")) == row.code
    assert first.data["tries"] == row.tries


def _said(body: dict[str, object]) -> str:
    messages = body["messages"]
    assert isinstance(messages, list)
    return str(messages[-1]["content"])


def _http_date(*, seconds: int) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%a, %d %b %Y %H:%M:%S GMT")
