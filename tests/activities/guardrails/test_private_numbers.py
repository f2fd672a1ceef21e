"""Whole numbers of JSON are private as their digits are, and come back as numbers."""

import pytest
from pydantic import JsonValue

from activities.artifact_folders import Owner
from activities.artifacts import ArtifactStore
from activities.guardrails.placeholders import EXAMPLE, PLACEHOLDER
from activities.guardrails.vault import Vault

OWNER = Owner("default", "run-1")
CARD = 4111111111111111


@pytest.fixture
def vault() -> Vault:
    return Vault(ArtifactStore.open("memory://"))


@pytest.mark.parametrize(
    "value",
    [
        {"card": CARD},
        {"phone": 13800138000},
        {"cpf": 52998224725},
        {"mobile": [2125550187]},
        {"ssn": 536221234},
        {"phone": {"value": 2125550187}},
        [{"name": "phone", "value": 2125550187}],
    ],
)
async def test_a_private_number_is_replaced_and_comes_back_as_a_number(vault: Vault, value: JsonValue) -> None:
    masked = await vault.mask_json(OWNER, value)

    assert not any(sign * 3 in repr(masked).partition("_")[0] for sign in "0123456789")
    assert len(PLACEHOLDER.findall(repr(masked))) == 1
    assert await vault.restore_json(OWNER, masked) == value


@pytest.mark.parametrize(
    "value",
    [
        {"id": 20261130471112, "created": 1764498069123, "size": 4294967296},
        {"price": 129900000000, "views": 13800138000, "user_id": CARD, "createdAt": 1764498069},
        {"phone": 5552671, "card": 411111111111, "ratio": 4111111111111111.5, "phones": True},
        {"card": CARD * 10**6},
    ],
)
async def test_other_numbers_stay(vault: Vault, value: JsonValue) -> None:
    assert await vault.mask_json(OWNER, value) is value


async def test_a_number_and_a_text_of_the_same_digits_come_back_as_they_were(vault: Vault) -> None:
    value: JsonValue = [CARD, str(CARD), {"card": CARD, str(CARD): f"it is {CARD}"}]

    masked = await vault.mask_json(OWNER, value)

    assert str(CARD) not in repr(masked)
    assert await vault.restore_json(OWNER, masked) == value


async def test_the_placeholder_of_a_number_within_a_text_gives_its_digits(vault: Vault) -> None:
    masked = await vault.mask_json(OWNER, CARD)

    assert await vault.restore_json(OWNER, f"pay {masked}") == f"pay {CARD}"
    assert await vault.restore(OWNER, str(masked)) == str(CARD)


async def test_a_number_that_was_met_as_a_text_is_known(vault: Vault) -> None:
    await vault.mask(OWNER, "ssn 536221234")

    assert str(await vault.mask_json(OWNER, {"n": 536221234})).startswith("{'n': '<NATIONAL_ID_")


async def test_another_process_restores_a_number(tmp_path: object) -> None:
    store = ArtifactStore.open(str(tmp_path))
    masked = await Vault(store).mask_json(OWNER, {"card": CARD})

    assert await Vault(store).restore_json(OWNER, masked) == {"card": CARD}


@pytest.mark.parametrize(
    "value",
    [
        {"secret": {"value": "abcdEFGH1234!!"}},
        {"headers": [{"name": "X-Api-Key", "value": "zx81-93jd-kk2m"}]},
        {"password": "correct horse battery staple"},
    ],
)
async def test_what_tells_may_stand_beside_or_above(vault: Vault, value: JsonValue) -> None:
    masked = await vault.mask_json(OWNER, value)

    assert len(PLACEHOLDER.findall(repr(masked))) == 1
    assert await vault.restore_json(OWNER, masked) == value


async def test_what_looks_like_a_placeholder_can_be_kept_as_what_it_is(vault: Vault) -> None:
    text = "What does <EMAIL_0123abcd> mean? Ask bob@example.com"
    await vault.keep_lookalikes(OWNER, text)

    masked = await vault.mask(OWNER, text)

    assert masked.startswith("What does <EMAIL_0123abcd> mean? Ask <EMAIL_")
    assert await vault.unknown(OWNER, masked) == ()
    assert await vault.restore(OWNER, masked) == text


async def test_keeping_a_placeholder_of_the_run_changes_nothing(vault: Vault) -> None:
    masked = await vault.mask(OWNER, "bob@example.com")
    await vault.keep_lookalikes(OWNER, masked)

    assert await vault.restore(OWNER, masked) == "bob@example.com"


async def test_no_value_gets_the_placeholder_of_the_prompts(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    await vault.mask(OWNER, "a@example.com")
    monkeypatch.setattr("activities.guardrails.run_secrets.RunSecrets.digits", lambda *_: "0" * 64)

    masked = await vault.mask(OWNER, "bob@example.com")

    assert EXAMPLE == "<EMAIL_00000000>"
    assert masked == f"<EMAIL_{'0' * 16}>"
