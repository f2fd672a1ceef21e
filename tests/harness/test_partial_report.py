from harness.artifact import Artifact
from harness.partial_report import MAX_NODES_SHOWN, partial_report
from harness.run import NodeReport, draft_nodes
from harness.schedule import NodeStatus
from tests.builders import chain, node


def test_shows_what_was_found_and_what_was_not_done() -> None:
    nodes = (
        NodeReport(node=node("facts", "get_facts"), status=NodeStatus.DONE),
        NodeReport(node=node("prices", "get_prices"), status=NodeStatus.SKIPPED, error="budget exhausted"),
        NodeReport(node=node("report", "write"), status=NodeStatus.PENDING),
    )

    assert partial_report(nodes, {"facts": {"genre": "Cozy"}}, "no tool calls are left").splitlines() == [
        "Partial report: no tool calls are left.",
        "",
        "Finished (1 of 3 nodes):",
        '- facts (get_facts): {"genre": "Cozy"}',
        "",
        "Not done:",
        "- prices (get_prices): skipped: budget exhausted",
        "- report (write): pending",
    ]


def test_shows_text_as_it_is_and_cuts_long_results() -> None:
    nodes = draft_nodes(chain(1))

    assert partial_report(nodes, {"report": "calm"}, "why").endswith("- report (report): calm")
    assert partial_report(nodes, {"report": "x" * 601}, "why").endswith("xxx [cut]")


def test_shows_how_a_stored_result_begins_and_where_the_rest_is() -> None:
    stored = Artifact(digest="ab" * 32, size=300_000, preview='{"games": ["Hades"')

    (line,) = partial_report(draft_nodes(chain(1)), {"report": stored}, "why").splitlines()[3:]

    assert line == f'- report (report): {{"games": ["Hades" [cut; artifact {"ab" * 32}]'


def test_nothing_planned_is_said_in_one_line() -> None:
    assert partial_report((), {}, "no budget for a plan") == "Partial report: no budget for a plan."


def test_counts_the_nodes_it_leaves_out() -> None:
    nodes = draft_nodes(chain(MAX_NODES_SHOWN + 5))

    assert partial_report(nodes, {}, "why").endswith("5 more nodes are in the plan of the result.")
