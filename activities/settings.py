"""Worker settings: read once, from an environment that is passed in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from activities.model.price_file import Prices, read_prices
from harness.model_choice import NO_CHOICE, ModelChoice, ModelRole

DEFAULT_MODEL = "gpt-4.1-mini"
NO_KEY = "none"
"""Sent to a server that asks for no key: the client cannot leave the header out."""
MAX_MODEL_NAME = 200
PRICES = "WHIPPLETREE_PRICES"
MODEL_RATE = "WHIPPLETREE_MODEL_RATE"
AUDIT = "WHIPPLETREE_AUDIT"
EAGER_CALLS = "WHIPPLETREE_EAGER_CALLS"
HOME = "WHIPPLETREE_HOME"
PII = "WHIPPLETREE_PII"
USUAL_HOME = ".whippletree"
MOST_PER_SECOND = 10_000
MOST_EAGER_CALLS = 100
"""As many as a worker makes at once."""
_MOST_DIGITS = 9
"""More are no number that anybody means, and thousands are none that Python reads."""
SHORTEST_SECRET = 8
"""Shorter values of variables are not taken for secrets: hiding them would mangle texts."""

_NAMES_SECRET = re.compile(
    r"(?:^|_)(?:(?:API_?)?KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTHORIZATION|COOKIE)$",
    re.IGNORECASE,
)
_WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")


class SettingsError(ValueError):
    """A setting cannot be used. The message is one line, names the variable, and never shows a secret."""


@dataclass(frozen=True)
class Endpoint:
    """A model server and how to get in. The text form shows no secret."""

    api_key: str = field(default="", repr=False)
    """Empty for the offline model."""
    base_url: str = ""
    """Without credentials. Empty means OpenAI itself."""
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


@dataclass(frozen=True)
class WorkerSettings(Endpoint):
    """How a worker reaches its models: the endpoint of its own ones, their names, and the fallback."""

    model: str = DEFAULT_MODEL
    """Serves the roles that have no model of their own."""
    role_models: Mapping[ModelRole, str] = field(default_factory=dict)
    fallback_model: str = ""
    """Asked when the provider of another model fails; empty for none."""
    fallback: Endpoint | None = None
    """Server of the fallback model; None when it is served where the others are."""
    prices: Prices = field(default_factory=dict)
    model_rate: float | None = None
    """Requests a second that the models take, from all workers together; None for any number."""
    eager_calls: int | None = None
    """Calls that a workflow task may start in its own worker at once; None for what suits the server."""
    audit: Path | None = Path(USUAL_HOME, "audit")
    """Where the audit log is kept; None keeps none."""
    masks_private: bool = True
    """False to let private values into prompts and histories as they are."""
    other_secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values of variables that are named like secrets: those of tools."""

    @property
    def endpoint(self) -> Endpoint:
        """Return the server of the worker's own models."""
        return Endpoint(self.api_key, self.base_url, self.user, self.password)

    @property
    def fallback_endpoint(self) -> Endpoint:
        """Return the server of the fallback model."""
        return self.fallback or self.endpoint

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return what must never be seen in an error, a log or a span."""
        known = (*super().secrets, *self.fallback_endpoint.secrets, *self.other_secrets)
        return tuple(dict.fromkeys(known))

    def model_name(self, role: ModelRole, choice: ModelChoice = NO_CHOICE) -> str:
        """Return the model of a role for a run that asks for these."""
        return choice.by_role.get(role) or self.role_models.get(role) or self.model

    def fallback_name(self, choice: ModelChoice = NO_CHOICE) -> str:
        """Return the fallback model for a run that asks for these, empty for none."""
        return choice.fallback or self.fallback_model

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "WorkerSettings":
        """Read the OPENAI_... and WHIPPLETREE_... variables; an empty variable counts as not set.

        Raises:
            SettingsError: for a value that cannot work.
        """
        own = _endpoint(environment, "OPENAI")
        by_role = {role: _model(environment, f"OPENAI_{role.name}_MODEL") for role in ModelRole}
        return cls(
            api_key=own.api_key,
            base_url=own.base_url,
            user=own.user,
            password=own.password,
            model=_model(environment, "OPENAI_MODEL") or DEFAULT_MODEL,
            role_models={role: name for role, name in by_role.items() if name},
            fallback_model=_model(environment, "OPENAI_FALLBACK_MODEL"),
            fallback=_fallback(own, _endpoint(environment, "OPENAI_FALLBACK")),
            prices=_prices(_read(environment, PRICES)),
            model_rate=_rate(MODEL_RATE, _read(environment, MODEL_RATE)),
            eager_calls=_eager_calls(EAGER_CALLS, _read(environment, EAGER_CALLS)),
            audit=_audit(environment),
            masks_private=_switch(PII, _read(environment, PII)),
            other_secrets=_named_secrets(environment),
        )


def names_secret(name: str) -> bool:
    """Return whether the name of a variable, header, flag or field is that of a secret, such as `X-Api-Key`."""
    return bool(_NAMES_SECRET.search(_WORD_ENDS.sub("_", name)))


def is_secret(name: str, value: str) -> bool:
    """Return whether a value must be hidden: it is named like a secret, and long enough to be one."""
    return len(value) >= SHORTEST_SECRET and names_secret(name)


def _endpoint(environment: Mapping[str, str], prefix: str) -> Endpoint:
    key = _key(f"{prefix}_API_KEY", _read(environment, f"{prefix}_API_KEY"))
    url = _url(f"{prefix}_BASE_URL", _read(environment, f"{prefix}_BASE_URL"))
    host = url.netloc.rpartition("@")[2]
    return Endpoint(
        api_key=key or (NO_KEY if host else ""),
        base_url=urlunsplit((url.scheme, host, url.path.rstrip("/"), "", "")) if host else "",
        user=unquote(url.username or ""),
        password=unquote(url.password or ""),
    )


def _fallback(own: Endpoint, given: Endpoint) -> Endpoint | None:
    """Return the server of the fallback model. The key of one server is never sent to another one."""
    if given.base_url:
        return given
    return Endpoint(api_key=given.api_key, base_url=own.base_url) if given.api_key else None


def _read(environment: Mapping[str, str], variable: str) -> str:
    return environment.get(variable, "").strip()


def _key(variable: str, text: str) -> str:
    if not text.isascii() or not text.isprintable() or " " in text:
        raise SettingsError(f"{variable} holds characters that no key has (a space, a line break or a non-ASCII one)")
    return text


def _url(variable: str, text: str) -> SplitResult:
    try:
        url = urlsplit(text)
        is_usable = not text or (url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0)
    except ValueError:
        raise SettingsError(f"{variable} is no valid URL; expected something like https://api.example.com/v1") from None
    if not is_usable or not text.isprintable() or " " in text:
        raise SettingsError(f"{variable} must be an http or https URL with a host, such as https://api.example.com/v1")
    if url.query or url.fragment:
        raise SettingsError(f"{variable} must not have a query or a fragment: paths are appended to it")
    return url


def _model(environment: Mapping[str, str], variable: str) -> str:
    text = _read(environment, variable)
    if not text.isprintable() or len(text) > MAX_MODEL_NAME:
        raise SettingsError(f"{variable} must be one printable name of at most {MAX_MODEL_NAME} characters")
    return text


def _prices(text: str) -> Prices:
    try:
        return read_prices(Path(text)) if text else {}
    except ValueError as error:
        raise SettingsError(f"{PRICES}: {error}") from None


def _rate(variable: str, text: str) -> float | None:
    if not text:
        return None
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate <= MOST_PER_SECOND:
        raise SettingsError(f"{variable} must be a number of requests a second, such as 5 or 0.5")
    return rate


def _eager_calls(variable: str, text: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal() or len(text) > _MOST_DIGITS or not 1 <= int(text) <= MOST_EAGER_CALLS:
        raise SettingsError(f"{variable} must be a whole number of calls, 1 to {MOST_EAGER_CALLS}")
    return int(text)


def _audit(environment: Mapping[str, str]) -> Path | None:
    text = _read(environment, AUDIT)
    if text.lower() == "off":
        return None
    if "://" in text or not text.isprintable():
        raise SettingsError(f"{AUDIT} must be a directory, or off for no audit log")
    try:
        return Path(text).expanduser() if text else Path(environment.get(HOME) or USUAL_HOME, "audit")
    except RuntimeError:
        raise SettingsError(f"{AUDIT} begins with the home of a user that is not there") from None


def _switch(variable: str, text: str) -> bool:
    if text.lower() not in {"", "on", "off"}:
        raise SettingsError(f"{variable} must be on or off")
    return text.lower() != "off"


def _named_secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(value.strip() for name, value in environment.items() if is_secret(name, value.strip()))
