"""Secrets of a server: which of the values in its entry must be seen nowhere, and what may be shown of it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from urllib.parse import parse_qsl, unquote

from activities.mcp.entry import Address, Command
from activities.model.scrubbing import HIDDEN, scrub
from activities.settings import is_secret, names_secret

_CREDENTIALS = re.compile(r"://([^/\s@:?#]*)(?::([^/\s@?#]*))?@")
_QUERY = re.compile(r"[?&]([^=&#\s]+)=([^&#\s]+)")
_URL_WITH_QUERY = re.compile(r"(https?://[^\s?'\"]+)\?[^\s'\"]*")
_NAMED = re.compile(r"-*([A-Za-z][\w.-]*)\s*[=:]\s*(.+)", re.DOTALL)
"""One argument that is a name with its value: `--token=x`, `TOKEN=x`, `Authorization: x`."""
_SCHEME = re.compile(r"[A-Za-z]+\s+(\S+)")
"""A header's value that says first what kind of credential follows."""


def secrets_of(place: Command | Address) -> Iterator[str]:
    """Yield the values in an entry that are named like secrets, and the credentials in its URLs."""
    match place:
        case Command():
            yield from _of_pairs(place.env)
            yield from _of_arguments(place.args)
        case Address():
            yield from _of_pairs(place.headers)
            yield from _of_url(place.url)


def shown(place: Command | Address, secrets: Iterable[str]) -> str:
    """Return a program with its first argument, or a URL without credentials and query, and without secrets."""
    match place:
        case Command():
            words = [place.program, *map(_flag, place.args[:1]), *(["..."] if len(place.args) > 1 else [])]
            return scrub(" ".join(words), secrets)
        case Address():
            plain = _CREDENTIALS.sub("://", place.url)
            return scrub(re.split(r"[?#]", plain, maxsplit=1)[0], secrets)


def without_queries(text: str) -> str:
    """Return a text whose URLs have lost their queries: a key in one may have any name."""
    return _URL_WITH_QUERY.sub(r"\1", text)


def _flag(argument: str) -> str:
    name, is_given, _ = argument.partition("=")
    return f"{name}={HIDDEN}" if is_given else argument


def _of_pairs(values: Mapping[str, str]) -> Iterator[str]:
    for name, value in values.items():
        yield from _of_pair(name, value)
        yield from _of_url(value)


def _of_arguments(arguments: tuple[str, ...]) -> Iterator[str]:
    for argument in arguments:
        if named := _NAMED.fullmatch(argument):
            yield from _of_pair(named[1], named[2])
        yield from _of_url(argument)
    for flag, value in pairwise(arguments):
        if flag.startswith("-") and not value.startswith("--"):
            yield from _of_pair(flag, value)


def _of_pair(name: str, value: str) -> Iterator[str]:
    plain = value.strip()
    with_scheme = _SCHEME.fullmatch(plain)
    credential = with_scheme[1] if with_scheme else plain
    if is_secret(name, credential):
        yield credential


def _of_url(text: str) -> Iterator[str]:
    """Yield what lets in: too short a secret goes with its name, so that hiding it does not mangle texts."""
    for user, password in _CREDENTIALS.findall(text):
        secret = password or user
        yield f"{user}:{password}@" if password else f"{user}@"
        yield from (form for form in (secret, unquote(secret)) if is_secret("password", form))
    for name, value in _QUERY.findall(text):
        if names_secret(name):
            yield f"{name}={value}"
            yield from (form for form in (value, _decoded(value)) if is_secret(name, form))


def _decoded(value: str) -> str:
    return parse_qsl(f"x={value}")[0][1]
