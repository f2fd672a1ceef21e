from pathlib import Path

from temporalio.client import Client

from activities.artifact_folders import Owner
from activities.artifacts import ArtifactStore
from bench.stored import StoreSize, store_size
from workflows.data_converter import DATA_CONVERTER, data_converter


async def test_counts_all_that_the_store_keeps_of_one_run(tmp_path: Path) -> None:
    store = ArtifactStore.open(str(tmp_path))
    for run_id, data in (("bench-1", b"abc"), ("bench-1", b"defgh"), ("bench-10", b"of another run")):
        await store.put(Owner("default", run_id), data)
    client = await Client.connect("127.0.0.1:1", data_converter=data_converter(store), lazy=True)

    assert await store_size(client, "bench-1") == StoreSize(objects=2, bytes=8)
    assert await store_size(client, "bench-2") == StoreSize(objects=0, bytes=0)


async def test_a_client_without_a_store_keeps_nothing() -> None:
    client = await Client.connect("127.0.0.1:1", data_converter=DATA_CONVERTER, lazy=True)

    assert await store_size(client, "bench-1") == StoreSize(objects=0, bytes=0)
