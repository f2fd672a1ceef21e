"""Text that UTF-8 can carry: lone surrogates, which JSON may bring in, fit into no payload, request or file."""


def encodable(text: str) -> str:
    """Return a text with question marks in place of lone surrogates."""
    return text if text.isascii() else text.encode("utf-8", errors="replace").decode("utf-8")
