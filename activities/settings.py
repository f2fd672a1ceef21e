"""Worker settings: read once, from an environment that is passed in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

DEFAULT_MODEL = "gpt-4.1-mini"
NO_KEY = "none"
"""Sent to a server that asks for no key: the client cannot leave the header out."""
MAX_MODEL_NAME = 200


class SettingsError(ValueError):
    """A setting cannot be used. The message is one line, names the variable, and never shows a secret."""


@dataclass(frozen=True)
class WorkerSettings:
    """How a worker reaches its model. The text form shows no secret."""

    api_key: str = field(default="", repr=False)
    """Empty for the offline model."""
    base_url: str = ""
    """Without credentials. Empty means OpenAI itself."""
    model: str = DEFAULT_MODEL
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    """Credentials of the base URL, for HTTP basic authentication."""

    @property
    def is_offline(self) -> bool:
        """Return whether the offline model serves, because neither a key nor a server is given."""
        return not self.api_key

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return what must never be seen in an error, a log or a span."""
        # A URL may carry a token as its user; beside a password the user is only a name.
        parts = (self.api_key, self.password or self.user)
        return tuple(secret for secret in parts if secret not in {"", NO_KEY})

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "WorkerSettings":
        """Read OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL; an empty variable counts as not set.

        Raises:
            SettingsError: for a value that cannot work.
        """
        key = _key(environment.get("OPENAI_API_KEY", "").strip())
        url = _url(environment.get("OPENAI_BASE_URL", "").strip())
        model = _model(environment.get("OPENAI_MODEL", "").strip())
        host = url.netloc.rpartition("@")[2]
        return cls(
            api_key=key or (NO_KEY if host else ""),
            base_url=urlunsplit((url.scheme, host, url.path.rstrip("/"), "", "")) if host else "",
            model=model,
            user=unquote(url.username or ""),
            password=unquote(url.password or ""),
        )


def _key(text: str) -> str:
    if not text.isascii() or not text.isprintable() or " " in text:
        raise SettingsError(
            "OPENAI_API_KEY holds characters that no key has (a space, a line break or a non-ASCII one)"
        )
    return text


def _url(text: str) -> SplitResult:
    try:
        url = urlsplit(text)
        is_usable = not text or (url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0)
    except ValueError:
        raise SettingsError(
            "OPENAI_BASE_URL is no valid URL; expected something like https://api.example.com/v1"
        ) from None
    if not is_usable or not text.isprintable() or " " in text:
        raise SettingsError(
            "OPENAI_BASE_URL must be an http or https URL with a host, such as https://api.example.com/v1"
        )
    if url.query or url.fragment:
        raise SettingsError("OPENAI_BASE_URL must not have a query or a fragment: paths are appended to it")
    return url


def _model(text: str) -> str:
    if not text:
        return DEFAULT_MODEL
    if not text.isprintable() or len(text) > MAX_MODEL_NAME:
        raise SettingsError(f"OPENAI_MODEL must be one printable name of at most {MAX_MODEL_NAME} characters")
    return text
