from activities.loop.prompts import SUMMARY_RULES
from activities.loop.summaries import MAX_SQUEEZES
from activities.model.completion import estimate_prompt
from activities.model.request import ModelError
from activities.prompts import unfenced
from harness.errors import ErrorCode
from harness.usage import Usage
from tests.activities.loop.loop_stage import USAGE, Loop, begin, calls, failure, result, says
from tests.builders import catalog, tool_spec

CALL = calls(("read", '{"q":"tea"}'))
DOWN = ModelError(ErrorCode.PROVIDER_UNAVAILABLE, "no answer", usage=Usage(model="scripted", input_tokens=9))


async def long_loop(*answers: object, steps: int = 40) -> Loop:
    """Return a loop whose steps are over the hard limit; then its model gives these answers."""
    loop = await begin(*[CALL] * steps, *answers, soft=4000, hard=6000)  # type: ignore[arg-type]
    await loop.take()
    await go_on(loop, steps)
    return loop


async def go_on(loop: Loop, steps: int) -> None:
    """Take steps up to one of that number."""
    for step in range(loop.step, steps):
        await loop.take(result(f"{step}.1", f"found-{step} " + "z" * 1600))


async def test_older_steps_give_way_to_a_summary_of_the_model() -> None:
    loop = await long_loop(says("Tea was found in twelve shops."), says("x"))
    before = (await loop.kept()).tokens

    reply = await loop.summarise()

    assert (loop.seen.system, loop.seen.tools, loop.seen.messages) == (SUMMARY_RULES, (), ())
    assert unfenced(loop.seen.user)["goal"] == "Find out what tea costs."
    kept = await loop.kept()
    assert (kept.summary, kept.summarised_steps) == ("Tea was found in twelve shops.", reply.summarised)
    assert kept.tokens < before / 2
    assert reply.usage == USAGE


async def test_the_request_for_a_summary_has_the_older_steps_and_not_the_newest() -> None:
    loop = await long_loop(says("s"))

    reply = await loop.summarise()

    told = unfenced(loop.seen.user)["older_steps"]
    assert told.startswith('Step 1: \n- read({"q":"tea"}) -> result: found-1 zzz')
    assert f"Step {reply.summarised}: " in told
    assert "Step 40: " not in told


async def test_the_next_prompt_has_the_summary_and_what_was_found_first() -> None:
    loop = await long_loop(says("Tea was found."), says("x"))
    await loop.summarise()

    await loop.take(result("40.1", "found-40"))

    texts = unfenced(loop.seen.user)
    assert texts["summary"] == "Tea was found."
    assert texts["record"].startswith('step 1: read({"q":"tea"}) -> found-1 zzz')
    assert "found-40" in loop.seen.messages[-1].text


async def test_without_a_model_the_record_of_calls_is_what_stays() -> None:
    loop = await long_loop(DOWN, says("x"))

    reply = await loop.summarise()
    await loop.take(result("40.1", "found-40"))

    assert "summary" not in unfenced(loop.seen.user)
    assert "found-1 " in unfenced(loop.seen.user)["record"]
    assert reply.usage.input_tokens == 9


async def test_a_second_summary_is_made_of_the_first_one_and_what_came_after() -> None:
    loop = await long_loop(says("First summary."), *[CALL] * 40, says("Second summary."))
    first = await loop.summarise()
    await go_on(loop, 80)

    second = await loop.summarise()

    assert unfenced(loop.seen.user)["older_steps"].startswith("First summary.\nstep 1: read(")
    assert ((await loop.kept()).summary, second.summarised > first.summarised) == ("Second summary.", True)


async def test_a_summary_that_fails_keeps_the_one_before() -> None:
    loop = await long_loop(says("First summary."), *[CALL] * 40, DOWN)
    await loop.summarise()
    await go_on(loop, 80)

    await loop.summarise()

    assert (await loop.kept()).summary == "First summary."


async def test_a_summary_that_is_too_long_is_cut() -> None:
    loop = await long_loop(says("s" * 50_000), steps=80)

    reply = await loop.summarise()

    assert reply.context_tokens < 4000
    assert len((await loop.kept()).summary) <= 4 * 1000


async def test_the_request_for_a_summary_keeps_to_its_grant() -> None:
    loop = await long_loop(says("s"))

    await loop.summarise(max_tokens=3000)

    assert estimate_prompt(loop.seen) + loop.seen.max_output_tokens <= 3000


async def test_private_values_in_a_summary_are_placeholders() -> None:
    loop = await long_loop(says("Ask jane.doe@example.com."))

    await loop.summarise()

    assert (await loop.kept()).summary.startswith("Ask <EMAIL_")


async def test_an_overflow_of_a_conversation_within_its_limits_makes_the_next_prompt_smaller() -> None:
    overflow = ModelError(ErrorCode.CONTEXT_OVERFLOW, "too long")
    loop = await begin(CALL, overflow, says("x"))
    await loop.take()
    found = result("1.1", "z" * 20_000)
    error = await failure(loop.take(found))
    refused = loop.seen

    await loop.summarise()
    await loop.take(found)

    assert error.type == "CONTEXT_OVERFLOW"
    assert estimate_prompt(loop.seen) < estimate_prompt(refused) - 1500
    assert len(loop.model.requests) == 3


async def test_an_overflow_with_nothing_to_shorten_is_told_so() -> None:
    loop = await begin(CALL)

    error = await failure(loop.summarise())

    assert (error.type, error.non_retryable) == ("CONTEXT_OVERFLOW", True)
    assert error.message.endswith("offer fewer tools, or use a model with a longer context")


async def test_a_prompt_that_a_model_cannot_take_gets_smaller_each_time_until_nothing_is_left() -> None:
    loop = await begin(CALL)
    await loop.take()
    while (await loop.kept()).squeezes < MAX_SQUEEZES:
        before = (await loop.kept()).squeezes
        await loop.summarise()
        kept = await loop.kept()
        assert kept.squeezes > before

    assert (await failure(loop.summarise())).type == "CONTEXT_OVERFLOW"


async def test_tools_that_fill_the_prompt_by_themselves_bring_no_call_for_a_summary() -> None:
    tools = catalog(*(tool_spec(f"tool_{i}").model_copy(update={"description": "d" * 500}) for i in range(100)))
    loop = await begin(CALL, tools=tools)
    reply = await loop.take()
    reply = await loop.take(result("1.1", "found"))

    summarised = await loop.summarise()

    assert reply.context_tokens > loop.hard
    assert (len(loop.model.requests), summarised.summarised, summarised.usage) == (2, 0, Usage())
    assert (await loop.kept()).squeezes == 0
