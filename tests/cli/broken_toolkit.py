"""A toolkit that cannot be imported: a parameter without a type."""

from activities.toolkit import tool


@tool()
def count_words(text) -> int:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """Count the words of a text."""
    return len(text.split())
