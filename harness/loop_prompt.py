"""How many tokens the prompts of a loop may have, estimated on the high side from what the workflow knows."""

from harness.agent_state import AgentState
from harness.loop_calls import CallResult
from harness.loop_effects import Ask
from harness.usage import estimate_tokens
from harness.wire_size import encoded_size

CALL_TOKENS = 60
"""Fence, id and name round one result."""
SLACK = 1.1
SLACK_TOKENS = 100


def step_prompt_tokens(state: AgentState, wanted: Ask) -> int:
    """Return the prompt tokens of the next step: what was in view, and what is new, cut as it will be shown."""
    room = state.options.soft_context_tokens // 2
    new = sum(_result_tokens(result) for result in wanted.results)
    notes = sum(map(estimate_tokens, wanted.notes))
    return _with_slack(state.context_tokens + min(new, room + CALL_TOKENS * len(wanted.results)) + notes)


def summary_prompt_tokens(state: AgentState) -> int:
    """Return the prompt tokens of a summary of what is in view."""
    return _with_slack(state.context_tokens)


def _result_tokens(result: CallResult) -> int:
    if result.code is not None:
        return estimate_tokens(result.message) + CALL_TOKENS
    size = result.artifact.size if result.artifact else encoded_size(result.value)
    return size + CALL_TOKENS  # a character that is not ASCII is a token, and has more bytes than one


def _with_slack(tokens: int) -> int:
    return int(tokens * SLACK) + SLACK_TOKENS
