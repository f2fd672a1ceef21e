"""Wire names: tool names and call ids in the letters that servers of the chat API take."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from activities.model.request import ToolOffer

MAX_NAME_CHARS = 64
ID_CHARS = 9
"""Mistral's servers take ids of nine letters and digits only; the others take these, too."""

_OTHER = re.compile(r"[^A-Za-z0-9_-]")
_SAFE_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


@dataclass(frozen=True)
class WireNames:
    """The names of offered tools as a server gets them, which takes no dot and no long name, and back."""

    tools: tuple[ToolOffer, ...]

    def of(self, name: str) -> str:
        """Return the name to send. One that is not offered, as a model may have made up, is put in letters only."""
        return self._sent.get(name) or _lettered(name)

    def back(self, sent: str) -> str:
        """Return the tool that was sent by exactly this name; any other name stays as it is."""
        return self._offered.get(sent, sent)

    @cached_property
    def _sent(self) -> dict[str, str]:
        sent: dict[str, str] = {}
        # Names that can go as they are come first, so that no other one takes them.
        for tool in sorted(self.tools, key=lambda tool: _lettered(tool.name) != tool.name):
            name = _lettered(tool.name)
            if name in sent.values():
                name = f"{name[: MAX_NAME_CHARS - 9]}_{_digest([tool.name], 8)}"
            sent[tool.name] = name
        return sent

    @cached_property
    def _offered(self) -> dict[str, str]:
        return {sent: name for name, sent in self._sent.items()}


def wire_id(call_id: str) -> str:
    """Return the id to send for a call: the same for the call and for its result."""
    return call_id if _SAFE_ID.fullmatch(call_id) else _digest([call_id], ID_CHARS)


def made_id(parts: Iterable[str]) -> str:
    """Return an id for a call that came without one: equal parts give equal ids."""
    return _digest(parts, ID_CHARS)


def _lettered(name: str) -> str:
    return _OTHER.sub("_", name)[:MAX_NAME_CHARS] or "_"


def _digest(parts: Iterable[str], chars: int) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:chars]
