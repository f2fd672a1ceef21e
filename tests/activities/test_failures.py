"""A long error text is cut before history, and kept whole as an artifact of the run."""

import re
from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.artifact_folders import Owner
from activities.artifacts import ArtifactStore
from activities.failures import ActivityBoundary
from activities.try_ledger import TryLedger
from harness.calls import FailureDetails
from harness.errors import MAX_ERROR_BYTES, bounded, encoded_text_size
from harness.guardrail import Guardrail, GuardReport
from harness.usage import Usage

SECRET = "hunter22"


async def fail(text: str, store: ArtifactStore | None) -> ApplicationError:
    """Return what Temporal gets of an activity that fails with this text."""

    async def activity() -> None:
        async with ActivityBoundary(TryLedger.resume(), Usage, secrets=(SECRET,), store=store):
            raise RuntimeError(text)

    with pytest.raises(ApplicationError) as error:
        await ActivityEnvironment().run(activity)
    return error.value


async def test_a_short_text_stays_as_it_is(tmp_path: Path) -> None:
    error = await fail("boom", ArtifactStore.open(str(tmp_path / "store")))

    assert error.message == "RuntimeError: boom"
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("character", ["x", "\u65e5", "\x00", "\udcff"], ids=ascii)
async def test_a_long_text_is_cut_and_kept_whole_without_secrets(tmp_path: Path, character: str) -> None:
    store = ArtifactStore.open(str(tmp_path))

    error = await fail(f"{SECRET} {character * 1_000_000} {SECRET}", store)

    (details,) = error.details
    assert isinstance(details, FailureDetails)
    assert details.tries[-1].message == error.message
    assert encoded_text_size(error.message) <= MAX_ERROR_BYTES
    # The end tells where the whole text is, also when somebody cuts the message again.
    found = re.search(r" bytes, cut; whole text: artifact ([0-9a-f]{64})\]$", bounded(error.message, 300))
    assert found
    whole = (await store.get(Owner("default", "test"), found[1])).decode()
    assert whole.count(character.encode(errors="replace").decode()) >= 1_000_000
    assert SECRET not in whole + error.message


@pytest.mark.parametrize("place", ["file", None], ids=["a store that fails", "no store"])
async def test_without_a_store_the_text_is_cut_and_nothing_else_happens(tmp_path: Path, place: str | None) -> None:
    (tmp_path / "file").touch()
    store = ArtifactStore.open(str(tmp_path / place / "store")) if place else None

    error = await fail("y" * 1_000_000, store)

    assert error.type == "TOOL_EXECUTION_FAILED"
    assert error.message.endswith(" [1000014 bytes, cut]")
    assert encoded_text_size(error.message) <= MAX_ERROR_BYTES


async def test_a_failure_tells_what_the_guardrails_say_and_nothing_when_they_are_silent() -> None:
    told = GuardReport(ran=(Guardrail.INJECTION,))

    async def failing(guard: GuardReport | None) -> FailureDetails:
        async with ActivityBoundary(TryLedger.resume(), Usage, guard=lambda: guard):
            raise RuntimeError("boom")
        raise AssertionError

    found = []
    for guard in (told, None):
        with pytest.raises(ApplicationError) as error:
            await ActivityEnvironment().run(failing, guard)
        found.append(error.value.details[0])

    assert [details.guard for details in found] == [told, None]
    assert "guard" not in found[1].model_dump(exclude_unset=True)
