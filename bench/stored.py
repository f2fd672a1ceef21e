"""What a run has left in the artifact store: bytes that are not in its history, but are kept all the same."""

from dataclasses import dataclass

from temporalio.client import Client

from activities.artifact_folders import Owner, folder_of
from workflows.payload_storage import store_of


@dataclass(frozen=True)
class StoreSize:
    """Sizes of what is kept of a run: pages, artifacts and external payloads together."""

    objects: int = 0
    bytes: int = 0


async def store_size(client: Client, run_id: str) -> StoreSize:
    """Measure what the store keeps of a run, over its whole chain; a client without a store keeps nothing."""
    store, folder = store_of(client.data_converter), folder_of(Owner(client.namespace, run_id))
    holdings = await store.holdings(client.namespace) if store else []
    return next((StoreSize(one.objects, one.size) for one in holdings if one.folder == folder), StoreSize())
