"""The connection to Temporal: settings from its own environment variables and profiles, and the client."""

import asyncio
import logging
import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from temporalio.client import Client, Plugin
from temporalio.envconfig import ClientConfig, ClientConnectConfig
from temporalio.runtime import LogForwardingConfig, LoggingConfig, Runtime, TelemetryConfig

from activities.artifact_place import StoreError
from activities.artifacts import ArtifactStore
from cli import home
from cli.exit_codes import Refusal
from workflows.data_converter import STARTER_INLINE_BYTES, data_converter

if TYPE_CHECKING:
    from cli.dev_server import ServerAddress

DEFAULT_TARGET = "localhost:7233"
CONNECT_LIMIT_S = 10
_UNDECODABLE = re.compile("[\ud800-\udfff]")
"""What Python makes of bytes that are not UTF-8."""


def load_settings() -> ClientConnectConfig | None:
    """Return what TEMPORAL_* variables and profiles say, None when they say nothing."""
    config_file = os.environ.get("TEMPORAL_CONFIG_FILE")
    if config_file and not Path(config_file).is_file():
        raise Refusal(f"TEMPORAL_CONFIG_FILE names {config_file!r}, which is no file: correct or unset it.")
    try:
        return ClientConfig.load_client_connect_config(override_env_vars=_decodable_environment()) or None
    except OSError as error:
        raise Refusal(f"The Temporal settings name {error.filename!r}: {error.strerror}.") from error
    except (RuntimeError, ValueError, TypeError) as error:
        raise Refusal(f"The Temporal settings are wrong: {error}. Correct TEMPORAL_* or the profile.") from error


async def connect(
    address: "ServerAddress | None" = None, *, plugins: Sequence[Plugin] = (), runtime: Runtime | None = None
) -> Client:
    """Connect to a server that is known, else to the configured one, else to the default address.

    The client reads what is in the artifact store; what it sends goes there only if it is very large.
    """
    converter = data_converter(open_artifacts(), threshold=STARTER_INLINE_BYTES)
    settings: ClientConnectConfig = {"target_host": DEFAULT_TARGET, **(load_settings() or {})}
    if address is not None:
        settings = {"target_host": address.target, "namespace": address.namespace}
    try:
        async with asyncio.timeout(CONNECT_LIMIT_S):
            return await Client.connect(
                **settings, data_converter=converter, plugins=plugins, runtime=runtime or _quiet_runtime()
            )
    except (RuntimeError, ValueError, TimeoutError) as error:
        raise Refusal(
            f"No Temporal server answers at {settings['target_host']} ({_reason(error)}): start it, correct "
            "TEMPORAL_ADDRESS and its TLS and key settings, or unset them to use the embedded server."
        ) from error


def open_artifacts() -> ArtifactStore:
    """Return the artifact store that is configured, else that of the state directory."""
    try:
        return ArtifactStore.open(home.artifacts())
    except StoreError as error:
        raise Refusal(f"{error}.") from error


def _decodable_environment() -> dict[str, str]:
    """Return what the SDK may read: its core panics at a variable, of whatever name, that is not UTF-8."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("TEMPORAL_") and not _UNDECODABLE.search(name + value)
    }


@cache
def _quiet_runtime() -> Runtime:
    """Return a runtime that logs through Python, because the SDK core logs to stdout, which belongs to the answer."""
    forwarding = LogForwardingConfig(logger=logging.getLogger("temporalio.core"))
    return Runtime(
        telemetry=TelemetryConfig(logging=LoggingConfig(filter=LoggingConfig.default.filter, forwarding=forwarding))
    )


def _reason(error: Exception) -> str:
    """Return the readable part of an error of the SDK core."""
    text = str(error)
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECT_LIMIT_S} s"
    known = ("Connection refused", "dns error", "invalid target URL", "Unauthenticated", "PermissionDenied", "tls")
    return next((reason for reason in known if reason in text), text.removeprefix("Failed client connect: ")[:200])
