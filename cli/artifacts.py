"""The commands that look after artifacts: prune removes what no run refers to any more, show reads one."""

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from temporalio.client import Client

from activities.artifact_folders import Owner, folder_of
from activities.artifacts import ArtifactStore, Holding
from cli import home as state
from cli.connection import load_settings, open_artifacts
from cli.exit_codes import ExitCode, Refusal
from cli.plain_text import AnswerLostError, answer
from cli.session import Session, open_session
from harness.errors import ErrorCode, ToolError
from workflows.payload_storage import value_of

_DIGEST = re.compile(r"[0-9a-f]{64}")
UNITS = {"s": timedelta(seconds=1), "m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
LEAST_AGE = timedelta(minutes=1)
"""How late a server's list of runs, and the clock of a store, may be."""


@dataclass(frozen=True)
class Pruning:
    """What is to be removed, and from where."""

    store: ArtifactStore
    holdings: Sequence[Holding]


def read_age(text: str) -> timedelta:
    """Read an age such as 7d."""
    match = re.fullmatch(r"([0-9]{1,5})([smhd])", text.strip(), re.ASCII)
    if match is None:
        raise Refusal(f"--older-than is {text[:20]!r}: give a whole number and a unit of s, m, h or d, such as 7d.")
    age = int(match[1]) * UNITS[match[2]]
    if age < LEAST_AGE:
        raise Refusal(f"--older-than is {text.strip()!r}, it must be at least 1m: the list of runs may be that late.")
    return age


async def prune(older_than: timedelta, *, is_dry_run: bool, as_json_text: bool) -> ExitCode:
    """Remove what belongs to no run that Temporal still has, and is older than this."""
    async with open_session(_refuse_without_runs) as session:
        _refuse_foreign_store(session)
        try:
            pruning = await _find(session.client, datetime.now(UTC) - older_than)
            for holding in () if is_dry_run else pruning.holdings:
                await pruning.store.delete(holding.folder)
        except ToolError as error:
            raise Refusal(f"Nothing more was removed: {error.message}", ExitCode.FAILED) from error
    answer(_as_json(pruning, is_dry_run=is_dry_run) if as_json_text else _as_text(pruning, is_dry_run=is_dry_run))
    return ExitCode.SUCCEEDED


async def show(run_id: str, digest: str) -> ExitCode:
    """Write the value of an artifact to stdout."""
    digest = digest.strip().lower().removeprefix("sha256:")
    if not _DIGEST.fullmatch(digest):
        raise Refusal(
            f"DIGEST is {digest!r}, which names no artifact: give the 64 hexadecimal digits that trace prints."
        )
    namespace = (load_settings() or {}).get("namespace") or "default"
    try:
        data = await open_artifacts().get(Owner(namespace, run_id), digest)
    except ToolError as error:
        is_lost = error.code is ErrorCode.ARTIFACT_LOST
        raise Refusal(f"{error.message}.", ExitCode.USAGE if is_lost else ExitCode.FAILED) from error
    try:
        sys.stdout.buffer.write(value_of(data))
        sys.stdout.flush()
    except OSError as error:
        raise AnswerLostError(error.strerror) from error
    return ExitCode.SUCCEEDED


async def _find(client: Client, deadline: datetime) -> Pruning:
    """Return what no run refers to.

    The store is listed before the runs. So a run that starts meanwhile either has nothing in the list, or it had
    started before the runs were listed and is among them; should the server's list be late, its artifacts are young.
    """
    store = open_artifacts()
    holdings = await store.holdings(client.namespace)
    runs = [execution.id async for execution in client.list_workflows(page_size=1000)] if holdings else []
    kept = {folder_of(Owner(client.namespace, run_id)) for run_id in runs}
    found = [holding for holding in holdings if holding.folder not in kept and holding.newest < deadline]
    return Pruning(store, sorted(found, key=lambda holding: holding.folder))


def _refuse_without_runs() -> None:
    if not (state.state_dir() / "temporal.db").exists():
        raise Refusal(
            f"There is no Temporal server here, and nothing has been run in {state.state_dir()}: without its runs "
            f"nobody knows what they need. Change to their directory, or set {state.SETTING} or TEMPORAL_ADDRESS."
        )


def _refuse_foreign_store(session: Session) -> None:
    """Keep a server that does not know the runs of a store from emptying it."""
    is_own = state.artifacts() == state.own_artifacts()
    if not session.is_embedded and is_own and (state.state_dir() / "temporal.db").exists():
        raise Refusal(
            f"{state.own_artifacts()} has values of runs of the embedded server, which this server does not know: set "
            f"{state.ARTIFACTS} to the store of its own runs, or unset TEMPORAL_ADDRESS."
        )
    if session.is_embedded and not is_own:
        raise Refusal(
            f"{state.ARTIFACTS} names a store that runs of other servers may need, and the embedded server knows only "
            "those of this directory: set TEMPORAL_ADDRESS to the server of its runs, or unset the store."
        )


def _as_json(pruning: Pruning, *, is_dry_run: bool) -> str:
    holdings = pruning.holdings
    return json.dumps(
        {
            "dry_run": is_dry_run,
            "runs": len(holdings),
            "objects": sum(holding.objects for holding in holdings),
            "bytes": sum(holding.size for holding in holdings),
            "folders": [holding.folder for holding in holdings],
        }
    )


def _as_text(pruning: Pruning, *, is_dry_run: bool) -> str:
    holdings = pruning.holdings
    runs, objects = len(holdings), sum(holding.objects for holding in holdings)
    size = sum(holding.size for holding in holdings)
    verb = "Would remove" if is_dry_run else "Removed"
    total = f"{verb} the artifacts of {runs:,} runs: {objects:,} objects, {size:,} bytes, from {pruning.store.name}"
    return "\n".join([*(f"{holding.folder}  {holding.size:,} bytes" for holding in holdings), total])
