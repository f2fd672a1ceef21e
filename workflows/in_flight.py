"""What is in flight: the nodes of a plan whose activities have started, and those that have ended since."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from harness.call import Call

from workflows.flight import Flight

MAX_BYTES = 8_388_608
"""Encoded arguments of all nodes in flight: a task encodes what it starts, and may take two seconds in all."""


@dataclass
class InFlight:
    """The flights of one plan. Their ends are queued in the order in which Temporal delivers them."""

    _flights: dict[str, Flight] = field(default_factory=dict)
    _ended: deque[str] = field(default_factory=deque)
    _bytes: int = 0
    """Encoded arguments of the flights, at least."""

    def __len__(self) -> int:
        """Return how many have not been taken yet."""
        return len(self._flights)

    @property
    def has_ended(self) -> bool:
        """Return whether there is one to take."""
        return bool(self._ended)

    def has_room_for(self, call: Call) -> bool:
        """Return whether the arguments leave room for more; for a single call there is always room."""
        return not self._flights or self._bytes + call.arguments.most_bytes <= MAX_BYTES

    def add(self, flight: Flight) -> None:
        """Watch a flight until it ends."""
        node_id = flight.state.node.id
        flight.handle.add_done_callback(lambda _: self._ended.append(node_id))
        self._flights[node_id] = flight
        self._bytes += flight.call.arguments.most_bytes

    def take_ended(self) -> Iterator[Flight]:
        """Take those that have ended, also those that do so meanwhile."""
        while self._ended:
            flight = self._flights.pop(self._ended.popleft())
            self._bytes -= flight.call.arguments.most_bytes
            yield flight

    def cancel(self) -> None:
        """Ask all of them to end."""
        for flight in self._flights.values():
            flight.handle.cancel()
