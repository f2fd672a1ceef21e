"""The process around a command: its event loop, its errors as lines, its end."""

import asyncio
import io
import logging
import os
import re
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

import click

from cli.exit_codes import ExitCode, Refusal
from cli.plain_text import say

if TYPE_CHECKING:
    from cli.interrupts import Interrupts

Command = Callable[["Interrupts"], Awaitable[ExitCode]]
_NO_SERVER = "Worker validation failed"
"""How the SDK's error begins when a worker that starts finds no server, after twenty seconds, or not its namespace."""
_STATUS, _REASON = re.compile(r"code: (\w+)"), re.compile(r'message: "([^"]+)"')
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


def guarded(action: Callable[[], object]) -> int:
    """Run the command line; return its exit code, and say in one line what went wrong."""
    _fill_standard_descriptors()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a report may hold what the terminal cannot show
    try:
        code = action()
    except Refusal as refusal:
        say(refusal.message)
        return refusal.code
    except click.ClickException as error:
        command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "starter.py"
        say(f"{error.format_message()} See {command} --help.")
        return ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        say("Interrupted.")
        return ExitCode.CANCELLED
    except SystemExit:  # click's way to end when nobody reads stdout any more
        return ExitCode.FAILED
    except BaseException as error:  # noqa: BLE001 - a panic of the SDK's core, for one, is no Exception
        return _internal_error(error)
    return code if isinstance(code, int) else ExitCode.SUCCEEDED


def execute(command: Command) -> ExitCode:
    """Run a command in an event loop that Ctrl-C and SIGTERM reach."""
    return asyncio.run(_interruptible(command))


def end(code: int) -> NoReturn:
    """End the process.

    Not by way of the interpreter's shutdown, which crashes or hangs now and then when calls to Temporal are in flight.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            if stream is not None:  # closed by whoever started this process
                stream.flush()
    logging.shutdown()
    os._exit(code)


def _fill_standard_descriptors() -> None:
    """Keep files and sockets off the numbers 0 to 2 where those are closed: others write there without asking."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number


def _internal_error(error: BaseException) -> int:
    """Give people a line and the log the traceback."""
    logging.basicConfig(handlers=[logging.NullHandler()])  # without a log, the traceback would go to the terminal
    logging.getLogger("whippletree").error("internal error", exc_info=error)
    say(f"Internal error: {type(error).__name__}: {error}")
    return ExitCode.FAILED


async def _interruptible(command: Command) -> ExitCode:
    from temporalio.service import RPCError

    from cli.interrupts import Interrupts

    task = asyncio.current_task()
    if task is None:
        raise AssertionError
    with Interrupts(task) as interrupts:
        try:
            return await command(interrupts)
        except asyncio.CancelledError:
            if not interrupts.received:
                raise
            say("Interrupted.")
            return ExitCode.CANCELLED
        except RPCError as error:
            raise _refusal(error) from error
        except RuntimeError as error:
            if not str(error).startswith(_NO_SERVER):
                raise
            raise _refusal_of_worker(error) from error
        finally:
            await asyncio.sleep(0.05)  # lets the SDK put its last call to rest


def _refusal(error: Exception) -> Refusal:
    """Say what a server that answers with an error means."""
    from temporalio.service import RPCError

    return _refusal_of(error.status.name if isinstance(error, RPCError) else "", str(error))


def _refusal_of_worker(error: RuntimeError) -> Refusal:
    """Say what a worker means that has found no server, or not its namespace, when it started."""
    status, message = _STATUS.search(str(error)), _REASON.search(str(error))
    return _refusal_of(_WORD.sub("_", status[1]).upper() if status else "", message[1] if message else str(error))


def _refusal_of(status: str, told: str) -> Refusal:
    told = told.rstrip(".")
    if status in {"UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND"}:
        return Refusal(f"The Temporal server refuses: {told}. Correct TEMPORAL_NAMESPACE, the key or the profile.")
    return Refusal(f"The Temporal server failed: {told}", ExitCode.FAILED)
