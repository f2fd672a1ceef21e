from harness.budget import NOTHING, ONE_CALL, Amount, Budget, Ledger, Limits
from harness.reservations import Reservations

BOTH = {"a": ONE_CALL, "b": Amount(tool_calls=1, tokens=50)}


def test_reserves_for_all_nodes_or_for_none() -> None:
    tight, wide = Budget(Limits(max_tool_calls=1)), Budget(Limits(max_tool_calls=2))

    assert not Reservations(tight).reserve(BOTH)
    assert tight.reserved == NOTHING
    assert Reservations(wide).reserve(BOTH)
    assert wide.reserved == Amount(tool_calls=2, tokens=50)


def test_a_node_that_will_not_start_gives_back_what_it_holds_once() -> None:
    held = Reservations(Budget(Limits()))
    held.reserve(BOTH)

    held.release("a")
    held.release("a")

    assert held.budget.reserved == held.of("b") == BOTH["b"]
    assert not held.is_empty


def test_what_a_started_node_held_stays_reserved() -> None:
    held = Reservations(Budget(Limits()))
    held.reserve({"a": ONE_CALL})

    held.hand_over("a")
    held.release("a")

    assert held.is_empty
    assert held.budget.reserved == ONE_CALL


def test_holds_again_what_no_longer_fits() -> None:
    held = Reservations(Budget(Limits(max_tokens=10), Ledger(spent=Amount(tokens=10))))

    held.hold(BOTH)

    assert held.budget.reserved == Amount(tool_calls=2, tokens=50)
    assert held.of("a") == ONE_CALL
