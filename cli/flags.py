"""Flags that several commands share."""

from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from cli.exit_codes import Refusal

MCP_VARIABLE = "WHIPPLETREE_MCP"
"""Names the servers file where --mcp is not given."""
mcp_option = click.option(
    "--mcp",
    metavar="FILE",
    type=click.Path(path_type=Path),
    envvar=MCP_VARIABLE,
    help="MCP servers whose tools can be used. Alone: all of them; by name: --toolkit mcp:NAME.",
)
json_flag = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout and nothing else.")


def _checked_run_id(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if not value.strip() or not value.isprintable():
        raise Refusal(f"RUN_ID is {value!r}, which names no run: give the id that starter.py printed.")
    return value


run_id_argument = click.argument("run_id", callback=_checked_run_id)


def toolkit_of(toolkits: Sequence[str], mcp: Path | None) -> str | None:
    """Return the one name of the toolkits that the flags of the current command ask for; None for the default."""
    from cli.toolkit_choice import toolkit_of_run

    source = click.get_current_context().get_parameter_source("mcp")
    return toolkit_of_run(toolkits, mcp, is_mcp_flag=source is ParameterSource.COMMANDLINE)
