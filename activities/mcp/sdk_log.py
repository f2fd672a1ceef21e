"""The log of the MCP SDK, without secrets and without the tracebacks of what a server does wrong."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from activities.mcp.secrets import without_queries
from activities.model.scrubbing import scrub

LOGGERS = (
    "httpx2",
    "mcp.client.session",
    "mcp.client.stdio",
    "mcp.client.streamable_http",
    "mcp.shared.jsonrpc_dispatcher",
)


@contextmanager
def tamed_log(secrets: tuple[str, ...]) -> Iterator[None]:
    """Hide secrets in what the SDK logs while the body runs, and leave out tracebacks: they show whole messages."""

    def tame(record: logging.LogRecord) -> bool:
        record.msg, record.args = scrub(without_queries(record.getMessage()), secrets), ()
        if record.exc_info:
            record.exc_info = record.exc_text = None
            record.levelno, record.levelname = logging.DEBUG, "DEBUG"
        return record.levelno >= logging.getLogger().getEffectiveLevel()

    for name in LOGGERS:
        logging.getLogger(name).addFilter(tame)
    try:
        yield
    finally:
        for name in LOGGERS:
            logging.getLogger(name).removeFilter(tame)
