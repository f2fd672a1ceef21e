"""Fixtures: the servers that tests share."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from activities.artifacts import ArtifactStore
from tests.temporal_server import dev_server, time_skipping_server
from workflows.data_converter import data_converter


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    """Return a client of the real dev server, with a store for large values as a worker has it."""
    store = ArtifactStore.open(str(tmp_path_factory.mktemp("artifacts")))
    async with dev_server(data_converter=data_converter(store)) as environment:
        yield environment.client


@pytest_asyncio.fixture(loop_scope="session")
async def time_skipping() -> AsyncIterator[WorkflowEnvironment]:
    """Return a server that skips time."""
    async with time_skipping_server() as environment:
        yield environment
