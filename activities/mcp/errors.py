"""Errors: what a failed call of a server means here, as a code and a line that the planner can use.

Texts are whole here: the activity boundary hides secrets in them first, and cuts them then.
"""

import anyio
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
from pydantic import ValidationError

from activities.failures import describe_validation
from activities.mcp.transport import Refused
from harness.errors import ErrorCode, ReportedError

SESSION_GONE = "Session terminated"
"""What the SDK says when a server no longer knows the session."""

_CODES = {
    CONNECTION_CLOSED: ErrorCode.PROVIDER_UNAVAILABLE,
    INTERNAL_ERROR: ErrorCode.PROVIDER_UNAVAILABLE,
    INVALID_PARAMS: ErrorCode.INVALID_ARGUMENT,
    METHOD_NOT_FOUND: ErrorCode.UNKNOWN_TOOL,
    PARSE_ERROR: ErrorCode.INVALID_OUTPUT,
    REQUEST_TIMEOUT: ErrorCode.TIMEOUT,
    URL_ELICITATION_REQUIRED: ErrorCode.AUTHENTICATION,
}
_STATUSES = {
    401: ErrorCode.AUTHENTICATION,
    403: ErrorCode.AUTHENTICATION,
    408: ErrorCode.TIMEOUT,
    413: ErrorCode.PAYLOAD_TOO_LARGE,
    429: ErrorCode.RATE_LIMITED,
}


def is_session_gone(error: MCPError) -> bool:
    """Return whether the server has forgotten the session, so that a new one must be opened."""
    return error.code == INVALID_REQUEST and error.message == SESSION_GONE


def tool_error(error: Exception, *, tool: str, server: str, refused: Refused) -> ReportedError:
    """Return what a failed call is to the run; `refused` is what HTTP said about it, if it did."""
    if isinstance(error, MCPError):
        return _protocol_error(error, tool=tool, server=server, refused=refused)
    if isinstance(error, anyio.BrokenResourceError | anyio.ClosedResourceError | OSError):
        return ReportedError(ErrorCode.PROVIDER_UNAVAILABLE, f"{tool}: the MCP server {server!r} has gone in mid-call")
    what = describe_validation(error) if isinstance(error, ValidationError) else str(error)
    return ReportedError(ErrorCode.INVALID_OUTPUT, f"{tool}: the MCP server {server!r} broke its own word: {what}")


def _protocol_error(error: MCPError, *, tool: str, server: str, refused: Refused) -> ReportedError:
    if refused.status:
        code = _STATUSES.get(refused.status, _by_kind(refused.status))
        return ReportedError(
            code,
            f"{tool}: the MCP server {server!r} answered HTTP {refused.status}: {error.message}",
            retry_after_s=refused.retry_after_s,
        )
    if error.code == CONNECTION_CLOSED:
        return ReportedError(ErrorCode.PROVIDER_UNAVAILABLE, f"{tool}: the MCP server {server!r} has gone in mid-call")
    code = _CODES.get(error.code, ErrorCode.TOOL_EXECUTION_FAILED)
    return ReportedError(code, f"{tool}: the MCP server {server!r} answered error {error.code}: {error.message}")


def _by_kind(status: int) -> ErrorCode:
    return ErrorCode.PROVIDER_UNAVAILABLE if status >= 500 else ErrorCode.TOOL_EXECUTION_FAILED  # noqa: PLR2004 - HTTP
