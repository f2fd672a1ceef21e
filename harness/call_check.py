"""Checks of a call that a model asks for, before anything is done: it names a tool exactly, with fitting arguments."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from harness.catalog import ToolSpec, Withheld
from harness.errors import ErrorCode, bounded, listed, quoted
from harness.loop_calls import CallResult, ToolCall
from harness.near_match import NearMatches
from harness.schema_keywords import describe
from harness.signature import Signature

MAX_CALLS = 20
"""Calls of one step that are looked at."""
MAX_MESSAGE_CHARS = 2000
MAX_PROBLEMS = 20


def check_call(
    call: ToolCall,
    tools: Sequence[ToolSpec],
    withheld: Sequence[Withheld] = (),
    left_out: Collection[str] = (),
) -> CallResult | None:
    """Return why a call is refused and what would be right; None when it may be made.

    A name must be that of a tool as it stands: nothing is called under a guessed one.
    """
    tool = next((tool for tool in tools if tool.name == call.tool), None)
    if tool is None:
        return _refusal(call, ErrorCode.UNKNOWN_TOOL, _no_such_tool(call.tool, tools, withheld, left_out))
    if call.problem:
        return _refusal(call, ErrorCode.INVALID_ARGUMENT, f"the arguments cannot be read: {call.problem}")
    problems = list(_problems(call, Signature(tool)))
    if not problems:
        return None
    more = len(problems) - MAX_PROBLEMS
    told = problems[:MAX_PROBLEMS] + ([f"and {more} more problems"] if more > 0 else [])
    return _refusal(call, ErrorCode.INVALID_ARGUMENT, "\n".join(told))


@dataclass(frozen=True)
class CallRules:
    """What the calls of a loop are checked against."""

    tools: tuple[ToolSpec, ...]
    """All that are offered, the built-in ones included."""
    withheld: tuple[Withheld, ...] = ()
    left_out: tuple[str, ...] = ()

    def check(self, call: ToolCall) -> CallResult | None:
        """Return why a call is refused; None when it may be made."""
        return check_call(call, self.tools, self.withheld, self.left_out)

    def tool_of(self, call: ToolCall) -> ToolSpec:
        """Return the tool of a call that may be made."""
        return next(tool for tool in self.tools if tool.name == call.tool)


def too_many(call: ToolCall) -> CallResult:
    """Return the result of a call that stands behind the most that a step takes."""
    message = f"a step takes at most {MAX_CALLS} calls; make this one in a later step"
    return _refusal(call, ErrorCode.INVALID_ARGUMENT, message)


def _refusal(call: ToolCall, code: ErrorCode, message: str) -> CallResult:
    return CallResult(id=call.id, tool=call.tool, code=code, message=bounded(message, MAX_MESSAGE_CHARS))


def _no_such_tool(name: str, tools: Sequence[ToolSpec], withheld: Sequence[Withheld], left_out: Collection[str]) -> str:
    names = [tool.name for tool in tools]
    reason = next((each.reason for each in withheld if each.name == name), None)
    if reason is not None:
        return f"tool {quoted(name)} may not be used: {reason}. There are {listed(names)}"
    if name in left_out:
        return f"tool {quoted(name)} is not offered here; use one of {listed(names)}"
    return f"unknown tool {quoted(name)}{NearMatches(names).hint(name) or ';'} there are {listed(names)}"


def _problems(call: ToolCall, signature: Signature) -> Iterator[str]:
    """Yield what is wrong with each argument, in their order; missing ones come last."""
    near = NearMatches(signature.schemas)
    takes = f"tool {quoted(call.tool)} takes {listed(signature.schemas)}"
    for name, value in call.arguments.items():
        if name not in signature.schemas and not signature.takes_extra:
            yield f"unknown argument {quoted(name)}{near.hint(name) or ';'} {takes}"
        elif problem := signature.parameter(name).misfit(value):
            yield f"argument {quoted(name)}: {problem}"
    missing = [name for name in signature.required if name not in call.arguments]
    if missing:
        needed = ", ".join(f"{quoted(name)} ({describe(signature.schemas[name])})" for name in missing[:20])
        yield f"missing required arguments of tool {quoted(call.tool)}: {needed}"
