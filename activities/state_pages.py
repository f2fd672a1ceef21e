"""The pages of a run's state: kept in the artifact store before continue-as-new, loaded after it."""

import json
from collections.abc import Collection
from typing import Any

from temporalio import activity

from activities.artifacts import ArtifactStore, owner_of_activity
from activities.failures import ActivityBoundary
from activities.side_by_side import side_by_side
from activities.try_ledger import TryLedger
from harness.artifact import KEPT_BYTES, PREVIEW_CHARS, Artifact
from harness.calls import KeepReply, KeepRequest, LoadReply, LoadRequest
from harness.progress import merged
from harness.trace import TracePage
from harness.usage import Usage

Json = dict[str, Any]
"""A page is handled as JSON: to check a large one against its model takes longer than everything else."""


class StateActivities:
    """Keeps and loads the state of runs that go on in another workflow run."""

    def __init__(self, store: ArtifactStore, *, secrets: tuple[str, ...] = ()) -> None:
        """Keep pages in this store; no error tells a secret."""
        self._store = store
        self._secrets = secrets

    @activity.defn
    async def keep_state(self, request: KeepRequest) -> KeepReply:
        """Keep a page of the state and one of the trace."""
        ledger = TryLedger.resume()
        async with ActivityBoundary(ledger, Usage, secrets=self._secrets, store=self._store), ledger.beating():
            return await self._keep(request)

    @activity.defn
    async def load_state(self, request: LoadRequest) -> LoadReply:
        """Load pages of the state and return what they say together."""
        ledger = TryLedger.resume()
        async with ActivityBoundary(ledger, Usage, secrets=self._secrets, store=self._store), ledger.beating():
            pages = await side_by_side(self._get, request.pages)
        whole = merged(pages)
        plan: str = whole.pop("plan", "")
        return LoadReply(state=_text(whole), plan=plan)

    async def _keep(self, request: KeepRequest) -> KeepReply:
        page: Json = json.loads(request.state)
        await self._lighten(page, request.whole)
        state = await self._put(_text(page))
        if not request.events:
            return KeepReply(state=state)
        trace = await self._put(request.trace)
        return KeepReply(state=state, trace=TracePage(artifact=trace, events=request.events))

    async def _get(self, page: Artifact) -> Json:
        found: Json = json.loads(await self._store.get(owner_of_activity(), page.digest))
        return found

    async def _lighten(self, page: Json, whole: Collection[str]) -> None:
        """Put references in place of large results: the workflow decodes the page in much less than two seconds."""
        results = [*page.get("paid", {}).values(), *page.get("written", {}).values()]
        nodes = page.get("nodes", {}).items()
        results += [node["result"] for node_id, node in nodes if "result" in node and node_id not in whole]
        await side_by_side(self._refer, [one for one in results if "artifact" not in one])

    async def _refer(self, result: Json) -> None:
        text = _text(result.get("value"))
        if len(text.encode()) > KEPT_BYTES:
            artifact = (await self._put(text)).model_copy(update={"preview": text[:PREVIEW_CHARS]})
            result.clear()
            result["artifact"] = artifact.model_dump(mode="json")

    async def _put(self, text: str) -> Artifact:
        data = text.encode()
        return Artifact(digest=await self._store.put(owner_of_activity(), data), size=len(data))


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
