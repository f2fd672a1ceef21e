"""The log of a tool: the standard library's, with run, node and try in each record, no secret and no private value."""

import logging
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from activities.guardrails.masked_texts import without_private
from activities.model.scrubbing import hide

TOOL_LOGGER = "whippletree.tools"
"""Name of the logger that tools write to."""


class ToolLog(logging.LoggerAdapter[logging.Logger]):
    """Adds what is known of the call to each record, and hides secrets and private values in its text."""

    def __init__(
        self,
        call: Mapping[str, object] | None = None,
        *,
        secrets: tuple[str, ...] = (),
        hide_private: Callable[[str], str] = without_private,
    ) -> None:
        """Log for a call; `call` has what each record is to carry, `hide_private` cleans a text of private values."""
        super().__init__(logging.getLogger(TOOL_LOGGER), dict(call or {}))
        self._secrets = secrets
        self._hide_private = hide_private

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:  # noqa: ANN401 - as in logging
        """Log a record; its text is put together here, because a secret may be in its arguments or its traceback."""
        if not self.isEnabledFor(level):
            return
        text, trace = _text(msg, args), _trace(kwargs.pop("exc_info", None))
        told = self._hide_private(hide(f"{text}\n{trace}" if trace else text, self._secrets))
        own = kwargs.pop("extra", None) or {}
        above = kwargs.pop("stacklevel", 1) + 1  # the line of the tool, not this one
        self.logger.log(level, "%s", told, extra={**own, **(self.extra or {})}, stacklevel=above, **kwargs)


def _text(msg: object, args: tuple[object, ...]) -> str:
    """Put a text together as logging does; one that does not fit its arguments fails no tool."""
    given = args[0] if len(args) == 1 and isinstance(args[0], Mapping) else args
    try:
        return str(msg) % given if args else str(msg)
    except (TypeError, ValueError, KeyError):
        return f"{msg} {args}"


def _trace(exc_info: object) -> str:
    """Return the traceback that is asked for, in the ways of logging."""
    if isinstance(exc_info, BaseException):
        return "".join(traceback.format_exception(exc_info)).rstrip()
    return traceback.format_exc().rstrip() if exc_info else ""
