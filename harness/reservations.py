"""Reservations: what the nodes of one plan hold of the budget until they start."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.budget import ONE_CALL, Amount, Budget


@dataclass
class Reservations:
    """What is held of a budget, by node id."""

    budget: Budget
    _held: dict[str, Amount] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Return whether no node holds anything."""
        return not self._held

    def reserve(self, amounts: Mapping[str, Amount]) -> bool:
        """Reserve for all nodes together, or for none of them."""
        if not self.budget.reserve(_total_of(amounts)):
            return False
        self._held = dict(amounts)
        return True

    def hold(self, amounts: Mapping[str, Amount]) -> None:
        """Hold again what was accepted before continue-as-new, whatever the run has overspent in between."""
        self.budget.hold(_total_of(amounts))
        self._held = dict(amounts)

    def of(self, node_id: str) -> Amount:
        """Return what a node holds."""
        return self._held[node_id]

    def hand_over(self, node_id: str) -> None:
        """Leave what a node holds to the grant that it has started with."""
        del self._held[node_id]

    def release(self, node_id: str) -> None:
        """Give back what a node holds that will not start; one that holds nothing has given it back already."""
        held = self._held.pop(node_id, None)
        if held is not None:
            self.budget.release(held)


def _total_of(amounts: Mapping[str, Amount]) -> Amount:
    # Most nodes hold this very object, and one sum for each of ten thousand takes long.
    others = [amount for amount in amounts.values() if amount is not ONE_CALL]
    total = ONE_CALL.times(len(amounts) - len(others))
    for amount in others:
        total = total.plus(amount)
    return total
