"""What a model said: a text, and the tool calls that it wants."""

from dataclasses import dataclass

from activities.encodable import encodable
from activities.model.request import ModelCall
from activities.model.scrubbing import hide
from harness.errors import bounded

MAX_NAME_CHARS = 200


@dataclass(frozen=True)
class Said:
    """What a model said."""

    text: str
    calls: tuple[ModelCall, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether it is neither a text nor a call."""
        return not self.calls and not self.text.strip()

    def without(self, secrets: tuple[str, ...]) -> "Said":
        """Return the same with secrets hidden."""
        if not secrets:
            return self
        return Said(hide(self.text, secrets), tuple(_hidden(call, secrets) for call in self.calls))


def call_of(call_id: str, name: str, arguments: str) -> ModelCall:
    """Return a call that can be sent back: no request can carry a lone surrogate, and no name is that long."""
    return ModelCall(call_id, bounded(encodable(name), MAX_NAME_CHARS), encodable(arguments))


def _hidden(call: ModelCall, secrets: tuple[str, ...]) -> ModelCall:
    name, arguments = hide(call.name, secrets), hide(call.arguments, secrets)
    return ModelCall(hide(call.id, secrets), name, arguments)
