"""Refusals: what a server says against a request that it does not understand."""

import re
from dataclasses import dataclass

ABOUT_FORMAT = re.compile(
    r"response[ _]format|json[ _]schema|json[ _]object|structured[ _]output|json mode|guided|grammar", re.IGNORECASE
)
ABOUT_TOOLS = re.compile(
    r"\btools?(?:_\w+)?\b|function[ _-]?call|\bfunctions?\b|jinja|grammar|roles must alternate"
    # What some servers want back with each call, and no other server knows: Gemini, DeepSeek.
    r"|thought_signature|reasoning_content",
    re.IGNORECASE,
)
ABOUT_CHOICE = re.compile(r"tool_choice", re.IGNORECASE)
_OF_FORM = re.compile(
    r"unsupported|not support|n['\u2019]t support|unrecogni[sz]ed|unknown|not (?:permitted|allowed)|unexpected|invalid"
    r"|unavailable|must be|extra|failed to parse|requires?\b|no endpoints|must alternate|missing",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Refusal:
    """Why a server says that it refused a request."""

    text: str
    parameter: str = ""
    """The parameter that it names as the cause; empty when it names none."""

    @property
    def is_of_form(self) -> bool:
        """Return whether it speaks of how the request was put, rather than of what was asked."""
        return _OF_FORM.search(self.text) is not None

    def is_about(self, pattern: re.Pattern[str]) -> bool:
        """Return whether the cause matches: the parameter when one is named, since a text may quote the request."""
        return pattern.search(self.parameter or self.text) is not None
