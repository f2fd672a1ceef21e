"""The report toolkit: a report on whatever other tools have found, for toolkits that write none themselves."""

from datetime import timedelta

from pydantic import JsonValue

from activities.model.request import ModelRequest
from activities.prompts import FENCE_RULE, fenced, fenced_json
from activities.toolkit import MODEL_TOOL_TIMEOUT, Report, ToolContext, Toolkit, tool
from harness.catalog import ToolRole
from harness.model_choice import ModelRole
from harness.usage import estimate_tokens

MAX_REPORT_TOKENS = 1200
MODEL_TIMEOUT = MODEL_TOOL_TIMEOUT - timedelta(seconds=5)
"""Ends before the tool itself, so that a call that took too long is still charged."""
MAX_INSTRUCTIONS_CHARS = 2000
MAX_FEEDBACK_CHARS = 1500
LEAST_SOURCE_CHARS = 40
LEAST_SOURCE_TOKENS = 100
"""What one source takes at the least, with the lines round it; with less room, the last ones are left out."""

REPORT_RULES = f"""You write the final report of a run: the answer to the given instructions.

- Use only what the sources say. Where they do not answer something, say so; make nothing up.
- Give names, numbers and dates exactly as the sources do. Work out what was asked for from them, and say how.
- A source that ends with "chars left out here" was cut: say what may be missing when that matters.
- Plain text, short, the answer first.

{FENCE_RULE}"""


@tool(role=ToolRole.FINAL_SYNTHESIS, timeout=MODEL_TOOL_TIMEOUT, max_model_tokens=16_000)
async def write_report(instructions: str, sources: list[JsonValue], context: ToolContext) -> Report:
    """Write the final report from the results of other tools.

    Args:
        instructions: What the report is to answer, as the goal states it.
        sources: The results that it is to be written from, whole.
    """
    parts = [fenced("task", instructions, limit=MAX_INSTRUCTIONS_CHARS)]
    if context.feedback:
        parts += [
            "An earlier report was rejected for the reasons below. Write one that does not give them again.",
            fenced("feedback", context.feedback, limit=MAX_FEEDBACK_CHARS),
        ]
    room = context.max_tokens - MAX_REPORT_TOKENS - estimate_tokens(REPORT_RULES + "".join(parts))
    answer = await context.model.ask(
        ModelRequest(
            role=ModelRole.SYNTHESIS,
            system=REPORT_RULES,
            user="\n\n".join([*parts, *_fenced_sources(sources, room)]),
            max_output_tokens=MAX_REPORT_TOKENS,
            timeout=MODEL_TIMEOUT,
            is_grounded=True,
        )
    )
    return Report(report=answer.text.strip())


def _fenced_sources(sources: list[JsonValue], room_tokens: int) -> list[str]:
    """Return the sources, each cut to an equal share of the room; what a short one leaves goes to the others."""
    most = max(1, room_tokens // LEAST_SOURCE_TOKENS)
    whole = [fenced_json(f"source_{number}", source) for number, source in enumerate(sources[:most], 1)]
    share = _share([estimate_tokens(text) for text in whole], room_tokens)
    shown = [_cut(number, text, sources[number - 1], share) for number, text in enumerate(whole, 1)]
    return [*shown, f"{len(sources) - most} more sources are left out here."] if len(sources) > most else shown


def _share(sizes: list[int], room: int) -> int:
    """Return the most tokens that one source may take, when none takes more than it needs."""
    left, waiting = room, sorted(sizes)
    while waiting and waiting[0] * len(waiting) <= left:
        left -= waiting.pop(0)
    return max(left, 0) // len(waiting) if waiting else max(sizes, default=0)


def _cut(number: int, whole: str, source: JsonValue, tokens: int) -> str:
    """Return a source in at most that many tokens, or as short as it is worth showing."""
    text, chars = whole, len(whole)
    while estimate_tokens(text) > tokens and chars > LEAST_SOURCE_CHARS:
        chars = max(min(chars * 3 // 4, 4 * tokens), LEAST_SOURCE_CHARS)
        text = fenced_json(f"source_{number}", source, limit=chars)
    return text


TOOLKIT = Toolkit(
    name="report",
    tools=(write_report,),
    guidance="Give `write_report` the goal itself, word for word, as `instructions`, and as `sources` every result "
    "that the answer needs.",
)
