"""The offline writer for any other synthesis: an honest list of what it was given."""

import json
from collections.abc import Mapping

from pydantic import JsonValue

from activities.model.offline_writer import OFFLINE_LINE

MAX_SOURCE_CHARS = 200
MAX_SOURCES = 10
MAX_ITEMS = 3
MOST_COUNTED = 12
"""A larger count would be a figure that no source has, which grounding takes for made up."""
TASK_LABELS = ("goal", "preferences", "task", "question")


def write_summary(texts: Mapping[str, str], user: str) -> str:
    """Summarise the fenced texts of a prompt, or the prompt itself when it has none."""
    task = next((texts[label] for label in TASK_LABELS if label in texts), "")
    sources = {label: text for label, text in texts.items() if label not in {*TASK_LABELS, "feedback"}}
    lines = [f"Summary for: {_head(' '.join((task or user).split()), 200)}"]
    lines += [f"- {label}: {_gist(text)}" for label, text in list(sources.items())[:MAX_SOURCES]]
    if len(sources) > MAX_SOURCES:
        lines.append(f"- and {_count(len(sources) - MAX_SOURCES)} more sources that are not listed here")
    if not sources:
        lines.append("No source was given.")
    if "feedback" in texts:
        lines.append(f"An earlier report was rejected: {_head(' '.join(texts['feedback'].split()), 300)}")
    lines.append(f"{OFFLINE_LINE} It lists what it was given and draws no conclusions.")
    return "\n".join(lines)


def _gist(text: str) -> str:
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return _head(" ".join(text.split()), MAX_SOURCE_CHARS)
    if isinstance(value, list):
        shown = "; ".join(_short(item) for item in value[:MAX_ITEMS])
        rest = f"; {_count(len(value) - MAX_ITEMS)} more" if len(value) > MAX_ITEMS else ""
        return _head(f"{_count(len(value))} entries: {shown}{rest}" if value else "no entries", MAX_SOURCE_CHARS)
    return _head(_short(value), MAX_SOURCE_CHARS)


def _short(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return ", ".join(
            f"{key} {item if isinstance(item, str | int | float) else _short(item)}" for key, item in value.items()
        )
    return json.dumps(value, ensure_ascii=False)


def _head(text: str, limit: int) -> str:
    """Return the beginning of a text, without saying how much was cut, for the same reason."""
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."


def _count(number: int) -> str:
    return str(number) if number <= MOST_COUNTED else "many"
