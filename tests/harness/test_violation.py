from harness.violation import Rule, Violation, summarize

VIOLATIONS = [Violation(f"n{i}", Rule.UNKNOWN_TOOL, f"node 'n{i}': unknown tool") for i in range(5)]


def test_summary_has_one_message_a_line() -> None:
    assert summarize(VIOLATIONS[:2]) == "node 'n0': unknown tool\nnode 'n1': unknown tool"


def test_summary_counts_what_it_leaves_out() -> None:
    assert summarize(VIOLATIONS, 1) == "node 'n0': unknown tool\nand 4 more violations"
