"""Commands beside runs: what tools there are, how they have done, and what is kept of runs."""

from pathlib import Path

import click

from cli.exit_codes import ExitCode
from cli.flags import json_flag, mcp_option, run_id_argument, toolkit_of
from cli.process import execute


@click.group(no_args_is_help=False)
def artifacts() -> None:
    """Look after the values that are too large for history."""


@artifacts.command()
@click.option("--older-than", metavar="AGE", default="7d", show_default=True, help="With a unit: s, m, h or d.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@json_flag
def prune(older_than: str, *, dry_run: bool, as_json: bool) -> ExitCode:
    """Remove the artifacts of runs that Temporal no longer has."""
    from cli.artifacts import prune as prune_artifacts
    from cli.artifacts import read_age

    age = read_age(older_than)
    return execute(lambda _: prune_artifacts(age, is_dry_run=dry_run, as_json_text=as_json))


@artifacts.command("show")
@run_id_argument
@click.argument("digest")
def show_artifact(run_id: str, digest: str) -> ExitCode:
    """Write an artifact of a run to stdout, as it is."""
    from cli.artifacts import show as show_bytes

    return execute(lambda _: show_bytes(run_id, digest))


@click.command()
@click.option("--toolkit", "toolkits", metavar="NAME", multiple=True, help="Can be repeated.  [default: games]")
@mcp_option
@click.option("--lint", "is_lint", is_flag=True, help="Say what makes them hard to use; exit code 1 if anything does.")
@json_flag
def tools(toolkits: tuple[str, ...], *, mcp: Path | None, is_lint: bool, as_json: bool) -> ExitCode:
    """List the tools of toolkits. They are loaded into this process."""
    from cli.tools import lint_tools, list_tools

    name, action = toolkit_of(toolkits, mcp), lint_tools if is_lint else list_tools
    return execute(lambda _: action(name, mcp, as_json_text=as_json))


@click.command()
@click.option(
    "--last", metavar="N", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Most runs to look at."
)
@click.option("--since", metavar="AGE", help="Only runs that ended so long ago at most: a number and s, m, h or d.")
@click.option("--toolkit", metavar="NAME", default="", help="Only runs that had this toolkit.")
@json_flag
def stats(*, last: int, since: str | None, toolkit: str, as_json: bool) -> ExitCode:
    """Show how the tools have done in recent runs, the worst first."""
    from cli.recent_runs import RecentRuns
    from cli.stats import read_since
    from cli.stats import stats as show_stats

    runs = RecentRuns(last, None if since is None else read_since(since), toolkit)
    return execute(lambda _: show_stats(runs, as_json_text=as_json))
