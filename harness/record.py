"""Records: values that nobody changes, made by the ten thousand."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(*, kw_only: bool = False) -> Callable[[type[T]], type[T]]:
    """Make a class a dataclass with slots which type checkers take for frozen.

    At run time nothing refuses a change: that would make a call of each field that is set, and take twice as long.
    """
    return dataclass(slots=True, unsafe_hash=True, kw_only=kw_only)
