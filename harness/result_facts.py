"""What is known of results that many nodes take: found out once for each, because a large one takes milliseconds."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.artifact import KEPT_BYTES, Artifact, Result
from harness.wire_size import encoded_size

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
"""What the store keeps of a value; of the same value, pydantic's encoding may be shorter by a little."""


@dataclass(frozen=True)
class ResultFacts:
    """Sizes and digests of the results of one plan, by node id. A result never changes once it is there."""

    results: Mapping[str, Result]
    _sizes: dict[str, int] = field(default_factory=dict)
    _references: dict[str, Artifact | None] = field(default_factory=dict)

    def size(self, node_id: str) -> int:
        """Return the encoded bytes of a result; none when it is in the store."""
        if node_id not in self._sizes:
            result = self.results[node_id]
            self._sizes[node_id] = 0 if isinstance(result, Artifact) else encoded_size(result)
        return self._sizes[node_id]

    def reference(self, node_id: str) -> Artifact | None:
        """Return the reference that a result will have once the state of the run is kept; None for a small one."""
        if node_id not in self._references:
            result = self.results[node_id]
            small = not isinstance(result, str | list | dict) or self.size(node_id) <= KEPT_BYTES // 2
            self._references[node_id] = None if small else _reference(result)
        return self._references[node_id]


def _reference(result: Result) -> Artifact | None:
    data = _COMPACT.encode(result).encode()
    return Artifact(digest=hashlib.sha256(data).hexdigest(), size=len(data)) if len(data) > KEPT_BYTES else None
