"""Toolkits by name: from those that come with Whippletree, from any module, and several together as one."""

import importlib
import inspect
from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue

from activities.toolkit import ReportRule, Toolkit, ToolkitError
from harness.catalog import ToolRole
from harness.errors import ErrorCode, ToolError
from harness.toolkit_names import joined, parts_of
from harness.verification import PASSED, Verdict

BUILT_IN = {"games": "activities.toolkits.games:TOOLKIT", "report": "activities.toolkits.report:TOOLKIT"}
"""Where the toolkits are that come with Whippletree, by name."""
REPORT = "report"
"""Joins a set of toolkits none of which has a tool that writes the report."""

_NOTHING_ELSE: Mapping[str, Toolkit] = {}


def load_toolkit(name: str, others: Mapping[str, Toolkit] = _NOTHING_ELSE) -> Toolkit:
    """Return a toolkit by its built-in name, or by `package.module:attribute`; several, joined by "+", become one.

    Args:
        name: the name, or the names.
        others: further toolkits by name, such as those of MCP servers.

    Raises:
        ToolkitError: saying what was looked for and what there is, or what two toolkits have both.
    """
    whole = joined([name])
    kits = {each: _load(each, others) for each in parts_of(whole)}
    if not any(tool.spec.role is ToolRole.FINAL_SYNTHESIS for kit in kits.values() for tool in kit.tools):
        kits[REPORT] = _load(REPORT, others)
    return _together(whole, kits)


def _load(name: str, others: Mapping[str, Toolkit]) -> Toolkit:
    found = others.get(name) or _imported(name, others)
    return replace(found, tools=tuple(tool.of_toolkit(name) for tool in found.tools))


def _imported(name: str, others: Mapping[str, Toolkit]) -> Toolkit:
    module_name, _, attribute = BUILT_IN.get(name, name).partition(":")
    if not attribute or not all(part.isidentifier() for part in module_name.split(".")):
        known = ", ".join([*BUILT_IN, *others])
        raise ToolkitError(
            f"no toolkit is called {name!r}; there are: {known}; or name your own as package.module:attribute"
        )
    try:
        module = importlib.import_module(module_name)
    except ToolkitError as error:
        raise ToolkitError(f"toolkit {name!r}: {error}") from error
    except (Exception, SystemExit) as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise ToolkitError(f"toolkit {name!r}: the module {module_name!r} cannot be imported: {why}") from error
    found = getattr(module, attribute, None)
    if isinstance(found, Toolkit):
        return found
    there = ", ".join(key for key, value in vars(module).items() if isinstance(value, Toolkit)) or "no toolkit at all"
    what = "has no" if found is None else f"has a {type(found).__name__}, not a Toolkit, as"
    raise ToolkitError(f"toolkit {name!r}: the module {module_name!r} {what} {attribute!r}; it has {there}")


def _together(name: str, kits: Mapping[str, Toolkit]) -> Toolkit:
    if len(kits) == 1:
        return replace(kits[name], name=name)
    _refuse_clashes(kits)
    advice = [f"{each}:\n{kit.guidance}" for each, kit in kits.items() if kit.guidance]
    rules = [kit.verify for kit in kits.values() if kit.verify is not None]
    return Toolkit(
        name=name,
        tools=tuple(tool for kit in kits.values() for tool in kit.tools),
        guidance="\n\n".join(advice),
        verify=_all_of(rules) if rules else None,
    )


def _refuse_clashes(kits: Mapping[str, Toolkit]) -> None:
    owners: defaultdict[str, list[str]] = defaultdict(list)
    for name, kit in kits.items():
        for tool in kit.tools:
            owners[tool.spec.name].append(name)
    clashes = [
        f"the tool {tool!r} is in {' and in '.join(map(repr, names))}"
        for tool, names in owners.items()
        if len(names) > 1
    ]
    if clashes:
        raise ToolkitError(f"these toolkits cannot serve together: {'; '.join(clashes)}; rename one, or serve one")


def _all_of(rules: Sequence[ReportRule]) -> ReportRule:
    """Return the rule that a report passes when it passes all of these; every reason is told."""
    if len(rules) == 1:
        return rules[0]
    plain = [rule for rule in rules if not inspect.iscoroutinefunction(rule)]
    others = [rule for rule in rules if inspect.iscoroutinefunction(rule)]

    # Not async itself: then it is called in a thread, as each plain rule would be, and its answer is awaited outside.
    def check(goal: str, report: JsonValue, results: dict[str, JsonValue]) -> Awaitable[Verdict]:
        answers = [rule(goal, report, results) for rule in plain]

        async def judged() -> Verdict:
            later = [rule(goal, report, results) for rule in others]
            return _merged([await each if inspect.isawaitable(each) else each for each in (*answers, *later)])

        return judged()

    return check


def _merged(answers: Sequence[object]) -> Verdict:
    verdicts = [answer for answer in answers if isinstance(answer, Verdict)]
    if len(verdicts) < len(answers):
        strange = next(type(answer).__name__ for answer in answers if not isinstance(answer, Verdict))
        raise ToolError(ErrorCode.INVALID_OUTPUT, f"a rule returned a {strange}, no Verdict")
    failed = [verdict for verdict in verdicts if not verdict.passed]
    reasons = tuple(reason for verdict in failed for reason in verdict.reasons)
    worst = next((verdict for verdict in failed if verdict.outcome == "REJECTED"), next(iter(failed), PASSED))
    return worst.model_copy(update={"reasons": reasons})
