"""Model failures: every error of the client in our codes, bounded and without secrets."""

import asyncio
import json
import math
import re
import ssl
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpx2
import openai

from activities.model.refusal import Refusal
from activities.model.request import ModelError
from activities.model.scrubbing import scrub
from harness.errors import ErrorCode, bounded

CLIENT_ERRORS = (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, ValueError, RecursionError)
"""What a call can raise. The last two are what the client lets through for a body that is no JSON, or too deep."""
MAX_MESSAGE = 500
LONGEST_RETRY_AFTER = timedelta(days=1)
"""A longer wait is taken for a mistake of the server."""

_OVERFLOW_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
_OVERFLOW = re.compile(
    r"context[ _](?:length|window|size)|maximum context|(?:prompt|input|request)[^.]{0,40} too (?:long|large)"
    r"|too many (?:input |prompt )?tokens|reduce the length|exceeds? the (?:available |model'?s? )?context",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient[_ ](?:quota|credit|funds|balance)|exceeded your current quota|billing", re.IGNORECASE
)
_NO_MODEL_CODES = frozenset({"model_not_found", "DeploymentNotFound"})
_PROVIDERS_CODES = frozenset(
    {
        ErrorCode.PROVIDER_UNAVAILABLE,
        ErrorCode.TIMEOUT,
        ErrorCode.RATE_LIMITED,
        ErrorCode.QUOTA_EXHAUSTED,
        ErrorCode.AUTHENTICATION,
    }
)
"""What another provider, asked the same, may well not fail with."""
_NO_TOOLS = re.compile(
    r"supports? tool|support the provided 'tool|tools? param\b.{0,20}jinja|unsupported param: tool", re.IGNORECASE
)
"""A refusal of tools under a status that says something else: 404 at OpenRouter, 500 at llama.cpp."""
_FILTERED = re.compile(r"content[_ ](?:filter|policy|management)", re.IGNORECASE)


def as_model_error(
    error: Exception, *, secrets: Iterable[str] = (), now: datetime | None = None, limit: timedelta | None = None
) -> ModelError:
    """Return a client error as a ModelError.

    `now` is the time against which a Retry-After date is read, `limit` the time that the call had.
    """
    match error:
        case ModelError():
            return error
        case openai.APIStatusError():
            code, text = _from_status(error)
            wait = retry_after_s(error.response.headers, now or datetime.now(UTC))
        case openai.APITimeoutError() | TimeoutError() | asyncio.TimeoutError() | httpx2.TimeoutException():
            code, text, wait = ErrorCode.TIMEOUT, _late(error, limit), None
        case openai.APIConnectionError() | httpx2.TransportError():
            code, text, wait = *_from_connection(error), None
        case UnicodeEncodeError():
            code, text, wait = ErrorCode.INVALID_ARGUMENT, f"the prompt holds text that cannot be sent: {error}", None
        case openai.APIResponseValidationError() | ValueError() | RecursionError():
            code, wait = ErrorCode.INVALID_OUTPUT, None
            text = f"the server's answer is no chat completion: {error}"
        case _:
            code, wait = ErrorCode.TOOL_EXECUTION_FAILED, None
            text = f"the model call failed with {type(error).__name__}: {error}"
    is_providers = code in _PROVIDERS_CODES or _is_unknown_model(error)
    return ModelError(code, _one_line(scrub(text, secrets)), retry_after_s=wait, is_providers=is_providers)


def refusal_of(error: Exception, *, secrets: Iterable[str] = ()) -> Refusal | None:
    """Return why a server refused a request by HTTP 400 or 422; None for anything else and for too long a prompt.

    A refusal of tools counts whatever its status is.
    """
    if not isinstance(error, openai.APIStatusError):
        return None
    is_usual = isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError)
    if _is_overflow(error, _said(error)) or not (is_usual or _NO_TOOLS.search(_said(error))):
        return None
    return Refusal(scrub(f"{_said(error)} {error.code or ''}", secrets), str(error.param or ""))


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Read a Retry-After header, in seconds from now; a malformed, past or absurd one is ignored."""
    text = headers.get("retry-after", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        seconds = _until(text, now)
    if not math.isfinite(seconds) or not 0 <= seconds <= LONGEST_RETRY_AFTER.total_seconds():
        return None
    return seconds


def _until(text: str, now: datetime) -> float:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return math.nan
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now).total_seconds()


def _from_status(error: openai.APIStatusError) -> tuple[ErrorCode, str]:
    said = _target(error) if error.response.is_redirect else _said(error)
    return _code(error, said), f"{_meaning(error.status_code)} (HTTP {error.status_code}): {said}"


def _code(error: openai.APIStatusError, said: str) -> ErrorCode:
    match error.status_code:
        case 401 | 403:
            return ErrorCode.AUTHENTICATION
        case 402:
            return ErrorCode.QUOTA_EXHAUSTED
        case 429:
            return ErrorCode.QUOTA_EXHAUSTED if _is_quota(error, said) else ErrorCode.RATE_LIMITED
        case 413:
            return ErrorCode.CONTEXT_OVERFLOW
        case _ if _is_overflow(error, said):
            return ErrorCode.CONTEXT_OVERFLOW
        case 400 | 422 if error.code == "content_filter" or _FILTERED.search(said):
            return ErrorCode.GUARDRAIL_BLOCKED
        case 408:
            return ErrorCode.TIMEOUT
        case status if status == httpx2.codes.CONFLICT or status >= httpx2.codes.INTERNAL_SERVER_ERROR:
            return ErrorCode.PROVIDER_UNAVAILABLE
        case _:
            return ErrorCode.TOOL_EXECUTION_FAILED


def _meaning(status: int) -> str:
    match status:
        case 401 | 403:
            return "the model server refused the API key"
        case 402:
            return "the account has nothing left to pay with"
        case 404:
            return "the model or the address is not known to the server; check OPENAI_MODEL and OPENAI_BASE_URL"
        case 429:
            return "the model server limits the rate or the quota"
        case _ if httpx2.codes.is_redirect(status):
            return "the model server is elsewhere, and a key is sent nowhere else; correct OPENAI_BASE_URL"
        case _ if status >= httpx2.codes.INTERNAL_SERVER_ERROR:
            return "the model server failed"
        case _:
            return "the model server refused the request"


def _target(error: openai.APIStatusError) -> str:
    return f"it points to {error.response.headers.get('location') or 'no address'}"


def _said(error: openai.APIStatusError) -> str:
    """Return the reason that a server gives, as text or as a list of findings (FastAPI's `detail`)."""
    body = error.body
    inner = body.get("error", body) if isinstance(body, dict) else body
    message = inner.get("message") or inner.get("detail") if isinstance(inner, dict) else inner
    if isinstance(message, list | dict) and message:
        return bounded(json.dumps(message, ensure_ascii=False, default=str), MAX_MESSAGE)
    return message if isinstance(message, str) and message.strip() else "no reason given"


def _is_overflow(error: openai.APIStatusError, said: str) -> bool:
    return not _OVERFLOW_CODES.isdisjoint(_names(error)) or _OVERFLOW.search(said) is not None


def _is_quota(error: openai.APIStatusError, said: str) -> bool:
    return "insufficient_quota" in _names(error) or _QUOTA.search(said) is not None


def _is_unknown_model(error: Exception) -> bool:
    if not isinstance(error, openai.APIStatusError):
        return False
    return error.status_code == httpx2.codes.NOT_FOUND or not _NO_MODEL_CODES.isdisjoint(_names(error))


def _names(error: openai.APIStatusError) -> tuple[str, str]:
    """Return the code and the type of an error, which are whatever a server sent."""
    return str(error.code), str(error.type)


def _from_connection(error: Exception) -> tuple[ErrorCode, str]:
    cause: BaseException | None = error
    reasons = []
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return ErrorCode.TOOL_EXECUTION_FAILED, f"the model server's certificate is not trusted: {cause}"
        if isinstance(cause, httpx2.UnsupportedProtocol):
            return ErrorCode.TOOL_EXECUTION_FAILED, f"the model server's address cannot be used: {cause}"
        reasons.append(str(cause))
        cause = cause.__cause__ or cause.__context__
    return ErrorCode.PROVIDER_UNAVAILABLE, f"no connection to the model server: {reasons[-1] or reasons[0]}"


def _late(error: Exception, limit: timedelta | None) -> str:
    if isinstance(error.__cause__ or error, httpx2.ConnectTimeout):
        return "no connection to the model server in time"
    within = f"within {limit.total_seconds():g} s" if limit else "in time"
    return f"the model gave no answer {within}"


def _one_line(text: str) -> str:
    printable = "".join(char if char.isprintable() else " " for char in text)
    return bounded(re.sub(r" {2,}", " ", printable).strip(), MAX_MESSAGE)
