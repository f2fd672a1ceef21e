"""The vault: private values of a run, kept in the artifact store under the placeholders that stand for them.

Of each run there is a random key, and an object for each value. Names of objects and digits of placeholders come from
the key, so that nobody who sees a placeholder can tell or guess the value. An agent in a plan shares the vault of the
run.
"""

import hashlib
import json
import secrets
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from activities.artifact_folders import Owner, folder_of
from activities.artifacts import ArtifactStore
from activities.guardrails.json_texts import leaves_of, texts_of, with_leaves
from activities.guardrails.masked_texts import Found, Names, find_in, holds_any, masked, wanted, without_private
from activities.guardrails.placeholders import EXAMPLE, LENGTHS, PLACEHOLDER, placeholders_of
from activities.guardrails.private import PrivateKind, Value, may_hold_private
from activities.guardrails.run_secrets import RunSecrets
from activities.off_loop import off_loop
from activities.side_by_side import side_by_side

_MAX_RUNS = 256
"""Runs of which a process knows private values."""
_KEY_NAME = hashlib.sha256(b"whippletree: key of placeholders").hexdigest()
_KEY_BYTES = 32
_MOST_LOOKALIKES = 256
"""Of one text: further ones are not known."""


class Vault:
    """Replaces private values by placeholders, and back."""

    def __init__(self, store: ArtifactStore, *, is_on: bool = True) -> None:
        """Keep values in this store; a vault that is off replaces nothing, and still puts back what is there."""
        self._store = store
        self._runs: OrderedDict[str, RunSecrets] = OrderedDict()
        self.is_on = is_on

    def may_change(self, owner: Owner, text: str) -> bool:
        """Return whether masking may change a text; False is certain, and quick."""
        if not self.is_on:
            return False
        run = self._runs.get(folder_of(owner)) if self._runs else None
        return may_hold_private(text) or (run is not None and holds_any(text, run.sought))

    def hidden(self, owner: Owner, text: str) -> str:
        """Return a text with the kinds of its private values in their places, for logs: nothing brings them back.

        May be called from any thread.
        """
        if not self.may_change(owner, text):
            return text
        run = self._runs.get(folder_of(owner)) if self._runs else None
        return without_private(text, run.sought if run else {})

    async def mask(self, owner: Owner, text: str) -> str:
        """Replace private values of a text; equal values of one run get equal placeholders.

        Raises:
            ToolError: PROVIDER_UNAVAILABLE when the values cannot be kept.
        """
        if not self.is_on:
            return text
        run = self._run(owner)
        sought = run.sought
        found = await off_loop(lambda: find_in([(text, "")], sought), size=len(text))
        if not found:
            return text
        return str(masked(text, "", found, await self._names(owner, run, found)))

    async def mask_json(self, owner: Owner, value: JsonValue, *, size: int = 0) -> JsonValue:
        """Replace private values in all texts and long numbers of a value, keys included; a key may tell what they are.

        Args:
            owner: The run.
            value: Any JSON value.
            size: About how many characters it has, when it may be large.

        Returns:
            The value itself when it has no private values.

        Raises:
            ToolError: PROVIDER_UNAVAILABLE when the values cannot be kept.
        """
        if not self.is_on:
            return value
        run = self._run(owner)
        sought = run.sought
        found = await off_loop(lambda: find_in(leaves_of(value), sought), size=size)
        if not found:
            return value
        names = await self._names(owner, run, found)
        return await off_loop(
            lambda: with_leaves(value, lambda leaf, label: masked(leaf, label, found, names)), size=size
        )

    async def restore(self, owner: Owner, text: str) -> str:
        """Put private values back; a placeholder that the run does not know stays as it is.

        Raises:
            ToolError: PROVIDER_UNAVAILABLE when the store cannot tell.
        """
        values = await self._values(owner, placeholders_of(text))
        return _restored(text, values)

    async def unknown(self, owner: Owner, text: str) -> tuple[str, ...]:
        """Return what looks like a placeholder in a text, and is none that this store knows.

        Raises:
            ToolError: PROVIDER_UNAVAILABLE when the store cannot tell.
        """
        held = placeholders_of(text)
        values = await self._values(owner, held)
        return tuple(name for name in dict.fromkeys(held) if name not in values)

    async def restore_json(self, owner: Owner, value: JsonValue, *, size: int = 0) -> JsonValue:
        """Put private values back in all texts of a value, keys included; `size` as of `mask_json`.

        A number comes back where its placeholder is all of a text.

        Raises:
            ToolError: PROVIDER_UNAVAILABLE when the store cannot tell.
        """
        held = await off_loop(lambda: dict.fromkeys(_held(value)), size=size)
        values = await self._values(owner, held)
        if not values:
            return value

        def restored(leaf: Value, _: str) -> Value:
            return values.get(leaf) or _restored(leaf, values) if isinstance(leaf, str) else leaf

        return await off_loop(lambda: with_leaves(value, restored), size=size)

    async def keep_lookalikes(self, owner: Owner, text: str) -> None:
        """Keep what looks like a placeholder in a text, and is none of the run, as what stands for itself.

        Raises:
            ToolError: PROVIDER_UNAVAILABLE when it cannot be kept.
        """
        held = placeholders_of(text)[:_MOST_LOOKALIKES]
        if not held:
            return
        run = self._run(owner)
        new = [name for name in held if name not in run.values]
        if new:
            await self._know_key(owner, run)
            records = {name: json.dumps(["", name]).encode() for name in new}
            await side_by_side(lambda name: self._store.put_named(owner, run.name_of(name), records[name]), new)

    def _run(self, owner: Owner) -> RunSecrets:
        folder = folder_of(owner)
        run = self._runs.setdefault(folder, RunSecrets())
        self._runs.move_to_end(folder)
        if len(self._runs) > _MAX_RUNS:
            self._runs.popitem(last=False)
        return run

    async def _names(self, owner: Owner, run: RunSecrets, found: Found) -> Names:
        """Return the placeholders of all values that were found."""
        await self._know_key(owner, run)
        values = wanted(found)
        # What looks like a placeholder in these texts must not become one.
        there = {name for leaf, _ in found if isinstance(leaf, str) for name in placeholders_of(leaf)}
        names = await side_by_side(lambda each: self._name(owner, run, *each, there=there), values)
        return dict(zip(values, names, strict=True))

    async def _know_key(self, owner: Owner, run: RunSecrets) -> None:
        if not run.key:
            run.key = await self._store.put_named(owner, _KEY_NAME, secrets.token_bytes(_KEY_BYTES))

    async def _name(self, owner: Owner, run: RunSecrets, kind: PrivateKind, value: Value, *, there: set[str]) -> str:
        """Return the placeholder of a value, which is kept; a longer one where another value or a text has it."""
        if known := run.placeholders.get((kind, value)):
            return known
        digits, record = run.digits(kind, value), json.dumps([kind, value]).encode()
        for length in LENGTHS:
            placeholder = f"<{kind}_{digits[:length]}>"
            if placeholder == EXAMPLE:
                continue
            name = run.name_of(placeholder)
            if placeholder in there and await self._store.get_named(owner, name) != record:
                continue
            if await self._store.put_named(owner, name, record) == record:
                run.learn(kind, value, placeholder)
                return placeholder
        raise AssertionError(f"two values of kind {kind} have one digest")

    async def _values(self, owner: Owner, held: Iterable[str]) -> dict[str, Value]:
        """Return the values of placeholders, as far as the run knows them."""
        sought = tuple(held)
        if not sought:
            return {}
        run = self._run(owner)
        if not run.key:
            run.key = await self._store.get_named(owner, _KEY_NAME) or b""
        values = await side_by_side(lambda each: self._value(owner, run, each), sought if run.key else ())
        return {name: value for name, value in zip(sought, values, strict=False) if value is not None}

    async def _value(self, owner: Owner, run: RunSecrets, placeholder: str) -> Value | None:
        if placeholder in run.values:
            return run.values[placeholder][1]
        record = await self._store.get_named(owner, run.name_of(placeholder))
        if record is None:
            return None
        kind, value = json.loads(record)
        if value == placeholder:
            return placeholder
        run.learn(PrivateKind(kind), value, placeholder)
        return value if isinstance(value, int) else str(value)


def _restored(text: str, values: Mapping[str, Value]) -> str:
    return PLACEHOLDER.sub(lambda match: str(values.get(match[0], match[0])), text)


def _held(value: JsonValue) -> Iterable[str]:
    return (name for text, _ in texts_of(value) for name in placeholders_of(text))
