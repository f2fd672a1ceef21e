"""Private values at the command line: out of the goal before the server sees it, and back into what people read."""

import os
from typing import TypeVar, overload

from temporalio.client import Client

from activities.artifact_folders import Owner
from activities.guardrails.vault import Vault
from cli.home import ARTIFACTS
from cli.plain_text import say
from cli.run_kinds import Result
from harness.errors import ToolError
from harness.loop import LoopResult
from harness.run import RunResult
from workflows.payload_storage import store_of

SETTING = "WHIPPLETREE_PII"
"""Set to off, it lets private values through as they are; those of earlier runs are still put back."""
AnyResult = TypeVar("AnyResult", RunResult, LoopResult)


async def masked_goal(client: Client, run_id: str, goal: str) -> str:
    """Return a goal with placeholders in place of its private values, which are kept with the run.

    What looks like a placeholder in it is kept as well: workers take an unknown one for a value in another store.

    Raises:
        ToolError: PROVIDER_UNAVAILABLE when they cannot be kept; the goal must not be sent then.
    """
    vault = _vault(client)
    if vault is None:
        return goal
    owner = Owner(client.namespace, run_id)
    await vault.keep_lookalikes(owner, goal)
    return await vault.mask(owner, goal)


@overload
async def restored(client: Client, run_id: str, value: str) -> str: ...


@overload
async def restored(client: Client, run_id: str, value: AnyResult) -> AnyResult: ...


async def restored(client: Client, run_id: str, value: str | AnyResult) -> str | AnyResult:
    """Return a text, or a result with report and ungrounded figures, with private values for their placeholders.

    Those whose values the store does not have, or all when it cannot be read, stay, and a line on stderr says so.
    """
    if isinstance(value, str):
        return (await _restored(client, run_id, [value]))[0]
    report, *figures = await _restored(client, run_id, _texts_of(value))
    return value.model_copy(update={"report": None if value.report is None else report, "ungrounded": tuple(figures)})


def _texts_of(result: Result) -> list[str]:
    return [result.report or "", *result.ungrounded]


async def _restored(client: Client, run_id: str, texts: list[str]) -> list[str]:
    vault, store, owner = _vault(client), store_of(client.data_converter), Owner(client.namespace, run_id)
    if vault is None or store is None:
        return texts
    try:
        values = [await vault.restore(owner, text) for text in texts]
        left = len(await vault.unknown(owner, "\n".join(texts)))
    except ToolError as error:
        say(f"Private values of run {run_id} stay placeholders: {error.message}.")
        return texts
    if left:
        say(_told_left(left, run_id, store.name))
    return values


def _told_left(left: int, run_id: str, store: str) -> str:
    count = "1 placeholder" if left == 1 else f"{left:,} placeholders"
    return (
        f"Private values of run {run_id}: {count} stayed, because the artifact store {store} has no value for "
        f"{'it' if left == 1 else 'them'} (pruned, or kept elsewhere: then set {ARTIFACTS} to that place)."
    )


def _vault(client: Client) -> Vault | None:
    store = store_of(client.data_converter)
    return Vault(store, is_on=os.environ.get(SETTING, "").strip().lower() != "off") if store else None
