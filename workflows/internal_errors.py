"""The one place where a bug in workflow code becomes a typed failure instead of a run that hangs.

Temporal takes an unknown exception in a workflow for a deployment to be fixed and repeats the task for ever.
Nondeterminism is not raised through here: it stays a failure of the workflow task, which a fixed deployment cures.
"""

from collections.abc import Awaitable, Callable
from typing import Any, NoReturn, TypeVar

from temporalio import workflow
from temporalio.exceptions import ApplicationError, FailureError
from temporalio.worker import (
    ExecuteWorkflowInput,
    HandleUpdateInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)

with workflow.unsafe.imports_passed_through():
    from harness.errors import ErrorCode, bounded

T = TypeVar("T")
INTERNAL = ErrorCode.INTERNAL.value


async def guarded(work: Awaitable[T], on_bug: Callable[[Exception], Awaitable[T]]) -> T:
    """Await work; hand an exception that nobody foresaw to `on_bug`."""
    try:
        return await work
    except FailureError:
        raise
    except Exception as bug:  # noqa: BLE001 - the boundary of workflow code: a bug must not hang the run
        workflow.logger.exception("internal error")
        return await on_bug(bug)


def describe_bug(bug: BaseException) -> str:
    """Return one line that names the exception."""
    return bounded(f"{type(bug).__name__}: {bug}", 500)


class InternalErrors(Interceptor):
    """Guards whatever a workflow raises, wrong arguments of a raw client included."""

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002, ARG002 - the SDK's name
    ) -> type[WorkflowInboundInterceptor]:
        """Return the interceptor of workflow code."""
        return _Guard


class _Guard(WorkflowInboundInterceptor):
    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:  # noqa: A002, ANN401 - the SDK's signature
        return await guarded(super().execute_workflow(input), _raise_internal)

    async def handle_update_handler(self, input: HandleUpdateInput) -> Any:  # noqa: A002, ANN401 - the SDK's signature
        return await guarded(super().handle_update_handler(input), _raise_internal)


async def _raise_internal(bug: Exception) -> NoReturn:
    raise ApplicationError(describe_bug(bug), type=INTERNAL, non_retryable=True) from bug
