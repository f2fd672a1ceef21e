import anyio
import pytest
from mcp import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    URL_ELICITATION_REQUIRED,
)

from activities.mcp.errors import is_session_gone, tool_error
from activities.mcp.transport import Refused
from harness.catalog import Effect
from harness.errors import ErrorClass, ErrorCode, ReportedError, ToolError, classify
from harness.recovery import code_of_effect


def error_of(error: Exception, status: int = 0, retry_after_s: float | None = None) -> ToolError:
    return tool_error(error, tool="web_get", server="web", refused=Refused(status, retry_after_s))


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (CONNECTION_CLOSED, ErrorCode.PROVIDER_UNAVAILABLE),
        (INTERNAL_ERROR, ErrorCode.PROVIDER_UNAVAILABLE),
        (INVALID_PARAMS, ErrorCode.INVALID_ARGUMENT),
        (METHOD_NOT_FOUND, ErrorCode.UNKNOWN_TOOL),
        (PARSE_ERROR, ErrorCode.INVALID_OUTPUT),
        (REQUEST_TIMEOUT, ErrorCode.TIMEOUT),
        (URL_ELICITATION_REQUIRED, ErrorCode.AUTHENTICATION),
        (INVALID_REQUEST, ErrorCode.TOOL_EXECUTION_FAILED),
        (-31999, ErrorCode.TOOL_EXECUTION_FAILED),
        (0, ErrorCode.TOOL_EXECUTION_FAILED),
    ],
)
def test_protocol_errors_have_codes(number: int, code: ErrorCode) -> None:
    error = error_of(MCPError(number, "why"))

    assert error.code is code
    assert error.message.startswith("web_get: the MCP server 'web' ")
    assert isinstance(error, ReportedError)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, ErrorCode.AUTHENTICATION),
        (403, ErrorCode.AUTHENTICATION),
        (404, ErrorCode.TOOL_EXECUTION_FAILED),
        (429, ErrorCode.RATE_LIMITED),
        (500, ErrorCode.PROVIDER_UNAVAILABLE),
        (503, ErrorCode.PROVIDER_UNAVAILABLE),
    ],
)
def test_what_http_says_goes_before_what_the_sdk_makes_of_it(status: int, code: ErrorCode) -> None:
    error = error_of(MCPError(INTERNAL_ERROR, "Server returned an error response"), status, 7)

    assert (error.code, error.retry_after_s) == (code, 7)
    assert f"answered HTTP {status}" in error.message


@pytest.mark.parametrize(
    "lost", [MCPError(CONNECTION_CLOSED, "Connection closed"), anyio.ClosedResourceError(), BrokenPipeError()]
)
def test_a_lost_connection_may_pass_for_a_read_and_is_uncertain_for_a_write(lost: Exception) -> None:
    code = error_of(lost).code

    assert isinstance(error_of(lost), ReportedError)
    assert classify(code) is ErrorClass.TRANSIENT
    assert code_of_effect(Effect.WRITE, code) is ErrorCode.UNCERTAIN_EFFECT


@pytest.mark.parametrize(
    "words", [MCPError(INVALID_PARAMS, "x" * 9_000), RuntimeError("x" * 9_000)], ids=["MCP", "any"]
)
def test_the_words_of_a_server_are_whole_so_that_no_secret_in_them_is_cut(words: Exception) -> None:
    assert "x" * 9_000 in error_of(words).message


def test_a_forgotten_session_is_told_from_other_refusals() -> None:
    assert is_session_gone(MCPError(INVALID_REQUEST, "Session terminated"))
    assert not is_session_gone(MCPError(INVALID_REQUEST, "what?"))
