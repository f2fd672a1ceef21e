"""The vault replaces private values, and puts exactly those back."""

import asyncio
import json
import sys
import threading
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from activities.artifact_folders import Owner
from activities.artifacts import ArtifactStore
from activities.guardrails import vault as vault_module
from activities.guardrails.placeholders import PLACEHOLDER
from activities.guardrails.private import PrivateKind
from activities.guardrails.run_secrets import RunSecrets
from activities.guardrails.vault import Vault
from harness.errors import ErrorCode, ToolError
from tests.activities.guardrails.private_texts import PRIVATE_TEXTS

OWNER = Owner("default", "run-1")
MAIL = "bob@example.com"
_runs = count()
_PIECES = st.sampled_from(
    [
        MAIL,
        "+1 415-555-2671",
        "4111 1111 1111 1111",
        "<EMAIL_3f9a2c41>",
        "<PHONE_0123456789abcdef>",
        "<EMAIL_",
        "ssn 536221234",
        "bob%40example.com",
        "+1\u00a0(212)\u00a0555\u20110187x42",
        "иван@пример.рф",
        '{\\"password\\": \\"hunter2x!\\"}',
        "4111\n1111\n1111\n1111",
        "ann\u200b.lee@exam\nple.com",
        "?token=abcd1234efgh5678&x=",
    ]
)
TEXTS = st.lists(_PIECES | st.text(max_size=8), max_size=6).map("".join)
KEYS = st.sampled_from(["ssn", "value", "name", "phone", "token", "id"])
VALUES = st.recursive(
    TEXTS | st.integers() | st.sampled_from([4111111111111111, 13800138000, 536221234]) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | KEYS, inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore.open(str(tmp_path / "store"))


def names_of(folder: Path) -> set[str]:
    return {file.name for file in folder.rglob("*") if file.is_file()}


async def test_a_value_is_replaced_by_its_kind_and_eight_digits(store: ArtifactStore) -> None:
    masked = await Vault(store).mask(OWNER, f"ask {MAIL} or 13800138000")

    ask, mail, _, phone = masked.split(" ")
    assert (ask, mail[:7], phone[:7]) == ("ask", "<EMAIL_", "<PHONE_")
    assert PLACEHOLDER.fullmatch(mail)
    assert len(mail) == len("<EMAIL_3f9a2c41>")


@pytest.mark.parametrize(("text", "values"), PRIVATE_TEXTS, ids=[text[:30] for text, _ in PRIVATE_TEXTS])
async def test_fifty_texts_make_the_round_trip(
    store: ArtifactStore, text: str, values: tuple[tuple[str, str], ...]
) -> None:
    masked = await Vault(store).mask(OWNER, text)

    assert [value for _, value in values if value in masked] == []
    assert await Vault(store).restore(OWNER, masked) == text


@settings(deadline=None)
@given(TEXTS)
def test_what_was_masked_comes_back_exactly(text: str) -> None:
    owner = Owner("default", f"run-{next(_runs)}")
    vault = Vault(ArtifactStore.open("memory://"))

    async def trip() -> str:
        return await vault.restore(owner, await vault.mask(owner, text))

    assert asyncio.run(trip()) == text


@settings(deadline=None)
@given(VALUES)
def test_what_was_masked_in_json_comes_back_exactly(value: JsonValue) -> None:
    owner = Owner("default", f"run-{next(_runs)}")
    vault = Vault(ArtifactStore.open("memory://"))

    async def trip() -> JsonValue:
        return await vault.restore_json(owner, await vault.mask_json(owner, value))

    assert asyncio.run(trip()) == value


@settings(deadline=None)
@given(st.lists(_PIECES | st.text(max_size=8), max_size=6).map("\n".join))
def test_masking_again_changes_nothing(text: str) -> None:
    owner = Owner("default", f"run-{next(_runs)}")
    vault = Vault(ArtifactStore.open("memory://"))

    async def twice() -> tuple[str, str]:
        once = await vault.mask(owner, text)
        return once, await vault.mask(owner, once)

    once, again = asyncio.run(twice())
    assert once == again


async def test_equal_values_of_a_run_get_equal_placeholders_in_any_process(store: ArtifactStore) -> None:
    one, other = await asyncio.gather(*(Vault(store).mask(OWNER, MAIL) for _ in range(2)))

    assert one == other


async def test_another_run_gets_other_placeholders_and_cannot_read_these(store: ArtifactStore) -> None:
    vault, other = Vault(store), Owner("default", "run-2")
    masked = await vault.mask(OWNER, MAIL)

    assert await vault.mask(other, MAIL) != masked
    assert await vault.restore(other, masked) == masked


async def test_an_agent_in_a_plan_shares_the_vault_of_its_run(store: ArtifactStore) -> None:
    masked = await Vault(store).mask(OWNER, MAIL)

    assert await Vault(store).restore(Owner("default", "run-1::agent@0"), masked) == MAIL


async def test_keys_and_texts_of_json_are_replaced_and_the_key_above_tells(store: ArtifactStore) -> None:
    value: JsonValue = {MAIL: [{"ssn": "536221234"}, 7, None], "password": "tr0ub4dor"}
    masked = json.dumps(await Vault(store).mask_json(OWNER, value))

    assert [each for each in (MAIL, "536221234", "tr0ub4dor") if each in masked] == []
    assert await Vault(store).restore_json(OWNER, json.loads(masked)) == value


async def test_a_value_that_was_met_before_is_replaced_where_nothing_tells_what_it_is(store: ArtifactStore) -> None:
    vault = Vault(store)
    placeholder = (await vault.mask(OWNER, "ssn 536221234")).removeprefix("ssn ")

    assert vault.may_change(OWNER, "found 536221234 in it")
    assert await vault.mask(OWNER, "found 536221234 in it") == f"found {placeholder} in it"
    assert await vault.mask(OWNER, "found 5362212345 in it") == "found 5362212345 in it"


async def test_what_tells_a_value_may_stand_in_another_text(store: ArtifactStore) -> None:
    value: JsonValue = {"note": "536221234 again", "ssn": "536221234"}

    assert "536221234" not in json.dumps(await Vault(store).mask_json(OWNER, value))


async def test_a_restored_value_is_known_from_then_on(store: ArtifactStore) -> None:
    masked = await Vault(store).mask(OWNER, "ssn 536221234")
    vault = Vault(store)
    await vault.restore(OWNER, masked)

    assert "536221234" not in await vault.mask(OWNER, "536221234")


async def test_a_placeholder_that_nobody_has_made_stays_as_it_is(store: ArtifactStore) -> None:
    assert await Vault(store).restore(OWNER, "<EMAIL_3f9a2c41>") == "<EMAIL_3f9a2c41>"
    await Vault(store).mask(OWNER, MAIL)
    assert await Vault(store).restore(OWNER, "<EMAIL_3f9a2c41>") == "<EMAIL_3f9a2c41>"


async def test_two_values_that_would_share_a_placeholder_get_two(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault_module, "LENGTHS", (1, 64))  # one digit of sixteen: some of twenty values must share it
    text = " ".join(f"user{number}@example.com" for number in range(20))

    masked = await Vault(store).mask(OWNER, text)

    assert len(set(masked.split(" "))) == 20
    assert len({len(each) for each in masked.split(" ")}) == 2


async def test_what_looks_like_a_new_placeholder_in_the_text_itself_is_not_made_one(store: ArtifactStore) -> None:
    vault = Vault(store)
    await vault.mask(OWNER, "a@example.com")
    run = vault._run(OWNER)
    forged = f"<EMAIL_{run.digits(vault_module.PrivateKind.EMAIL, MAIL)[:8]}>"

    masked = await vault.mask(OWNER, f"{forged} {MAIL}")

    assert masked.startswith(f"{forged} <EMAIL_")
    assert len(masked) == len(forged) + 1 + len("<EMAIL_0123456789abcdef>")
    assert await vault.restore(OWNER, masked) == f"{forged} {MAIL}"


async def test_names_in_the_store_are_those_of_artifacts_and_tell_nothing(store: ArtifactStore, tmp_path: Path) -> None:
    await Vault(store).mask(OWNER, MAIL)

    (holding,) = await store.holdings("default")
    assert (holding.folder, holding.objects) == ("default/run-1", 2)  # the key of the run, and the value
    assert [name for name in names_of(tmp_path) if len(name) != 64 or "bob" in name] == []


async def test_a_vault_that_is_off_masks_nothing_and_still_restores(store: ArtifactStore) -> None:
    masked = await Vault(store).mask(OWNER, MAIL)
    off = Vault(store, is_on=False)

    assert await off.mask(OWNER, MAIL) == MAIL
    assert await off.mask_json(OWNER, [MAIL]) == [MAIL]
    assert off.hidden(OWNER, MAIL) == MAIL
    assert await off.restore(OWNER, masked) == MAIL


async def test_logs_get_kinds_in_place_of_values(store: ArtifactStore) -> None:
    vault = Vault(store)
    await vault.mask(OWNER, "ssn 536221234")

    assert vault.hidden(OWNER, f"{MAIL} has 536221234") == "<EMAIL> has <NATIONAL_ID>"


async def test_a_text_that_cannot_be_kept_is_not_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")

    with pytest.raises(ToolError) as caught:
        await Vault(ArtifactStore.open(str(tmp_path / "file"))).mask(OWNER, MAIL)

    assert caught.value.code is ErrorCode.PROVIDER_UNAVAILABLE


async def test_a_run_with_more_values_than_a_process_keeps_restores_all(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.guardrails.run_secrets.MAX_VALUES", 10)
    value: JsonValue = [f"user{number}@example.com" for number in range(30)]
    vault = Vault(store)

    masked = await vault.mask_json(OWNER, value)

    assert await vault.restore_json(OWNER, masked) == value


async def test_a_process_forgets_the_runs_that_it_met_longest_ago(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault_module, "_MAX_RUNS", 2)
    vault = Vault(store)
    masked = [await vault.mask(Owner("default", f"run-{run}"), MAIL) for run in range(4)]

    assert len(vault._runs) == 2
    assert [await vault.restore(Owner("default", f"run-{run}"), text) for run, text in enumerate(masked)] == [MAIL] * 4


async def test_large_values_are_searched_in_a_thread(store: ArtifactStore) -> None:
    value: JsonValue = [f"{'word ' * 10_000}{MAIL}"]

    masked = await Vault(store).mask_json(OWNER, value, size=50_000)

    assert MAIL not in json.dumps(masked)
    assert await Vault(store).restore_json(OWNER, masked, size=50_000) == value


async def test_threads_may_hide_values_while_others_are_learned(store: ArtifactStore) -> None:
    vault = Vault(store)
    run = vault._run(OWNER)
    run.learn(PrivateKind.SECRET, "first value", "<SECRET_00000000>")
    is_over = threading.Event()

    def hide() -> int:
        count = 0
        while not is_over.is_set():
            count += vault.may_change(OWNER, "nothing of all that")
        return count

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [asyncio.create_task(asyncio.to_thread(hide)) for _ in range(2)]
        await asyncio.sleep(0.01)
        for number in range(6000):
            run.learn(PrivateKind.SECRET, f"value {number:06}", f"<SECRET_{number:08x}>")
            if number % 100 == 0:
                await asyncio.sleep(0.001)
        is_over.set()
        counts = await asyncio.gather(*threads)
    finally:
        is_over.set()
        sys.setswitchinterval(before)

    assert counts == [0, 0]
    assert run.sought["value 005999"] is PrivateKind.SECRET


async def test_what_a_thread_reads_of_a_run_is_never_changed() -> None:
    run = RunSecrets()
    run.learn(PrivateKind.SECRET, "first value", "<SECRET_00000000>")
    read = run.sought

    run.learn(PrivateKind.SECRET, "second value", "<SECRET_00000001>")

    assert dict(read) == {"first value": PrivateKind.SECRET}
    assert list(run.sought) == ["second value", "first value"]
