"""Permissions: which tools a run may use, decided before a planner sees any of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

from pydantic import JsonValue

from harness.catalog import Catalog, Effect, ToolRole, ToolSpec, Withheld
from harness.errors import listed, quoted

GRANT = "permission:"
"""A pattern that begins so names a permission, exactly; any other is a shell pattern of tool names, case-sensitive."""
MAX_TOLD = 20
"""Withheld tools, and patterns, that the trace tells."""
_SHOWN = 5


class Sifted(NamedTuple):
    """Tools, sifted by what a run may use."""

    kept: tuple[ToolSpec, ...]
    withheld: tuple[Withheld, ...]


@dataclass(frozen=True)
class Permissions:
    """What a run may use."""

    allow: tuple[str, ...] = ()
    """Patterns of names, none for every name, and permissions that are granted."""
    deny: tuple[str, ...] = ()
    """Patterns of names, and permissions, of tools that are not to be used whatever `allow` says."""
    allow_writes: bool = False
    """Whether tools may be used that have the effect WRITE or need approval."""

    def refusal(self, tool: ToolSpec) -> str | None:
        """Return why the run may not use a tool and how it would be allowed, every reason; None when it may."""
        return "; ".join(self._reasons(tool)) or None

    def permitted(self, tools: Iterable[ToolSpec]) -> Sifted:
        """Sift tools, in their order."""
        kept: list[ToolSpec] = []
        withheld: list[Withheld] = []
        for tool in tools:
            reason = self.refusal(tool)
            if reason is None:
                kept.append(tool)
            else:
                withheld.append(Withheld(name=tool.name, reason=reason))
        return Sifted(tuple(kept), tuple(withheld))

    def unmatched(self, tools: Sequence[ToolSpec]) -> tuple[str, ...]:
        """Return the patterns that match no tool at all: most likely they are misspelt."""
        patterns = dict.fromkeys((*self.allow, *self.deny))
        return tuple(pattern for pattern in patterns if not any(_matches(pattern, tool) for tool in tools))

    def applied_to(self, catalog: Catalog) -> Catalog:
        """Return a catalog of the permitted tools, with what is withheld; the same one when nothing is to be said."""
        sifted, unmatched = self.permitted(catalog.tools), self.unmatched(catalog.tools)
        changes: dict[str, object] = {}
        if sifted.withheld:
            changes = {"tools": sifted.kept, "withheld": sifted.withheld}
        if unmatched:
            changes["unmatched_patterns"] = unmatched
        return catalog.model_copy(update=changes) if changes else catalog

    def _reasons(self, tool: ToolSpec) -> Iterator[str]:
        denying = [pattern for pattern in self.deny if _matches(pattern, tool)]
        if denying:
            yield f"it is denied by {_shown(denying)}; it would be allowed without that (--deny)"
        names = [pattern for pattern in self.allow if not pattern.startswith(GRANT)]
        is_named = any(_matches(pattern, tool) for pattern in names)
        if names and not is_named and tool.role is not ToolRole.FINAL_SYNTHESIS:
            yield f"only {_shown(names)} may be used; it would be allowed by its name (--allow {tool.name})"
        grant = GRANT + tool.permission
        if tool.permission and tool.name not in self.allow and grant not in self.allow:
            ways = f"--allow {grant}, or its exact name, --allow {tool.name}"
            yield f"the permission {quoted(tool.permission)} is not granted; it would be allowed by {ways}"
        if self.allow_writes:
            return
        if tool.effect is Effect.WRITE:
            yield "it has the effect WRITE; it would be allowed in a run that may write (--allow-writes)"
        elif tool.needs_approval:
            yield "it needs approval; it would be allowed in a run that may write (--allow-writes)"


def missing_tools(catalog: Catalog) -> str | None:
    """Return why no plan can be written with what a run may use, or None when one can."""
    if any(tool.role is ToolRole.FINAL_SYNTHESIS for tool in catalog.tools):
        return None
    return _lack("tool that writes the report (FINAL_SYNTHESIS)" if catalog.tools else "tool", catalog)


def missing_tools_of_loop(catalog: Catalog) -> str | None:
    """Return why an agent loop has nothing to work with, or None when it has; writers of reports are no help to it."""
    if any(tool.role is not ToolRole.FINAL_SYNTHESIS for tool in catalog.tools):
        return None
    return _lack("tool", catalog) if catalog.withheld or not catalog.tools else None


def _lack(kind: str, catalog: Catalog) -> str:
    told = [f"{quoted(each.name)}: {each.reason}" for each in catalog.withheld[:_SHOWN]]
    more = len(catalog.withheld) - len(told)
    parts = [*told, *([f"{more} more are withheld"] if more else []), *filter(None, [unmatched_note(catalog)])]
    return ". ".join([f"the run may use no {kind} of toolkit {quoted(catalog.toolkit)}", *parts])


def unmatched_note(catalog: Catalog) -> str:
    """Say which patterns match no tool of the toolkit; empty when each matches one."""
    patterns = catalog.unmatched_patterns
    return f"no tool matches {listed(patterns)}: check the spelling" if patterns else ""


def withheld_note(catalog: Catalog) -> str:
    """Say in a line what the run may not use and how it might, and which patterns match nothing."""
    told = [f"{quoted(each.name)} is withheld: {each.reason}" for each in catalog.withheld[:_SHOWN]]
    more = len(catalog.withheld) - len(told)
    return ". ".join(
        [*told, *([f"{more} more are withheld"] if more else []), *filter(None, [unmatched_note(catalog)])]
    )


def permission_data(catalog: Catalog) -> dict[str, JsonValue]:
    """Return what was withheld, and the patterns that match nothing, as the trace tells it."""
    first: list[JsonValue] = [{"name": each.name, "reason": each.reason} for each in catalog.withheld[:MAX_TOLD]]
    unmatched: list[JsonValue] = list(catalog.unmatched_patterns[:MAX_TOLD])
    data: dict[str, JsonValue] = {"withheld": {"count": len(catalog.withheld), "first": first}}
    return data | ({"unmatched_patterns": unmatched} if unmatched else {})


def _matches(pattern: str, tool: ToolSpec) -> bool:
    if pattern.startswith(GRANT):
        return pattern == GRANT + tool.permission and bool(tool.permission)
    return fnmatchcase(tool.name, pattern)


def _shown(patterns: Sequence[str]) -> str:
    return listed(patterns, _SHOWN)
