"""Where artifacts lie: what the setting WHIPPLETREE_ARTIFACTS may say, and the object store that it names."""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from obstore.exceptions import BaseError
from obstore.store import AzureStore, GCSStore, LocalStore, MemoryStore, S3Store, from_url

if TYPE_CHECKING:
    from obstore.store import ObjectStore, RetryConfig  # which do not exist at run time

ARTIFACTS = "WHIPPLETREE_ARTIFACTS"
"""Environment variable that names the store: a directory or a URL."""
CALL_LIMIT = timedelta(seconds=30)
"""How long one call to a store may take, its repetitions included."""
_HALF_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:/?(?!/)", re.IGNORECASE)
"""What a URL looks like with a slash missing; a drive of Windows has one letter."""
FORMS = "a directory, file:///PATH, memory://, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://ACCOUNT/CONTAINER/PREFIX"
_RETRIES: "RetryConfig" = {"max_retries": 2, "retry_timeout": timedelta(seconds=20)}
"""A dropped connection is no reason to give up a try that may have cost a model call.

Client options are left to the provider's variables (AWS_ALLOW_HTTP, for one), which any given here would replace.
"""
_MAX_REASON = 300


class StoreError(Exception):
    """The artifact store cannot be used. The message is one line, says what would be right, and shows no secret."""


class Place:
    """An object store that is opened when it is first needed."""

    def __init__(self, name: str, opened: "Callable[[], ObjectStore]", *, folder: Path | None = None) -> None:
        """Name a place for people, without secrets; `folder` is where it lies if it is a directory."""
        self.name = name
        self.folder = folder
        self._opened = opened
        self._objects: ObjectStore | None = None

    @property
    def objects(self) -> "ObjectStore":
        """Return the store; a directory is created, for its owner alone."""
        if self._objects is None:
            self._objects = self._opened()
        return self._objects

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was ever put there, as far as that is known without asking."""
        return self.folder is not None and not self.folder.is_dir()


def find_place(url: str) -> Place:
    """Return the place that a directory's path or a URL names; credentials come from the provider's own variables.

    Raises:
        StoreError: when it names none.
    """
    scheme, has_scheme, rest = url.partition("://")
    if _HALF_SCHEME.match(url):
        return _refuse("a scheme is followed by two slashes")
    if not has_scheme:
        return _directory_of_path(url) if url.strip() else _refuse("it is empty")
    match scheme.lower():
        case "file":
            return _directory_of_url(url)
        case "memory":
            return Place("memory://", _memory) if not rest.strip("/") else _refuse("memory:// takes no path")
        case _:
            return _cloud(url)


def told(error: BaseException) -> str:
    """Return what a store's error says: its first line, without what may hold a secret."""
    # Queries carry signatures of Azure and presigned URLs, the bodies of answers (XML) echo keys.
    text = re.sub(r"\?\S+", "?...", str(error).strip().partition("\n")[0]).partition("<")[0].strip()
    return f"{type(error).__name__}: {text[:_MAX_REASON]}" if text else type(error).__name__


def _directory(path: Path) -> Place:
    folder = path.absolute()

    def opened() -> "ObjectStore":
        _make_private(folder)
        return LocalStore(folder, mkdir=True, automatic_cleanup=True)

    return Place(str(folder), opened, folder=folder)


def _make_private(folder: Path) -> None:
    """Make a folder and those above it that are missing; what is there already may be shared, and stays so."""
    with suppress(OSError):  # the library says better what is wrong with it
        for missing in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
            missing.mkdir(mode=0o700, exist_ok=True)


def _directory_of_path(path: str) -> Place:
    try:
        return _directory(Path(path).expanduser())
    except RuntimeError:
        return _refuse("it begins with the home of a user that is not there")


def _directory_of_url(url: str) -> Place:
    parts = urlsplit(url)
    path = Path(unquote(parts.path))
    if parts.netloc not in {"", "localhost"} or not path.is_absolute():
        return _refuse("a file URL has three slashes before its path")
    return _directory(path)


@cache
def _memory() -> "ObjectStore":
    """Return the one store of this process: whoever opens it there must find what others have put into it."""
    return MemoryStore()


def _cloud(url: str) -> Place:
    parts = urlsplit(url)
    if "@" in parts.netloc or parts.query or parts.fragment:
        _refuse("it has credentials, a query or a fragment; credentials belong in the provider's own variables")
    try:
        objects = from_url(url, retry_config=_RETRIES)
    except (BaseError, ValueError) as error:
        return _refuse(told(error))
    if not isinstance(objects, S3Store | GCSStore | AzureStore):
        _refuse("a plain web server keeps no artifacts")
    return Place(url, lambda: objects)


def _refuse(why: str) -> Place:
    raise StoreError(f"{ARTIFACTS} names no store that can be used ({why}): give {FORMS}")
