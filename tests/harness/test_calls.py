from datetime import timedelta

import pytest
from pydantic import BaseModel

from harness.calls import DescribeRequest, FailureDetails, PlanReply, PlanRequest, ToolReply, ToolRequest, VerifyRequest
from harness.errors import ErrorCode
from harness.usage import TryRecord, Usage
from tests.builders import games_catalog, games_plan

TRY = TryRecord(number=1, code=ErrorCode.TIMEOUT, message="late", usage=Usage(model="m", input_tokens=1))


@pytest.mark.parametrize(
    "message",
    [
        DescribeRequest(toolkit="games"),
        PlanRequest(
            goal="g",
            catalog=games_catalog(),
            max_nodes=5,
            max_output_tokens=100,
            max_tokens=200,
            timeout=timedelta(seconds=60),
        ),
        PlanReply(plan=games_plan(), tries=(TRY,), try_number=2),
        ToolRequest(arguments={"a": [1, None, {"b": "c"}]}),
        ToolReply(value={"report": "x"}, latency_ms=5),
        VerifyRequest(goal="g", toolkit="games", report={"report": "x"}, results={"get_games": []}),
        FailureDetails(tries=(TRY,), try_number=1),
    ],
    ids=lambda message: type(message).__name__,
)
def test_messages_survive_json_without_their_defaults(message: BaseModel) -> None:
    assert type(message).model_validate_json(message.model_dump_json(exclude_unset=True)) == message


def test_a_bare_reply_is_small_on_the_wire() -> None:
    assert ToolReply(value=1).model_dump_json(exclude_unset=True) == '{"value":1}'
