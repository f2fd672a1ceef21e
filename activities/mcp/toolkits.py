"""The toolkits of MCP servers by name, beside all other toolkits."""

from collections.abc import Callable, Iterator, Mapping

from activities.live_toolkit import LiveToolkit
from activities.toolkit import Toolkit, ToolkitError
from activities.toolkit_loading import load_toolkit
from harness.toolkit_names import server_parts

NO_FILE = "say which server that is by a servers file: --mcp FILE, or the variable WHIPPLETREE_MCP"


class McpToolkits(Mapping[str, Toolkit]):
    """The toolkits of the open sessions by name, such as `mcp:time`, each as it is now."""

    def __init__(self, kits: Mapping[str, Callable[[], Toolkit]] | None = None, secrets: tuple[str, ...] = ()) -> None:
        """Serve these toolkits; `secrets` are texts that no error, log or result may show."""
        self._kits = kits or {}
        self._revision = 0
        self.secrets = secrets

    def load(self, name: str) -> Toolkit | LiveToolkit:
        """Return a toolkit by its name, or several by their joined name; a live one where a server is among them.

        Raises:
            ToolkitError: when one of them cannot be loaded.
        """
        parts = server_parts(name)
        for part in parts:
            if part not in self._kits:
                raise ToolkitError(f"no toolkit is called {part!r}: {NO_FILE}")
        if not parts:
            return load_toolkit(name)
        return LiveToolkit(name, lambda: load_toolkit(name, self), lambda: self._revision)

    def change(self) -> None:
        """Have the toolkits looked at again: a server offers other tools."""
        self._revision += 1

    def __getitem__(self, name: str) -> Toolkit:
        return self._kits[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._kits)

    def __len__(self) -> int:
        return len(self._kits)
