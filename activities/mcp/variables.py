"""Variables in a servers file: `${NAME}` and `${NAME:-default}` stand for values of the worker's environment."""

import re
from collections.abc import Mapping

from activities.settings import is_secret

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class UnsetVariableError(Exception):
    """A variable without a default is not set. Its text is the name of the variable."""


class Variables:
    """Fills in variables, and remembers which values must be hidden."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Take the values from an environment."""
        self._environment = environment
        self._secrets: dict[str, None] = {}

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the values filled in so far whose variables are named like secrets, defaults as well."""
        return tuple(self._secrets)

    def fill(self, text: str) -> str:
        """Return a text with the values of its variables; an empty variable counts as not set.

        Raises:
            UnsetVariableError: when a variable without a default is not set.
        """
        return _VARIABLE.sub(self._value, text)

    def _value(self, found: re.Match[str]) -> str:
        name, default = found.group(1), found.group(2)
        value = self._environment.get(name, "")
        if not value:
            if default is None:
                raise UnsetVariableError(name)
            value = default
        if is_secret(name, value):
            self._secrets[value] = None
        return value
