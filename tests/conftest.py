"""Fixtures: the servers that tests share."""

from collections.abc import AsyncIterator

import pytest_asyncio
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from tests.temporal_server import dev_server, time_skipping_server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def client() -> AsyncIterator[Client]:
    """Return a client of the real dev server."""
    async with dev_server() as environment:
        yield environment.client


@pytest_asyncio.fixture(loop_scope="session")
async def time_skipping() -> AsyncIterator[WorkflowEnvironment]:
    """Return a server that skips time."""
    async with time_skipping_server() as environment:
        yield environment
