from harness.binding import reuse_key
from harness.catalog import Effect, ToolSpec
from harness.errors import ErrorCode
from harness.loop_calls import ToolCall
from harness.made_writes import MOST_WRITES, MadeWrites, known_writes, write_key
from tests.builders import NUMBER, TEXT, tool_spec


def sender(effect: Effect = Effect.WRITE, version: str = "1") -> ToolSpec:
    return tool_spec("send", parameters={"text": TEXT, "number": NUMBER}, effect=effect, version=version)


def send(text: str, number: float = 1) -> ToolCall:
    return ToolCall(id="1.1", tool="send", arguments={"text": text, "number": number})


def test_a_call_that_writes_is_made_once() -> None:
    writes = MadeWrites()

    assert writes.begin(send("hello"), sender()) is None

    refused = writes.begin(send("hello", 1.0), sender())
    assert refused is not None
    assert refused.code is ErrorCode.INVALID_ARGUMENT
    assert "'send'" in refused.message
    assert writes.begin(send("other"), sender(Effect.IDEMPOTENT_WRITE)) is None


def test_a_call_that_reads_may_be_repeated() -> None:
    writes = MadeWrites()

    assert writes.begin(send("hello"), sender(Effect.READ)) is None
    assert writes.begin(send("hello"), sender(Effect.READ)) is None


def test_a_call_that_surely_wrote_nothing_may_be_made_again() -> None:
    writes = MadeWrites()
    writes.begin(send("hello"), sender())

    writes.forget(send("hello"), sender())

    assert writes.begin(send("hello"), sender()) is None


def test_after_the_most_writes_there_are_no_more_so_that_none_is_forgotten() -> None:
    writes = MadeWrites()
    for number in range(MOST_WRITES):
        assert writes.begin(send("hello", number), sender()) is None

    refused = writes.begin(send("hello", MOST_WRITES), sender())
    again = writes.begin(send("hello", 0), sender())

    assert refused is not None
    assert refused.code is ErrorCode.QUOTA_EXHAUSTED
    assert "500" in refused.message
    assert again is not None
    assert again.code is ErrorCode.INVALID_ARGUMENT
    assert len(writes.keys) == MOST_WRITES
    assert writes.begin(send("hello"), sender(Effect.READ)) is None


def test_what_was_written_before_a_loop_is_not_written_in_it() -> None:
    before = MadeWrites()
    before.begin(send("by another agent"), sender())
    of_a_node = reuse_key(sender(), {"number": 1, "text": "by a node"})

    writes = MadeWrites(list(known_writes(before.keys, [of_a_node])))

    assert writes.begin(send("by another agent"), sender()) is not None
    assert writes.begin(send("by a node"), sender()) is not None
    assert writes.begin(send("by nobody"), sender()) is None


def test_a_key_tells_calls_apart_by_tool_version_and_arguments() -> None:
    keys = {
        write_key(sender(), {"text": "a", "number": 1}),
        write_key(sender(), {"number": 1.0, "text": "a"}),
        write_key(sender(), {"text": "b", "number": 1}),
        write_key(sender(version="2"), {"text": "a", "number": 1}),
    }

    assert len(keys) == 3


def test_an_agent_is_told_of_as_many_writes_as_it_can_take() -> None:
    keys = [f"{number:016}".ljust(64, "f") for number in range(MOST_WRITES + 5)]

    told = known_writes(["a" * 16, "a" * 16], keys)

    assert len(told) == MOST_WRITES
    assert told[:2] == ("a" * 16, "0" * 16)
