"""What a process knows of one run's private values: the key of its placeholders, and values that it has met."""

import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

from activities.guardrails.masked_texts import LEAST_SOUGHT, MAX_SOUGHT
from activities.guardrails.private import PrivateKind, Value

MAX_VALUES = 4096
"""Values of a run that a process knows; those that it met last."""


@dataclass
class RunSecrets:
    """The private values of a run as far as this process knows them."""

    key: bytes = b""
    """Empty as long as it is not known."""
    values: OrderedDict[str, tuple[PrivateKind, Value]] = field(default_factory=OrderedDict)
    """Kind and value by placeholder."""
    placeholders: dict[tuple[PrivateKind, Value], str] = field(default_factory=dict)
    sought: Mapping[str, PrivateKind] = field(default_factory=dict)
    """The values to look for in every text: a tool that is given one may return it in other words.

    It is never changed, only replaced: threads read it while others learn.
    """

    def learn(self, kind: PrivateKind, value: Value, placeholder: str) -> None:
        """Take note of a value; on the event loop only."""
        self.values[placeholder] = (kind, value)
        self.placeholders[kind, value] = placeholder
        if len(self.values) > MAX_VALUES:
            _, oldest = self.values.popitem(last=False)
            self.placeholders.pop(oldest, None)
        newest = islice(reversed(self.values.values()), MAX_SOUGHT)
        self.sought = {str(value): kind for kind, value in newest if len(str(value)) >= LEAST_SOUGHT}

    def digits(self, kind: PrivateKind, value: Value) -> str:
        """Return the digits of a value's placeholder; only who has the key can tell them."""
        return self._digest(f"{kind}\n{value}" if isinstance(value, str) else f"{kind} number\n{value}")

    def name_of(self, placeholder: str) -> str:
        """Return the name of the object in which the value of a placeholder is kept."""
        return self._digest(f"object\n{placeholder}")

    def _digest(self, text: str) -> str:
        return hmac.new(self.key, text.encode(errors="surrogatepass"), hashlib.sha256).hexdigest()
