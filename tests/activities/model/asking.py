"""Ask a scripted server by the real client."""

from datetime import timedelta

import pytest

from activities.model.client import OpenAIModel
from activities.model.request import ModelAnswer, ModelError, ModelRequest
from activities.settings import WorkerSettings
from harness.model_choice import NO_CHOICE, ModelChoice, ModelRole
from harness.plan import Plan
from tests.scripted_model import Reply, ScriptedServer

KEY = "sk-canary-0123456789abcdef"


def request_for(
    *,
    answer: type[Plan] | None = None,
    timeout: timedelta = timedelta(seconds=5),
    role: ModelRole = ModelRole.SYNTHESIS,
    models: ModelChoice = NO_CHOICE,
) -> ModelRequest:
    return ModelRequest(
        role=role,
        system="Be brief.",
        user="Say hello.",
        max_output_tokens=50,
        timeout=timeout,
        answer=answer,
        models=models,
    )


async def ask(
    server: ScriptedServer, request: ModelRequest | None = None, *, model: str = "gpt-4.1-mini"
) -> ModelAnswer:
    client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url, model=model))
    try:
        return await client.ask(request or request_for())
    finally:
        await client.close()


async def fail(*replies: Reply, request: ModelRequest | None = None) -> tuple[ModelError, ScriptedServer]:
    async with ScriptedServer(*replies) as server:
        with pytest.raises(ModelError) as caught:
            await ask(server, request)
    return caught.value, server
