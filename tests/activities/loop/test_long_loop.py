"""Hundreds of steps of large results: what is kept stays small, and nothing that matters is lost."""

import json
import os

import pytest

from activities.model.completion import estimate_prompt
from activities.prompts import unfenced
from harness.loop_calls import CallResult
from tests.activities.loop.loop_stage import begin, calls, says

CALL = calls(("read", '{"q":"tea"}'))


MOST = 500 if os.environ.get("WHIPPLETREE_SLOW_TESTS") else 120


@pytest.mark.slow
async def test_hundreds_of_steps_of_twenty_kilobytes_keep_the_conversation_small() -> None:
    loop = await begin(CALL)
    loop.model.answers = [CALL]
    largest, prompts, summaries = 0, 0, 0
    reply = await loop.take()
    for step in range(1, MOST):
        numbers = " ".join(f"{step}.{n}" for n in range(200))
        text = f"token-{step} costs {1000 + step}.25 {numbers} ".ljust(20_000, "z")
        stored = await loop.put(json.dumps(text).encode())
        if reply.context_tokens > loop.hard:
            loop.model.answers, loop.model.requests = [says("So far tea is dear.")], []
            await loop.summarise()
            loop.model.answers, loop.model.requests, summaries = [CALL], [], summaries + 1
        reply = await loop.take(CallResult(id=f"{step}.1", tool="read", artifact=stored))
        assert loop.conversation is not None
        largest, prompts = max(largest, loop.conversation.size), max(prompts, estimate_prompt(loop.seen))

    loop.model.answers, loop.model.requests = (
        [says(f"The first was 1001.25, the last {999 + MOST}.25, none 7777.77.")],
        [],
    )
    reply = await loop.take()

    assert largest < 100_000
    assert prompts < loop.hard + 4000
    assert 1 <= summaries < 25
    assert "token-1 costs" in unfenced(loop.seen.user)["record"]
    assert reply.guard is not None
    assert reply.guard.ungrounded == ("7777.77",)
