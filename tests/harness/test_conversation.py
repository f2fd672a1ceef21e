from harness.conversation import Conversation, Observation, Said, Turn, dropped, lines_of
from harness.errors import ErrorCode


def turn(step: int, *, text: str = "", result: str | None = None) -> Turn:
    """Return a step with one call of `read`; without a result it has not ended."""
    seen = () if result is None else (Observation(id=f"{step}.1", tool="read", text=result, size=len(result)),)
    return Turn(step=step, text=text, calls=(Said(id=f"{step}.1", tool="read", arguments="{}"),), observations=seen)


def test_what_came_of_calls_is_kept_with_them_in_the_order_of_the_calls() -> None:
    calls = (Said(id="1.1", tool="a", arguments="{}"), Said(id="1.2", tool="b", arguments="{}"))
    first, second = Observation(id="1.1", tool="a", text="one"), Observation(id="1.2", tool="b", text="two")

    conversation = Conversation(turns=(Turn(step=1, calls=calls),)).observed((second, first))

    assert conversation.turns[0].observations == (first, second)


def test_a_call_of_which_nothing_came_is_said_to_have_no_result() -> None:
    conversation = Conversation(turns=(turn(1),)).observed(())

    assert conversation.turns[0].observations == (
        Observation(id="1.1", tool="read", text="there is no result of this call", code=ErrorCode.INTERNAL),
    )


def test_results_before_any_step_change_nothing() -> None:
    assert Conversation().observed((Observation(id="1.1", tool="a", text="one"),)) == Conversation()


def test_at_most_two_hundred_turns_are_kept_and_the_others_are_lines_of_the_record() -> None:
    conversation = Conversation()
    for step in range(1, 204):
        conversation = conversation.said(turn(step, result=f"found {step}"))

    assert (len(conversation.turns), conversation.turns[0].step, conversation.summarised_steps) == (200, 4, 3)
    assert conversation.record == (
        "step 1: read({}) -> found 1",
        "step 2: read({}) -> found 2",
        "step 3: read({}) -> found 3",
    )


def test_the_record_keeps_its_first_ten_lines_and_its_newest_thirty() -> None:
    turns = tuple(turn(step, result="found") for step in range(1, 101))

    conversation = Conversation(turns=turns).without_oldest(99)

    steps = [int(line.split(":")[0].removeprefix("step ")) for line in conversation.record]
    assert steps == [*range(1, 11), *range(70, 100)]
    assert (conversation.summarised_steps, conversation.turns) == (99, turns[99:])


def test_a_record_that_goes_on_keeps_its_first_lines() -> None:
    conversation = Conversation()
    for step in range(1, 401):
        conversation = conversation.said(turn(step, result="found")).without_oldest(1)

    assert conversation.record[0] == "step 1: read({}) -> found"
    assert conversation.record[-1] == "step 400: read({}) -> found"
    assert (len(conversation.record), conversation.summarised_steps) == (40, 400)


def test_a_record_that_is_too_long_for_a_prompt_keeps_its_first_line_and_most_of_its_newest() -> None:
    conversation = Conversation(record=tuple(f"step {number}: read" for number in range(1, 13)))

    assert conversation.with_record_within(12 * 12) == conversation
    shorter = conversation.with_record_within(12 * 6).record
    assert (shorter[0], shorter[-4:]) == ("step 1: read", tuple(f"step {number}: read" for number in (9, 10, 11, 12)))
    assert len(shorter) == 6
    assert conversation.with_record_within(0).record == ("step 1: read",)


def test_taking_no_turn_away_changes_nothing() -> None:
    conversation = Conversation(turns=(turn(1),))

    assert conversation.without_oldest(0) is conversation


def test_a_turn_in_short_tells_each_call_and_how_it_ended() -> None:
    calls = tuple(Said(id=f"2.{place}", tool=f"t{place}", arguments='{"q":"x"}') for place in (1, 2, 3))
    seen = (
        Observation(id="2.1", tool="t1", text="two\nlines"),
        Observation(id="2.2", tool="t2", text="too many", code=ErrorCode.RATE_LIMITED),
    )

    assert lines_of(Turn(step=2, calls=calls, observations=seen)) == (
        'step 2: t1({"q":"x"}) -> two lines',
        'step 2: t2({"q":"x"}) -> RATE_LIMITED: too many',
        'step 2: t3({"q":"x"}) -> no result yet',
    )


def test_a_turn_without_calls_in_short_is_what_was_said() -> None:
    assert lines_of(Turn(step=3, text="I am not sure.")) == ("step 3: said I am not sure.",)


def test_a_line_of_the_record_is_cut() -> None:
    (line,) = lines_of(turn(1, result="x" * 1000))

    assert len(line) == 203
    assert line.endswith("xxx...")


def test_a_dropped_output_keeps_its_beginning_and_its_size() -> None:
    seen = Observation(id="1.1", tool="read", text="x" * 500, size=500, digest="d")

    assert dropped(seen) == Observation(id="1.1", tool="read", text="x" * 120, size=500, is_dropped=True)


def test_tokens_grow_with_all_that_a_turn_has() -> None:
    bare = Turn(step=1)
    more = turn(1, text="I look.", result="found")

    assert bare.tokens == 8
    assert more.tokens == (8 + 7 // 4) + (8 + 0) + (8 + 1) + (8 + 1 + 40)
    assert Conversation(turns=(bare, more)).tokens == bare.tokens + more.tokens


def test_what_the_harness_says_of_an_output_takes_tokens_too() -> None:
    plain = Observation(id="1.1", tool="read", text="found")
    failed = plain.model_copy(update={"code": ErrorCode.TIMEOUT, "orders": ("override",), "is_dropped": True})

    assert failed.tokens == plain.tokens + 3 * 55


def test_a_conversation_survives_the_way_through_its_json_without_defaults() -> None:
    conversation = Conversation(turns=(turn(1, result="found"),)).without_oldest(0)

    assert Conversation.model_validate_json(conversation.model_dump_json(exclude_defaults=True)) == conversation
