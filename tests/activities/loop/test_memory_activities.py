from harness.errors import ErrorCode
from harness.loop_calls import MemoryRequest
from tests.activities.loop.loop_stage import begin, failure, says


async def test_a_fact_is_kept_and_recalled() -> None:
    loop = await begin(says("x"))

    kept = await loop.run(loop.activities.remember, MemoryRequest(arguments={"key": "tea", "value": "4.20 USD"}))
    found = await loop.run(loop.activities.recall, MemoryRequest(facts=kept.facts, arguments={"key": "tea"}))

    assert (kept.value, kept.is_new) == ("remembered 'tea'", True)
    assert (found.value, found.facts, found.is_new) == ("4.20 USD", kept.facts, False)


async def test_the_same_fact_again_is_not_new_and_the_same_artifact() -> None:
    loop = await begin(says("x"))
    fact = {"key": "tea", "value": "4.20 USD"}
    first = await loop.run(loop.activities.remember, MemoryRequest(arguments=fact))

    again = await loop.run(loop.activities.remember, MemoryRequest(facts=first.facts, arguments=fact))

    assert (again.is_new, again.facts) == (False, first.facts)


async def test_an_unknown_fact_fails_once_with_the_names_that_there_are() -> None:
    loop = await begin(says("x"))
    kept = await loop.run(loop.activities.remember, MemoryRequest(arguments={"key": "tea", "value": "dear"}))

    error = await failure(loop.run(loop.activities.recall, MemoryRequest(facts=kept.facts, arguments={"key": "milk"})))

    assert (error.type, error.non_retryable) == (ErrorCode.INVALID_ARGUMENT, True)
    assert error.message == "no fact is kept as 'milk'; kept are: 'tea'"


async def test_facts_that_are_lost_are_told_as_lost() -> None:
    loop, other = await begin(says("x")), await begin(says("x"))
    kept = await loop.run(loop.activities.remember, MemoryRequest(arguments={"key": "tea", "value": "dear"}))

    error = await failure(other.run(other.activities.recall, MemoryRequest(facts=kept.facts, arguments={"key": "tea"})))

    assert error.type == ErrorCode.ARTIFACT_LOST
