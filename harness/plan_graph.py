"""The graph of a plan: its cycles, and what a node depends on. Iterative, linear, and in plan order."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

Edges = Mapping[str, Sequence[str]]
"""What each node leads to, by id in plan order. Every target is a key as well."""


def find_cycles(edges: Edges) -> list[tuple[str, ...]]:
    """Return one cycle for each set of nodes that lead to each other, as a path that ends where it starts.

    It is a shortest one through the first such node in plan order. An edge from a node to itself is no cycle here.
    """
    edges = _without_dead_ends(edges)
    component = _components(edges)
    members: dict[str, list[str]] = {}
    for node in edges:
        members.setdefault(component[node], []).append(node)
    return [_cycle_through(group[0], set(group), edges) for group in members.values() if len(group) > 1]


def reachable(start: str, targets: Callable[[str], Iterable[str]]) -> set[str]:
    """Return the start and all nodes that it leads to; `targets` returns what a node leads to."""
    seen = {start}
    waiting = [start]
    while waiting:
        for target in targets(waiting.pop()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def _without_dead_ends(edges: Edges) -> Edges:
    """Return the nodes from which paths never end, which leaves nothing of a graph without cycles."""
    sources = _backwards(edges)
    left = {node: len(targets) for node, targets in edges.items()}
    ended = [node for node, count in left.items() if not count]
    while ended:
        node = ended.pop()
        del left[node]
        for source in sources[node]:
            left[source] -= 1
            if not left[source]:
                ended.append(source)
    return {node: tuple(target for target in edges[node] if target in left) for node in left}


def _components(edges: Edges) -> dict[str, str]:
    """Return for each node the name of its strongly connected component. Source: Kosaraju's algorithm."""
    backwards = _backwards(edges)
    component: dict[str, str] = {}
    for root in reversed(_postorder(edges)):
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node not in component:
                component[node] = root
                waiting.extend(backwards[node])
    return component


def _backwards(edges: Edges) -> dict[str, list[str]]:
    """Return for each node the nodes that lead to it."""
    backwards: dict[str, list[str]] = {node: [] for node in edges}
    for node, targets in edges.items():
        for target in targets:
            backwards[target].append(node)
    return backwards


def _postorder(edges: Edges) -> list[str]:
    """Return all nodes, each after the nodes that a depth-first search reaches from it."""
    seen: set[str] = set()
    order: list[str] = []
    for root in edges:
        stack = _entered(root, edges, seen)
        while stack:
            node, rest = stack[-1]
            target = next((each for each in rest if each not in seen), None)
            if target is None:
                order.append(node)
                stack.pop()
            else:
                stack.extend(_entered(target, edges, seen))
    return order


def _entered(node: str, edges: Edges, seen: set[str]) -> list[tuple[str, Iterable[str]]]:
    if node in seen:
        return []
    seen.add(node)
    return [(node, iter(edges[node]))]


def _cycle_through(start: str, members: set[str], edges: Edges) -> tuple[str, ...]:
    came_from: dict[str, str] = {}
    waiting = deque([start])
    while start not in came_from:
        node = waiting.popleft()
        for target in edges[node]:
            if target in members and target not in came_from and target != node:
                came_from[target] = node
                waiting.append(target)
    path = [start]
    while len(path) == 1 or path[-1] != start:
        path.append(came_from[path[-1]])
    return tuple(reversed(path))
