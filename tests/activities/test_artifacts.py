"""The artifact store keeps bytes by digest under their run, and says in one typed error what it cannot give back."""

import asyncio
import hashlib
import http.server
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from activities import store_calls
from activities.artifact_folders import Owner, folder_of
from activities.artifact_place import StoreError
from activities.artifacts import ArtifactStore
from harness.errors import ErrorCode, ToolError

OWNER = Owner("default", "run-1")
DATA = b"a value that is too large for history"
DIGEST = hashlib.sha256(DATA).hexdigest()
IDS = [
    "run-1",
    "Run-1",
    "RUN-1",
    "",
    ".",
    "..",
    "../../etc/passwd",
    "a/b",
    "a\\b",
    "a b",
    "a%2fb",
    "é日本\U0001f600",
    "\udcff",
    "\x00",
    "nul.",
    "~",
    "x" * 200,
    "x" * 201,
    "x" * 1000,
    "é" * 500,
    "x" * 999 + "y",
]


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore.open(str(tmp_path / "store"))


def file_of(tmp_path: Path, owner: Owner = OWNER, digest: str = DIGEST) -> Path:
    return tmp_path / "store" / folder_of(owner) / digest


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("size", [0, 1, 100_000, 6_000_000])
async def test_what_was_put_comes_back(store: ArtifactStore, size: int) -> None:
    data = b"x" * size

    digest = await store.put(OWNER, data)

    assert digest == hashlib.sha256(data).hexdigest()
    assert await store.get(OWNER, digest) == data


async def test_every_way_to_name_a_directory_leads_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    await ArtifactStore.open("a dir").put(OWNER, DATA)

    for name in (str(tmp_path / "a dir"), f"file://{tmp_path}/a%20dir", f"file://localhost{tmp_path}/a%20dir"):
        assert await ArtifactStore.open(name).get(OWNER, DIGEST) == DATA


async def test_a_store_in_memory_is_one_in_a_process() -> None:
    await ArtifactStore.open("memory://").put(OWNER, DATA)

    assert await ArtifactStore.open("memory:///").get(OWNER, DIGEST) == DATA


async def test_nothing_is_created_before_something_is_put(store: ArtifactStore, tmp_path: Path) -> None:
    with pytest.raises(ToolError):
        await store.get(OWNER, DIGEST)
    assert await store.holdings("default") == []

    assert not (tmp_path / "store").exists()


async def test_what_is_there_is_not_written_again(store: ArtifactStore, tmp_path: Path) -> None:
    await store.put(OWNER, DATA)
    before = file_of(tmp_path).stat()

    assert await store.put(OWNER, DATA) == DIGEST

    assert file_of(tmp_path).stat().st_ino == before.st_ino


async def test_what_was_cut_is_written_again(store: ArtifactStore, tmp_path: Path) -> None:
    await store.put(OWNER, DATA)
    file_of(tmp_path).write_bytes(DATA[:5])

    await store.put(OWNER, DATA)

    assert await store.get(OWNER, DIGEST) == DATA


async def test_many_at_once_write_the_same_value(store: ArtifactStore, tmp_path: Path) -> None:
    await asyncio.gather(*(store.put(OWNER, DATA) for _ in range(50)))

    assert await store.get(OWNER, DIGEST) == DATA
    assert [path.name for path in file_of(tmp_path).parent.iterdir()] == [DIGEST]


async def test_a_missing_artifact_is_lost(store: ArtifactStore, tmp_path: Path) -> None:
    await store.put(OWNER, b"another one")

    with pytest.raises(ToolError) as lost:
        await store.get(OWNER, DIGEST)

    assert lost.value.code is ErrorCode.ARTIFACT_LOST
    assert lost.value.message == (
        f"artifact '{DIGEST}' of run 'default/run-1' cannot be had from the store {tmp_path}/store: it is missing. All "
        "workers and starters of a run must share one store: set WHIPPLETREE_ARTIFACTS to the same place for all"
    )


async def test_a_damaged_artifact_is_lost(store: ArtifactStore, tmp_path: Path) -> None:
    await store.put(OWNER, DATA)
    file_of(tmp_path).write_bytes(b"?" * len(DATA))

    with pytest.raises(ToolError, match="it is damaged: 37 bytes with digest 86f4c32a") as lost:
        await store.get(OWNER, DIGEST)

    assert lost.value.code is ErrorCode.ARTIFACT_LOST


async def test_an_artifact_belongs_to_one_run(store: ArtifactStore) -> None:
    await store.put(OWNER, DATA)

    with pytest.raises(ToolError, match="it is missing"):
        await store.get(Owner("default", "run-2"), DIGEST)
    with pytest.raises(ToolError, match="it is missing"):
        await store.get(Owner("other", "run-1"), DIGEST)


@pytest.mark.parametrize("run_id", IDS, ids=lambda run_id: ascii(run_id[:20]))
async def test_any_run_id_has_a_folder_inside_the_store(store: ArtifactStore, tmp_path: Path, run_id: str) -> None:
    digest = await store.put(Owner("default", run_id), DATA)

    assert await store.get(Owner("default", run_id), digest) == DATA
    (path,) = files_in(tmp_path)
    assert path == file_of(tmp_path, Owner("default", run_id))
    (holding,) = await store.holdings("default")
    assert holding.folder == folder_of(Owner("default", run_id))


def test_different_ids_have_different_folders_whatever_the_case() -> None:
    assert len({folder_of(Owner("default", run_id)).lower() for run_id in IDS}) == len(IDS)
    assert folder_of(Owner("my.ns", "run-1_a")) == "my.ns/run-1_a"


def test_an_agent_in_a_plan_has_its_artifacts_with_the_run() -> None:
    assert folder_of(Owner("default", "run-1::agent@0")) == "default/run-1"


async def test_the_first_value_of_a_name_stays(store: ArtifactStore) -> None:
    assert await store.get_named(OWNER, DIGEST) is None
    assert await store.put_named(OWNER, DIGEST, b"first") == b"first"
    assert await store.put_named(OWNER, DIGEST, b"second") == b"first"
    assert await store.get_named(OWNER, DIGEST) == b"first"


async def test_of_many_that_name_a_value_at_once_one_wins_for_all(store: ArtifactStore) -> None:
    told = await asyncio.gather(*(store.put_named(OWNER, DIGEST, str(number).encode()) for number in range(20)))

    assert len(set(told)) == 1


async def test_named_values_are_counted_and_removed_with_their_run(store: ArtifactStore) -> None:
    await store.put_named(OWNER, DIGEST, b"value")

    assert [holding.objects for holding in await store.holdings("default")] == [1]
    await store.delete(folder_of(OWNER))
    assert await store.get_named(OWNER, DIGEST) is None


async def test_a_name_that_listings_would_not_see_is_refused(store: ArtifactStore) -> None:
    with pytest.raises(ValueError, match="is no name of an object"):
        await store.put_named(OWNER, "../key", b"value")


@pytest.mark.parametrize("reference", ["", "x", "../" + "0" * 64, "0" * 63, "A" * 64])
async def test_a_malformed_digest_is_refused(store: ArtifactStore, reference: str) -> None:
    with pytest.raises(ToolError, match="that is no reference to an artifact"):
        await store.get(OWNER, reference)


@pytest.mark.parametrize("folder", ["", "default", "a/../b", "../default/run-1", "a/b/c", "/etc/x", "a/\x00"])
async def test_a_malformed_folder_is_refused(store: ArtifactStore, folder: str) -> None:
    with pytest.raises(ToolError, match="that is no reference to an artifact"):
        await store.get_from(folder, DIGEST)
    with pytest.raises(ValueError, match="is no folder of a run"):
        await store.delete(folder)


async def test_holdings_tell_objects_bytes_and_age_of_each_run(store: ArtifactStore) -> None:
    await store.put(OWNER, b"123")
    await store.put(OWNER, b"4567")
    await store.put(Owner("default", "run-2"), b"8")
    await store.put(Owner("other", "run-1"), b"9")
    await store.check()

    first, second = sorted(await store.holdings("default"), key=lambda holding: holding.folder)

    assert (first.folder, first.objects, first.size) == ("default/run-1", 2, 7)
    assert (second.folder, second.objects, second.size) == ("default/run-2", 1, 1)
    assert timedelta(0) <= datetime.now(UTC) - first.newest < timedelta(minutes=1)


async def test_delete_removes_one_run_with_what_a_killed_process_left(store: ArtifactStore, tmp_path: Path) -> None:
    await store.put(OWNER, DATA)
    await store.put(Owner("default", "run-10"), DATA)
    file_of(tmp_path, digest=f"{DIGEST}#1").write_bytes(b"half")

    await store.delete("default/run-1")

    assert not file_of(tmp_path).parent.exists()
    assert await store.get(Owner("default", "run-10"), DIGEST) == DATA


async def test_what_others_remove_at_the_same_time_is_no_trouble(store: ArtifactStore, tmp_path: Path) -> None:
    for number in range(100):
        await store.put(OWNER, bytes([number]))

    await asyncio.gather(*(store.delete("default/run-1") for _ in range(5)))
    await store.delete("default/run-1")

    assert files_in(tmp_path) == []


async def test_check_leaves_nothing_behind(store: ArtifactStore, tmp_path: Path) -> None:
    await store.check()

    assert files_in(tmp_path) == []


async def test_check_names_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StoreError) as error:
        await ArtifactStore.open(str(tmp_path / "file" / "store")).check()

    assert str(error.value) == (
        f"the artifact store {tmp_path}/file/store cannot be used (OSError: Not a directory (os error 20)): make it "
        "readable and writable, or name another one in WHIPPLETREE_ARTIFACTS"
    )


class _Provider(http.server.BaseHTTPRequestHandler):
    """Answers every call with an error that echoes secrets, or not at all when it is asked for `slow`."""

    slow = threading.Event()

    def do_PUT(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> None:
        if "slow" in self.path:
            self.slow.wait(10)
        body = b"<?xml version='1.0'?><Error><AWSAccessKeyId>AKIAECHOED</AWSAccessKeyId></Error>"
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):  # who has given up does not listen
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A stand-in for S3 on loopback."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Provider)
    monkeypatch.setenv("AWS_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAECHOED")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter22")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield
    _Provider.slow.set()
    server.shutdown()
    thread.join()
    server.server_close()
    _Provider.slow.clear()


@pytest.mark.usefixtures("provider")
async def test_a_provider_that_refuses_is_unavailable_and_no_secret_is_told() -> None:
    store = ArtifactStore.open("s3://bucket/prefix")

    with pytest.raises(ToolError) as error:
        await store.put(OWNER, DATA)
    with pytest.raises(StoreError) as refused:
        await store.check()

    assert error.value.code is ErrorCode.PROVIDER_UNAVAILABLE
    assert "403" in str(refused.value)
    for text in (error.value.message, str(refused.value)):
        assert "\n" not in text
        assert "ECHOED" not in text
        assert "hunter22" not in text


@pytest.mark.usefixtures("provider")
async def test_a_provider_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_calls, "CALL_LIMIT", timedelta(seconds=0.2))

    with pytest.raises(ToolError, match=r"no answer within 0\.2 s") as error:
        await ArtifactStore.open("s3://slow/prefix").get(OWNER, DIGEST)

    assert error.value.code is ErrorCode.PROVIDER_UNAVAILABLE


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
async def test_only_its_owner_may_enter_a_store_that_is_made(tmp_path: Path) -> None:
    await ArtifactStore.open(str(tmp_path / "new" / "store")).put(OWNER, DATA)

    assert (mode_of(tmp_path / "new"), mode_of(tmp_path / "new" / "store")) == (0o700, 0o700)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
async def test_a_store_that_is_shared_already_stays_so(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store").chmod(0o775)
    (tmp_path / "usual").mkdir()

    await ArtifactStore.open(str(tmp_path / "store")).put(OWNER, DATA)

    assert mode_of(tmp_path / "store") == 0o775
    assert mode_of(file_of(tmp_path).parent) == mode_of(tmp_path / "usual")


def test_a_store_in_a_home_that_nobody_has_is_refused() -> None:
    with pytest.raises(StoreError, match="it begins with the home of a user that is not there"):
        ArtifactStore.open("~nobody-of-this-name/store")
