"""A tool that has come to do more than the run was told, and tools that end in odd ways."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from activities.toolkit import Effect, tool
from harness.calls import FailureDetails
from harness.errors import ErrorCode, ReportedError
from tests.activities.tool_calls import call, failure


@tool(effect=Effect.WRITE)
def act() -> str:
    """Act."""
    return "done"


async def test_a_tool_is_not_called_that_has_become_a_write() -> None:
    error = await failure(act, effect=Effect.READ)

    assert (error.type, FailureDetails.model_validate(error.details[0]).has_begun) == (
        ErrorCode.INVALID_ARGUMENT,
        False,
    )
    assert "it was not called" in error.message


async def test_a_tool_is_called_for_what_the_run_takes_it_for() -> None:
    assert (await call(act)).value == "done"


class Odd(BaseException):
    """What no tool should raise."""


def _raise(error: BaseException) -> Callable[[], str]:
    def plain() -> str:
        """Fail."""
        raise error

    return plain


@pytest.mark.parametrize(
    "error", [Odd("odd"), GeneratorExit("gone"), StopIteration("stop")], ids=["odd", "exit", "stop"]
)
async def test_an_odd_end_of_a_plain_function_is_a_typed_failure_that_is_not_tried_again(error: BaseException) -> None:
    failed = await failure(tool()(_raise(error)))

    assert (failed.type, failed.non_retryable) == (ErrorCode.TOOL_EXECUTION_FAILED, True)
    assert type(error).__name__ in failed.message


async def test_an_odd_end_of_an_async_function_is_a_typed_failure() -> None:
    @tool()
    async def odd() -> Any:
        """Fail."""
        raise Odd("odd")

    assert (await failure(odd)).type == ErrorCode.TOOL_EXECUTION_FAILED


@tool(ageing=True)
async def throttled() -> Any:
    """Ask a server that has had enough."""
    raise ReportedError(ErrorCode.RATE_LIMITED, "slow down", retry_after_s=7)


async def test_how_long_a_server_wants_to_be_left_alone_is_heeded() -> None:
    failed = await failure(throttled)

    assert failed.next_retry_delay is not None
    assert failed.next_retry_delay >= timedelta(seconds=7)
