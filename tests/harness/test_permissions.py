from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.catalog import Catalog, Effect, ToolRole, ToolSpec, Withheld
from harness.permissions import (
    Permissions,
    missing_tools,
    missing_tools_of_loop,
    permission_data,
    unmatched_note,
    withheld_note,
)
from tests.builders import catalog, tool_spec

REPORT = tool_spec("report", role=ToolRole.FINAL_SYNTHESIS)
READ = tool_spec("get_prices")
PAY = tool_spec("pay", effect=Effect.WRITE)
GUARDED = tool_spec("read_mail").model_copy(update={"permission": "mail"})

names = st.sampled_from(["get_prices", "get_games", "pay", "Pay", "read_mail", "write_report"])
patterns = st.lists(
    st.sampled_from(["get_*", "*", "pay", "?ay", "[pP]ay", "permission:mail", "permission:x"]), max_size=3
)
tools = st.builds(
    lambda name, role, effect, permission: tool_spec(name, role=role, effect=effect).model_copy(
        update={"permission": permission}
    ),
    names,
    st.sampled_from(ToolRole),
    st.sampled_from(Effect),
    st.sampled_from(["", "mail", "x"]),
)


@given(offered=st.lists(tools, max_size=8), allow=patterns, deny=patterns, allow_writes=st.booleans())
def test_what_is_denied_ungranted_or_a_forbidden_write_is_never_kept(
    offered: list[ToolSpec], allow: list[str], deny: list[str], *, allow_writes: bool
) -> None:
    kept, withheld = Permissions(tuple(allow), tuple(deny), allow_writes).permitted(offered)

    assert sorted([tool.name for tool in kept] + [each.name for each in withheld]) == sorted(t.name for t in offered)
    for tool in kept:
        assert not any(fnmatchcase(tool.name, pattern) for pattern in deny)
        assert not tool.permission or f"permission:{tool.permission}" not in deny
        assert not tool.permission or {tool.name, f"permission:{tool.permission}"} & set(allow)
        assert tool.effect is not Effect.WRITE or allow_writes
    assert all(each.reason for each in withheld)


@given(st.lists(tools, max_size=8))
def test_a_run_that_says_nothing_is_only_kept_from_writes_and_permissions(offered: list[ToolSpec]) -> None:
    kept, _ = Permissions().permitted(offered)

    assert list(kept) == [tool for tool in offered if tool.effect is not Effect.WRITE and not tool.permission]


@pytest.mark.parametrize(
    ("permissions", "tool", "reason"),
    [
        (Permissions(), READ, None),
        (Permissions(deny=("get_*",)), READ, "it is denied by 'get_*'; it would be allowed without that (--deny)"),
        (Permissions(deny=("GET_*",)), READ, None),
        (
            Permissions(allow=("games",)),
            READ,
            "only 'games' may be used; it would be allowed by its name (--allow get_prices)",
        ),
        (Permissions(allow=("get_*",)), READ, None),
        (Permissions(allow=("games",)), REPORT, None),
        (Permissions(allow=("permission:mail",)), READ, None),
        (Permissions(allow=("get_prices",), deny=("get_prices",)), READ, "it is denied by 'get_prices'; it would be "),
        (
            Permissions(),
            GUARDED,
            "the permission 'mail' is not granted; it would be allowed by --allow permission:mail, or its exact name, ",
        ),
        (Permissions(allow=("read_*",)), GUARDED, "the permission 'mail' is not granted"),
        (Permissions(allow=("read_mail",)), GUARDED, None),
        (Permissions(allow=("permission:mail",)), GUARDED, None),
        (Permissions(allow=("permission:*",)), GUARDED, "the permission 'mail' is not granted"),
        (Permissions(allow=("permission:mail",), deny=("permission:mail",)), GUARDED, "it is denied by 'permission:"),
        (Permissions(), PAY, "it has the effect WRITE; it would be allowed in a run that may write (--allow-writes)"),
        (Permissions(allow_writes=True), PAY, None),
        (Permissions(deny=("report",)), REPORT, "it is denied by 'report'"),
    ],
)
def test_a_refusal_says_why_and_how_the_tool_would_be_allowed(
    permissions: Permissions, tool: ToolSpec, reason: str | None
) -> None:
    refusal = permissions.refusal(tool)

    assert refusal is None if reason is None else (refusal or "").startswith(reason)


def test_every_reason_is_told() -> None:
    refusal = Permissions(allow=("x",), deny=("p*",)).refusal(PAY) or ""

    assert [words in refusal for words in ("denied by 'p*'", "only 'x'", "effect WRITE")] == [True] * 3


def test_patterns_that_match_no_tool_are_found_in_their_order() -> None:
    asked = Permissions(allow=("get_*", "permission:post", "gte_*"), deny=("pya", "permission:mail", "gte_*"))

    assert asked.unmatched((READ, PAY, GUARDED, REPORT)) == ("permission:post", "gte_*", "pya")


def test_a_catalog_of_which_nothing_is_withheld_stays_as_it_is() -> None:
    whole = catalog(READ, REPORT)

    assert Permissions(allow=("get_*",)).applied_to(whole) is whole


def test_a_catalog_keeps_what_is_permitted_and_says_what_is_not() -> None:
    cut = Permissions(deny=("typo",)).applied_to(catalog(READ, PAY, REPORT))

    assert cut.tools == (READ, REPORT)
    assert [each.name for each in cut.withheld] == ["pay"]
    assert cut.unmatched_patterns == ("typo",)
    assert unmatched_note(cut) == "no tool matches 'typo': check the spelling"
    assert permission_data(cut) == {
        "withheld": {"count": 1, "first": [{"name": "pay", "reason": cut.withheld[0].reason}]},
        "unmatched_patterns": ["typo"],
    }


def test_a_misspelt_pattern_is_said_though_nothing_is_withheld() -> None:
    cut = Permissions(deny=("typo",)).applied_to(catalog(READ, REPORT))

    assert cut.tools == (READ, REPORT)
    assert permission_data(cut) == {"withheld": {"count": 0, "first": []}, "unmatched_patterns": ["typo"]}


def _withheld(number: int) -> Withheld:
    return Withheld(name=f"t{number}", reason="because")


DENIED = "'report': it is denied by {}; it would be allowed without that (--deny)"


@pytest.mark.parametrize(
    ("cut", "parts"),
    [
        (
            Permissions(deny=("report",)).applied_to(catalog(READ, REPORT)),
            [
                "the run may use no tool that writes the report (FINAL_SYNTHESIS) of toolkit 'test'",
                DENIED.format("'report'"),
            ],
        ),
        (
            Catalog(toolkit="test", tools=(), model=catalog().model, withheld=tuple(map(_withheld, range(7)))),
            [
                "the run may use no tool of toolkit 'test'",
                *(f"'t{number}': because" for number in range(5)),
                "2 more are withheld",
            ],
        ),
        (
            Permissions(deny=("*", "z")).applied_to(catalog(REPORT)),
            [
                "the run may use no tool of toolkit 'test'",
                DENIED.format("'*'"),
                "no tool matches 'z': check the spelling",
            ],
        ),
    ],
    ids=["no report", "many", "a typo"],
)
def test_a_catalog_without_a_report_is_refused_with_the_reasons(cut: Catalog, parts: list[str]) -> None:
    assert missing_tools(cut) == ". ".join(parts)


def test_a_catalog_with_a_report_is_enough() -> None:
    assert missing_tools(catalog(REPORT)) is None


@pytest.mark.parametrize("effect", [Effect.READ, Effect.IDEMPOTENT_WRITE])
def test_a_tool_that_needs_approval_is_withheld_until_the_run_allows_writes(effect: Effect) -> None:
    careful = ToolSpec(name="pay", description="Pay.", parameters={}, result={}, effect=effect, needs_approval=True)

    assert "approval" in (Permissions().refusal(careful) or "")
    assert Permissions(allow_writes=True).refusal(careful) is None


def test_what_is_withheld_is_told_in_a_line_with_how_it_would_be_allowed() -> None:
    withheld = tuple(Withheld(name=f"t{i}", reason="it is denied") for i in range(7))
    note = withheld_note(catalog(REPORT).model_copy(update={"withheld": withheld, "unmatched_patterns": ("x*",)}))

    assert note.startswith("'t0' is withheld: it is denied. 't1' is withheld")
    assert note.endswith("2 more are withheld. no tool matches 'x*': check the spelling")


def test_a_loop_lacks_tools_when_all_but_the_writer_of_the_report_are_withheld() -> None:
    withheld = Permissions(allow=("nosuch*",)).applied_to(catalog(tool_spec("read"), REPORT))

    lacking = missing_tools_of_loop(withheld)

    assert lacking is not None
    assert lacking.startswith("the run may use no tool of toolkit 'test'")
    assert "'nosuch*'" in lacking
    assert missing_tools_of_loop(catalog(REPORT)) is None, "a toolkit that has no others"
    assert missing_tools_of_loop(catalog(tool_spec("read"), REPORT)) is None
    assert missing_tools_of_loop(catalog(REPORT).model_copy(update={"tools": ()})) is not None
