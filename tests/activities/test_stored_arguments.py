"""What is in the artifact store takes its place in the arguments of a call just before the call is made."""

import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from activities import stored_arguments
from activities.artifact_folders import Owner, folder_of
from activities.artifacts import ArtifactStore
from activities.stored_arguments import loaded
from harness.artifact import Artifact, StoredArgument
from harness.errors import ErrorCode, ToolError

OWNER = Owner("default", "run-1")
GAMES: JsonValue = {"games": [{"name": "Hades"}, {"name": "Outer Wilds"}], "a/b": {"~": None}}


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore.open(str(tmp_path / "store"))


async def keep(store: ArtifactStore, value: JsonValue) -> Artifact:
    data = json.dumps(value).encode()
    return Artifact(digest=await store.put(OWNER, data), size=len(data))


async def test_a_stored_value_is_the_whole_argument(store: ArtifactStore) -> None:
    games = await keep(store, GAMES)

    arguments = await loaded(
        {"wish": "calm", "games": None}, [StoredArgument(name="games", artifact=games)], store, OWNER
    )

    assert arguments == {"wish": "calm", "games": GAMES}


async def test_arguments_keep_their_order(store: ArtifactStore) -> None:
    place = StoredArgument(name="b", artifact=await keep(store, 2))

    arguments = await loaded({"a": 1, "b": None, "c": 3}, [place], store, OWNER)

    assert list(arguments.items()) == [("a", 1), ("b", 2), ("c", 3)]


async def test_stored_values_go_to_their_positions_in_a_list(store: ArtifactStore) -> None:
    first, last = await keep(store, "first"), await keep(store, ["last"])
    stored = [
        StoredArgument(name="all", index=2, artifact=last),
        StoredArgument(name="all", index=0, artifact=first),
    ]

    arguments = await loaded({"all": [None, "inline", None]}, stored, store, OWNER)

    assert arguments == {"all": ["first", "inline", ["last"]]}


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("", GAMES),
        ("/games/1", {"name": "Outer Wilds"}),
        ("/games/0/name", "Hades"),
        ("/a~1b", {"~": None}),
        ("/a~1b/~0", None),
    ],
    ids=["whole", "item", "field", "escaped", "null"],
)
async def test_a_path_takes_a_part_of_the_stored_value(store: ArtifactStore, path: str, part: JsonValue) -> None:
    games = await keep(store, GAMES)
    stored = [
        StoredArgument(name="one", artifact=games, path=path),
        StoredArgument(name="some", index=1, artifact=games, path=path),
    ]

    arguments = await loaded({"one": None, "some": [5, None]}, stored, store, OWNER)

    assert arguments == {"one": part, "some": [5, part]}


async def test_a_value_that_is_a_list_itself_is_no_list_of_sources(store: ArtifactStore) -> None:
    numbers = await keep(store, [1, 2])

    arguments = await loaded({"numbers": None}, [StoredArgument(name="numbers", artifact=numbers)], store, OWNER)

    assert arguments == {"numbers": [1, 2]}


async def test_the_arguments_of_the_caller_stay_as_they_were(store: ArtifactStore) -> None:
    value = await keep(store, "value")
    given: dict[str, JsonValue] = {"all": [None, {"a": 1}], "one": None}
    stored = [StoredArgument(name="all", index=0, artifact=value), StoredArgument(name="one", artifact=value)]

    await loaded(given, stored, store, OWNER)

    assert given == {"all": [None, {"a": 1}], "one": None}


async def test_nothing_stored_needs_no_store(store: ArtifactStore, tmp_path: Path) -> None:
    assert await loaded({"wish": "calm", "all": [1]}, [], store, OWNER) == {"wish": "calm", "all": [1]}
    assert not (tmp_path / "store").exists()


async def test_what_is_too_large_together_is_refused_before_anything_is_read(store: ArtifactStore) -> None:
    half = stored_arguments.MAX_LOADED_BYTES // 2
    stored = [
        StoredArgument(name="all", index=index, artifact=Artifact(digest=digit * 64, size=half + 1))
        for index, digit in enumerate("ab")
    ]

    with pytest.raises(ToolError) as caught:
        await loaded({"all": [None, None]}, stored, store, OWNER)

    assert caught.value.code is ErrorCode.PAYLOAD_TOO_LARGE
    assert caught.value.message == "the arguments have 268,435,458 bytes, the limit is 268,435,456; pass less"


async def test_a_value_that_is_taken_many_times_counts_once(store: ArtifactStore) -> None:
    large = (await keep(store, "value")).model_copy(update={"size": stored_arguments.MAX_LOADED_BYTES})
    stored = [StoredArgument(name="all", index=index, artifact=large) for index in range(3)]

    arguments = await loaded({"all": [None, None, None]}, stored, store, OWNER)

    assert arguments == {"all": ["value", "value", "value"]}


async def test_a_lost_value_is_named_by_its_digest(store: ArtifactStore) -> None:
    lost = Artifact(digest="ab" * 32, size=20_000)

    with pytest.raises(ToolError) as caught:
        await loaded({"games": None}, [StoredArgument(name="games", artifact=lost)], store, OWNER)

    assert caught.value.code is ErrorCode.ARTIFACT_LOST
    assert "ab" * 32 in caught.value.message
    assert "it is missing" in caught.value.message


async def test_a_damaged_value_is_never_passed_on(store: ArtifactStore, tmp_path: Path) -> None:
    games = await keep(store, GAMES)
    (tmp_path / "store" / folder_of(OWNER) / games.digest).write_bytes(b'{"games": []}')

    with pytest.raises(ToolError) as caught:
        await loaded({"games": None}, [StoredArgument(name="games", artifact=games)], store, OWNER)

    assert caught.value.code is ErrorCode.ARTIFACT_LOST
    assert games.digest in caught.value.message


async def test_the_value_of_another_run_is_not_found(store: ArtifactStore) -> None:
    games = await keep(store, GAMES)

    with pytest.raises(ToolError) as caught:
        await loaded({"games": None}, [StoredArgument(name="games", artifact=games)], store, Owner("default", "run-2"))

    assert caught.value.code is ErrorCode.ARTIFACT_LOST


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/prices", "no field 'prices' at the top: its fields are 'games', 'a/b'"),
        ("/games/2", "no item '2' at '/games'"),
    ],
    ids=["field", "index"],
)
async def test_a_path_that_leads_nowhere_is_named_with_its_argument_and_digest(
    store: ArtifactStore, path: str, why: str
) -> None:
    games = await keep(store, GAMES)

    with pytest.raises(ToolError) as caught:
        await loaded({"games": None}, [StoredArgument(name="games", artifact=games, path=path)], store, OWNER)

    assert caught.value.code is ErrorCode.INVALID_ARGUMENT
    assert caught.value.message.startswith(f"argument 'games': in the artifact {games.digest}: {why}")
