import inspect
import ssl
from datetime import UTC, datetime, timedelta

import httpx2
import openai
import pytest

from activities.model.failures import CLIENT_ERRORS, as_model_error, retry_after_s
from activities.model.scrubbing import scrub
from harness.errors import ErrorCode

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
REQUEST = httpx2.Request("POST", "http://host/v1/chat/completions")


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("0", 0.0),
        (" 12 ", 12.0),
        ("Fri, 02 Jan 2026 03:04:35 GMT", 30.0),
        ("Fri, 02 Jan 2026 03:04:00 GMT", None),
        ("-1", None),
        ("1e400", None),
        ("nan", None),
        ("inf", None),
        ("999999999", None),
        ("soon", None),
        ("", None),
        ("Fri, 99 Jan 2026 03:04:35 GMT", None),
    ],
)
def test_reads_retry_after_and_ignores_what_makes_no_sense(header: str, seconds: float | None) -> None:
    assert retry_after_s({"retry-after": header}, NOW) == seconds


def test_a_rate_limit_carries_its_retry_after() -> None:
    response = httpx2.Response(429, headers={"Retry-After": "3"}, request=REQUEST)
    error = openai.RateLimitError("slow down", response=response, body={"message": "slow down"})

    failure = as_model_error(error, now=NOW)

    assert failure.code is ErrorCode.RATE_LIMITED
    assert failure.retry_after_s == 3


def _every_error() -> list[type[Exception]]:
    named = [
        value
        for value in list(vars(openai).values())
        if inspect.isclass(value) and issubclass(value, openai.OpenAIError)
    ]
    return sorted(set(named), key=lambda cls: cls.__name__)


@pytest.mark.parametrize("error_class", _every_error(), ids=lambda cls: cls.__name__)
def test_every_exception_of_the_client_is_mapped(error_class: type[Exception]) -> None:
    error = error_class.__new__(error_class)
    error.__dict__.update(
        message="m", body=None, code=None, param=None, type=None, status_code=418, request=REQUEST,
        response=httpx2.Response(418, request=REQUEST),
    )  # fmt: skip

    failure = as_model_error(error, now=NOW)

    assert isinstance(error, CLIENT_ERRORS)
    assert isinstance(failure.code, ErrorCode)
    assert failure.code is not ErrorCode.INTERNAL


def test_a_certificate_that_is_not_trusted_is_no_passing_trouble() -> None:
    error = openai.APIConnectionError(request=REQUEST)
    error.__cause__ = ssl.SSLCertVerificationError("self-signed certificate")

    failure = as_model_error(error)

    assert failure.code is ErrorCode.TOOL_EXECUTION_FAILED
    assert "not trusted" in failure.message


def test_messages_are_bounded_and_one_line() -> None:
    response = httpx2.Response(500, request=REQUEST)
    error = openai.InternalServerError("x", response=response, body={"message": "line\n\x1b[31m" + "y" * 10_000})

    failure = as_model_error(error)

    assert len(failure.message) <= 500
    assert failure.message.isprintable()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key my-secret here", "key *** here"),
        ("pass p%40ss!", "pass ***!"),
        ("http://user:word@host/v1", "http://***@host/v1"),
        ("Authorization: Bearer abc.DEF-123", "Authorization: Bearer ***"),
        ("authorization: basic dXNlcjpwYXNz", "authorization: basic ***"),
        ("Incorrect API key provided: sk-abc****wxyz.", "Incorrect API key provided: ***"),
        ("GET /v1?api-key=abc&x=1", "GET /v1?api-key=***&x=1"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_scrubs_secrets_and_what_looks_like_one(text: str, shown: str) -> None:
    assert scrub(text, ["my-secret", "p@ss"]) == shown


def test_a_date_in_the_near_future_is_honoured() -> None:
    moment = (NOW + timedelta(seconds=90)).strftime("%a, %d %b %Y %H:%M:%S GMT")

    assert retry_after_s({"retry-after": moment}, NOW) == 90


def test_a_connection_that_takes_too_long_is_not_said_to_have_had_the_whole_limit() -> None:
    late = openai.APITimeoutError(request=REQUEST)
    late.__cause__ = httpx2.ConnectTimeout("")

    failure = as_model_error(late, limit=timedelta(seconds=60))

    assert (failure.code, str(failure)) == (ErrorCode.TIMEOUT, "no connection to the model server in time")


def test_a_late_answer_is_told_with_its_limit_where_that_is_known() -> None:
    late = openai.APITimeoutError(request=REQUEST)

    assert str(as_model_error(late, limit=timedelta(seconds=60))) == "the model gave no answer within 60 s"
    assert str(as_model_error(late)) == "the model gave no answer in time"
