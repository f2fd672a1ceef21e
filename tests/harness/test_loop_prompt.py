import pytest

from harness.artifact import Artifact
from harness.errors import ErrorCode
from harness.loop_calls import CallResult
from harness.loop_effects import Ask
from harness.loop_options import LoopOptions
from harness.loop_prompt import step_prompt_tokens, summary_prompt_tokens
from tests.harness.loops import begin

OPTIONS = LoopOptions(soft_context_tokens=2000, hard_context_tokens=3000)


def ask(*results: CallResult, notes: tuple[str, ...] = ()) -> Ask:
    """Return an Ask of the second step."""
    return Ask(2, results, notes, must_answer=False)


def test_a_first_prompt_has_what_is_in_view_and_slack() -> None:
    assert step_prompt_tokens(begin(OPTIONS, tokens=1000), ask()) == 1200
    assert summary_prompt_tokens(begin(OPTIONS, tokens=1000)) == 1200


@pytest.mark.parametrize(
    ("result", "tokens"),
    [
        (CallResult(id="1.1", tool="now", value="noon"), 6 + 60),
        (CallResult(id="1.1", tool="now", artifact=Artifact(digest="a" * 64, size=500)), 500 + 60),
        (CallResult(id="1.1", tool="now", code=ErrorCode.TIMEOUT, message="late" * 30), 38 + 60),
    ],
    ids=["value", "artifact", "error"],
)
def test_results_are_counted_on_the_high_side(result: CallResult, tokens: int) -> None:
    prompt = step_prompt_tokens(begin(OPTIONS, tokens=0), ask(result))

    assert prompt == int(tokens * 1.1) + 100


def test_results_are_counted_as_they_will_be_shown_which_is_in_half_of_the_room() -> None:
    huge = CallResult(id="1.1", tool="now", artifact=Artifact(digest="a" * 64, size=9_000_000))

    assert step_prompt_tokens(begin(OPTIONS, tokens=0), ask(huge, huge)) == int((1000 + 120) * 1.1) + 100


def test_notes_are_counted() -> None:
    plain = step_prompt_tokens(begin(OPTIONS, tokens=0), ask())

    assert step_prompt_tokens(begin(OPTIONS, tokens=0), ask(notes=("Do not make this call again.",))) > plain
