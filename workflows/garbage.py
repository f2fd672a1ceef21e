"""When a process looks for garbage: seldom, because large plans are millions of objects that live on."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def tune_process() -> None:
    """Look for garbage less often, and not among what was imported.

    Looking through the objects of a large plan took a tenth of a worker's processor time.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


@contextmanager
def no_collection() -> Iterator[None]:
    """Look for no garbage while the body makes many objects that stay: a third of the time to decode a large result.

    In threads at the same time the first to end begins to look again, which costs the others no more than time.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
