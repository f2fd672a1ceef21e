import pytest
from pydantic import JsonValue, ValidationError

from harness.artifact import Artifact, StoredArgument
from harness.schedule import NodeStatus
from harness.verification import (
    PASSED,
    Verdict,
    bounded_verdict,
    final_node_id,
    report_text,
    sources_of,
    verify_structure,
)
from tests.builders import games_catalog, games_plan, node, plan

NODES = ("facts", "reviews", "games", "prices", "summary")
ALL_DONE = dict.fromkeys(NODES, NodeStatus.DONE)
GOOD: dict[str, JsonValue] = {"summary": {"report": "Play Hades."}}


def verify(statuses: dict[str, NodeStatus] | None = None, results: dict[str, JsonValue] | None = None) -> Verdict:
    return verify_structure(
        games_plan(),
        games_catalog(),
        ALL_DONE if statuses is None else statuses,
        GOOD if results is None else results,
    )


def test_passes_a_finished_plan_with_a_report() -> None:
    assert verify() == PASSED
    assert PASSED.passed
    assert PASSED.reason == "passed"


@pytest.mark.parametrize("copies", [0, 2])
def test_rejects_any_other_number_of_reports_than_one(copies: int) -> None:
    whole = plan(node("facts", "get_genre_facts"), *(node(f"s{i}", "summarizer_node") for i in range(copies)))

    verdict = verify_structure(whole, games_catalog(), {}, {})

    assert not verdict.passed
    assert verdict.reason == f"the plan needs exactly one FINAL_SYNTHESIS node, it has {copies}"


@pytest.mark.parametrize("status", [s for s in NodeStatus if s is not NodeStatus.DONE])
def test_rejects_a_report_node_that_did_not_finish(status: NodeStatus) -> None:
    verdict = verify(ALL_DONE | {"summary": status})

    assert verdict.reasons == (f"FINAL_SYNTHESIS node 'summary' must be DONE, it is {status}",)


@pytest.mark.parametrize("status", [s for s in NodeStatus if s is not NodeStatus.DONE])
def test_rejects_any_other_node_that_did_not_finish(status: NodeStatus) -> None:
    verdict = verify(ALL_DONE | {"facts": status})

    assert verdict.outcome == "REJECTED"
    assert verdict.reasons == (
        "the plan has failed or skipped nodes, or nodes that did not end: 'facts'",
        "all dependencies must be DONE before the report counts: 'facts'",
    )


def test_rejects_a_node_without_a_status() -> None:
    assert not verify({name: NodeStatus.DONE for name in NODES if name != "prices"}).passed


@pytest.mark.parametrize(
    "result", ["plain text", None, [], {}, {"report": 5}, {"recommendation": "Play Hades."}], ids=str
)
def test_rejects_a_result_that_is_no_report(result: JsonValue) -> None:
    verdict = verify(results={"summary": result})

    assert "no FinalReport" in verdict.reason


def test_rejects_a_missing_result() -> None:
    assert not verify(results={}).passed


def test_rejects_a_blank_report() -> None:
    assert verify(results={"summary": {"report": "  "}}).reason == "the report of 'summary' must not be blank"


def test_unknown_tool_has_no_role() -> None:
    whole = plan(node("x", "gone"), *games_plan().nodes)

    assert verify_structure(whole, games_catalog(), ALL_DONE | {"x": NodeStatus.DONE}, GOOD) == PASSED


def test_only_an_explicit_pass_passes() -> None:
    assert not Verdict(outcome="NOT_VERIFIED").passed
    assert Verdict(outcome="NOT_VERIFIED").reason == "not verified"
    assert Verdict(outcome="REJECTED", reasons=("a", "b")).reason == "a; b"
    for broken in ({}, {"outcome": "passed"}, {"outcome": True}, {"outcome": "PASSED", "extra": 1}):
        with pytest.raises(ValidationError):
            Verdict.model_validate(broken)


def test_reads_the_text_of_a_report_object_only() -> None:
    assert report_text({"report": "Play Hades.", "confidence": 1}) == "Play Hades."
    assert report_text("Play Hades.") is None


def test_finds_the_report_node() -> None:
    assert final_node_id(games_plan(), games_catalog()) == "summary"


def test_sources_are_keyed_by_tool_and_repeated_tools_give_a_list() -> None:
    whole = plan(
        node("a", "get_games"), node("b", "get_games"), node("c", "get_prices"), node("r", deps=["a", "b", "c", "a"])
    )

    assert sources_of(whole, "r", {"a": 1, "b": 2, "c": 3}).values == {"get_games": [1, 2], "get_prices": 3}


def test_sources_in_the_artifact_store_are_named_by_their_place() -> None:
    games, prices = Artifact(digest="aa" * 32, size=20_000), Artifact(digest="bb" * 32, size=30_000)
    whole = plan(
        node("a", "get_games"), node("b", "get_games"), node("c", "get_prices"), node("r", deps=["a", "b", "c"])
    )

    sources = sources_of(whole, "r", {"a": 1, "b": games, "c": prices})

    assert sources.values == {"get_games": [1, None], "get_prices": None}
    assert sources.stored == (
        StoredArgument(name="get_games", index=1, artifact=games),
        StoredArgument(name="get_prices", artifact=prices),
    )


def test_a_reference_is_no_report() -> None:
    assert report_text(Artifact(digest="aa" * 32, size=20_000)) is None


def test_a_verdict_of_ordinary_size_is_kept_as_it_is() -> None:
    verdict = Verdict(outcome="REJECTED", reasons=("x" * 500,) * 20)

    assert bounded_verdict(verdict) is verdict
    assert bounded_verdict(PASSED) is PASSED


def test_a_verdict_with_more_than_20_reasons_says_how_many_are_left_out() -> None:
    fitted = bounded_verdict(Verdict(outcome="REJECTED", reasons=tuple(f"reason {i}" for i in range(1000))))

    assert fitted.outcome == "REJECTED"
    assert fitted.reasons == (*(f"reason {i}" for i in range(19)), "and 981 more reasons")
    assert bounded_verdict(fitted) is fitted


def test_a_long_reason_is_cut_and_says_so() -> None:
    (reason,) = bounded_verdict(Verdict(outcome="NOT_VERIFIED", reasons=("x" * 1_000_000,))).reasons

    assert len(reason) <= 500
    assert "characters cut" in reason
