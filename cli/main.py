"""The command line: its flags, and one line for whatever goes wrong."""

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import uuid4

import click
from click.core import ParameterSource

from cli.exit_codes import ExitCode, Refusal
from cli.flags import json_flag, mcp_option, run_id_argument, toolkit_of
from cli.process import end, execute, guarded
from cli.upkeep import artifacts, stats, tools

if TYPE_CHECKING:
    from cli.session import WorkerFactory


def _checked_seconds(_context: click.Context, parameter: click.Parameter, value: float) -> float:
    if math.isnan(value):  # lies in every range
        raise Refusal(f"{parameter.opts[0]} is 'nan', it must be a number of seconds.")
    return value


def run(worker_factory: "WorkerFactory") -> NoReturn:
    """Run the command line and end the process; the factory brings a worker into this process."""
    end(guarded(lambda: command.main(prog_name="starter.py", standalone_mode=False, obj=worker_factory)))


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--goal", help="What is wanted, in plain words.")
@click.option(
    "--mode",
    type=click.Choice(["plan", "loop"]),
    default="plan",
    show_default=True,
    help="Draw up a plan and execute it, or let a model pick one step at a time.",
)
@click.option(
    "--toolkit", "toolkits", metavar="NAME", multiple=True, help="Tools of the run. Can be repeated.  [default: games]"
)
@mcp_option
@click.option("--session", "session_id", metavar="ID", help="Groups runs that belong together.")
@click.option("--max-tokens", metavar="N", help="Tokens of all model calls together.  [default: 20000]")
@click.option("--max-tool-calls", metavar="N", help="Tries of all tools together.  [default: 50]")
@click.option("--max-wall-clock", metavar="S", type=float, help="Seconds from start to end.  [default: 120]")
@click.option("--model-timeout", metavar="S", type=float, help="Seconds for one model call.  [default: 60]")
@click.option("--max-cost", "max_cost_usd", metavar="USD", help="Cost of all model calls together.  [default: 0.25]")
@click.option("--max-replans", metavar="N", help="Planning rounds after the first.  [default: 2]")
@click.option("--max-steps", metavar="N", help="Steps of an agent loop.  [default: 20]")
@click.option("--allow-agents", is_flag=True, help="Let a plan have nodes that are agent loops.")
@click.option("--max-concurrency", metavar="N", help="Tools at work at once.  [default: 5]")
@click.option(
    "--model",
    "models",
    metavar="[ROLE=]NAME",
    multiple=True,
    help="Model of all roles, or of planner, synthesis, steps, judge or fallback. Can be repeated.",
)
@click.option(
    "--allow",
    metavar="PATTERN",
    multiple=True,
    help="Use only tools of this name, such as get_*; or permission:NAME. Can be repeated.",
)
@click.option("--deny", metavar="PATTERN", multiple=True, help="Use no tool of this name. Can be repeated.")
@click.option("--allow-writes", is_flag=True, help="Use also tools with effects that cannot be repeated.")
@click.option("--max-tools-shown", metavar="N", help="Tools that the planner is shown of many.  [default: 8]")
@click.option("--detach", is_flag=True, help="Print the run's id and do not wait for it.")
@click.option("--with-worker", is_flag=True, help="Run a worker in this process on a server that has none.")
@click.option(
    "--worker-wait",
    "worker_wait_s",
    metavar="S",
    type=click.FloatRange(0, 3600),
    callback=_checked_seconds,
    default=10,
    show_default=True,
    help="Seconds to wait for a worker to show up.",
)
@json_flag
@click.pass_context
def command(context: click.Context, /, **flags: object) -> ExitCode | None:
    """Run a goal, or look at a run and steer it by its id.

    Without TEMPORAL_ADDRESS, a profile, or a server on localhost:7233, a Temporal server is brought up for as long as
    it is needed.

    Exit codes: 0 succeeded, 1 failed, 2 bad usage or configuration, 3 budget exhausted, 4 cancelled.
    """
    if context.invoked_subcommand is None:
        return _start(context.obj, flags)
    for parameter in context.command.params:
        if context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE:
            raise Refusal(
                f"{parameter.opts[0]} starts a run and goes with no command: leave it or "
                f"{context.invoked_subcommand!r} out, or give it after the command."
            )
    return None


def _start(worker_factory: "WorkerFactory", flags: dict[str, Any]) -> ExitCode:
    if flags["goal"] is None:
        raise Refusal("No goal: give --goal TEXT, or see starter.py --help.")
    if flags["detach"] and flags["with_worker"]:
        raise Refusal("--with-worker ends with this command, so it does not go with --detach: leave one out.")
    from cli.request import build_request, refuse_mismatch
    from cli.run_kinds import Mode
    from cli.starting import StartOptions, start, start_detached

    mode = Mode(flags["mode"])
    refuse_mismatch(mode, flags)
    request = build_request(
        {**_pick(flags, "goal", "session_id"), "toolkit": toolkit_of(flags["toolkits"], flags["mcp"])},
        _pick(flags, "max_tokens", "max_tool_calls", "max_wall_clock", "max_cost_usd"),
        _options(flags),
    )
    options = StartOptions(mode, **_pick(flags, "as_json", "with_worker", "worker_wait_s"))
    if flags["detach"]:
        return execute(lambda _: start_detached(request, options))
    factory = _with_servers(worker_factory, flags["mcp"])
    return execute(lambda interrupts: start(request, options, factory, interrupts))


def _options(flags: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a run, None for what was not given."""
    from cli.request import read_models, read_patterns

    return {
        **_pick(flags, "max_replans", "max_concurrency", "max_tools_shown", "model_timeout"),
        "models": read_models(flags["models"]),
        "allow": read_patterns("--allow", flags["allow"]),
        "deny": read_patterns("--deny", flags["deny"]),
        "allow_writes": flags["allow_writes"] or None,
        "allow_agents": flags["allow_agents"] or None,
        "loop": None if flags["max_steps"] is None else _pick(flags, "max_steps"),
    }


def _with_servers(worker_factory: "WorkerFactory", mcp: Path | None) -> "WorkerFactory":
    """Return a factory whose worker opens the servers of a file, when one is given."""
    return worker_factory if mcp is None else partial(worker_factory, mcp=mcp)


def _pick(flags: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: flags[name] for name in names}


@command.command()
@run_id_argument
@mcp_option
@json_flag
@click.pass_obj
def watch(worker_factory: "WorkerFactory", run_id: str, *, mcp: Path | None, as_json: bool) -> ExitCode:
    """Watch a run to its end. Ctrl-C stops watching, not the run (exit code 130)."""
    from cli.watching import watch as watch_run

    factory = _with_servers(worker_factory, mcp)
    return execute(lambda interrupts: watch_run(run_id, factory, interrupts, as_json_text=as_json))


@command.command()
@run_id_argument
@json_flag
def show(run_id: str, *, as_json: bool) -> ExitCode:
    """Show a run as it is now, or how it ended."""
    from cli.inspection import show as show_run

    return execute(lambda _: show_run(run_id, as_json_text=as_json))


@command.command()
@run_id_argument
@json_flag
def trace(run_id: str, *, as_json: bool) -> ExitCode:
    """Print every step and decision of a run, one on a line."""
    from cli.inspection import trace as trace_run

    return execute(lambda _: trace_run(run_id, as_json_text=as_json))


@command.command()
@run_id_argument
@mcp_option
@click.pass_obj
def cancel(worker_factory: "WorkerFactory", run_id: str, *, mcp: Path | None) -> ExitCode:
    """Cancel a run and wait until it has ended (exit code 0 when it was cancelled)."""
    from cli.steering import cancel as cancel_run

    factory = _with_servers(worker_factory, mcp)
    return execute(lambda interrupts: cancel_run(run_id, factory, interrupts))


@command.command()
@run_id_argument
@click.option("--tokens", metavar="N", help="Tokens to add.")
@click.option("--tool-calls", metavar="N", help="Tool calls to add.")
@click.option("--wall-clock", metavar="S", type=float, help="Seconds to add.")
@click.option("--cost", "cost_usd", metavar="USD", help="Cost to add.")
@json_flag
def extend(run_id: str, *, as_json: bool, **amounts: object) -> ExitCode:
    """Add to the limits of a run under way."""
    from cli.request import build_extension
    from cli.steering import extend as extend_run

    more = build_extension(uuid4().hex, amounts)
    return execute(lambda _: extend_run(run_id, more, as_json_text=as_json))


for _more in (artifacts, tools, stats):
    command.add_command(_more)
