"""Seeded plans: one number gives a random DAG of tool calls, the same in every process."""

from dataclasses import dataclass
from random import Random

from harness.plan import ArgumentBinding, ArgumentValue, BindingType, Plan, PlanNode

REPORT = "report"
"""Id of the node that writes the report."""
READ, BRITTLE_READ, PUT, POST, FOLD = "look_up", "glance", "put", "post", "fold"
"""Names of the tools; chaos.toolkit says what they do."""

_WINDOW = 8
"""A node depends on some of this many nodes before it, which keeps plans neither flat nor one long chain."""
_MOST_DEPS = 3
_MOST_LARGE = 6
"""Large results of a plan. They are stored, and do not count among the 8 MiB that the arguments of a node may have."""
_MOST_MEDIUM = 80
"""Medium results of a heavy plan, so that the arguments of the report, which are inline, stay below 1 MB."""
_MEDIUM_SHARE = 0.8
_TWIN_SHARE = 0.12
"""Share of the nodes that are calls equal to an earlier one that writes."""
_RENAMED_SHARE = 0.2
"""Share of the nodes that a replan gives another id, which is no reason to run them again."""
_MOST_FAILURES = {READ: 2, PUT: 2, BRITTLE_READ: 1, POST: 0}
"""Failures of a node by itself: a WRITE has one try, and a brittle READ two, the second of which must be able to."""
_MEDIUM_BYTES = (2_000, 12_000)
_LARGE_BYTES = (20_000, 100_000)
_SMALL_BYTES = (10, 400)
_NAP_MS = (10, 300)
_AS_LETTERS = str.maketrans("0123456789", "abcdefghij")
_AS_DIGITS = str.maketrans("abcdefghij", "0123456789")


@dataclass(frozen=True)
class Scenario:
    """What a plan is drawn from. The goal of a run carries it to the planner."""

    seed: int
    nodes: int
    """Nodes of the plan, the report included; at least 2."""
    write_percent: int
    """Share of WRITE nodes. 0 gives a plan that must succeed whatever is killed."""
    is_vague: bool = False
    """True when the first plan has a READ that fails until another plan words it otherwise."""
    is_heavy: bool = False
    """True when most results are of medium size, so that together they are too large to be carried inline."""

    @property
    def goal(self) -> str:
        """Return the goal from which a planner reads this scenario back.

        The seed is in letters: many digits may be the number of a card, which no planner is shown.
        """
        seed = str(self.seed).translate(_AS_LETTERS)
        return f"chaos {seed}: {self.nodes} nodes, {self.write_percent} % write, {self.is_vague} {self.is_heavy}"


def scenario_of(goal: str) -> Scenario:
    """Read a scenario back from the goal of its run."""
    _, seed, nodes, _, write_percent, _, _, is_vague, is_heavy = goal.split()
    number = int(seed.removesuffix(":").translate(_AS_DIGITS))
    return Scenario(number, int(nodes), int(write_percent), is_vague == "True", is_heavy == "True")


def plan_of(scenario: Scenario) -> Plan:
    """Draw the plan of a scenario: each node has a number of its own, but for pairs of equal calls that write."""
    plan = _clear_plan(scenario)
    reads = [node.id for node in plan.nodes if node.tool in (READ, BRITTLE_READ)]
    if not scenario.is_vague or not reads:
        return plan
    vague = Random(f"vague {scenario.seed}").choice(reads)
    return Plan(nodes=tuple(_in_vague_words(node) if node.id == vague else node for node in plan.nodes))


def replanned(scenario: Scenario) -> Plan:
    """Return the plan after a failure: the same calls, none in vague words, some under other ids."""
    random, plan = Random(f"names {scenario.seed}"), _clear_plan(scenario)
    names = {node.id: f"{node.id}_again" for node in plan.nodes[:-1] if random.random() < _RENAMED_SHARE}
    return Plan(nodes=tuple(_renamed(node, names) for node in plan.nodes))


def seed_of(node: PlanNode) -> int | None:
    """Return the number of a node, which equal calls share; None when it has none."""
    return next((int(each.value.literal_value) for each in node.arguments if each.name == "seed"), None)


def _clear_plan(scenario: Scenario) -> Plan:
    random = Random(f"plan {scenario.seed}")
    large, medium = _MOST_LARGE, _MOST_MEDIUM if scenario.is_heavy else 0
    nodes: list[PlanNode] = []
    for number in range(scenario.nodes - 1):
        writing = [node for node in nodes if node.tool in (PUT, POST)]
        if writing and random.random() < _TWIN_SHARE:
            nodes.append(_twin(random, random.choice(writing), f"n{number}"))
            continue
        recent = [node.id for node in nodes[-_WINDOW:]]
        deps = tuple(sorted(random.sample(recent, min(len(recent), random.randint(0, _MOST_DEPS)))))
        is_large = large > 0 and random.random() < 1 / 6
        is_medium = not is_large and medium > 0 and random.random() < _MEDIUM_SHARE
        large, medium = large - is_large, medium - is_medium
        size = random.randint(*(_LARGE_BYTES if is_large else _MEDIUM_BYTES if is_medium else _SMALL_BYTES))
        nodes.append(_node(random, f"n{number}", _tool(random, scenario.write_percent), deps, size=size))
    used = {dep for node in nodes for dep in node.deps}
    ends = tuple(node.id for node in nodes if node.id not in used)
    return Plan(nodes=(*nodes, PlanNode(id=REPORT, tool=FOLD, arguments=(_sources(ends, ""),), deps=ends)))


def _twin(random: Random, node: PlanNode, node_id: str) -> PlanNode:
    """Return an equal call, which runs at the same time or after the other."""
    deps = random.choice((node.deps, (*node.deps, node.id)))
    return node.model_copy(update={"id": node_id, "deps": deps})


def _in_vague_words(node: PlanNode) -> PlanNode:
    literal = ArgumentValue(type=BindingType.LITERAL, literal_value="true", source_node_ids=(), path="")
    return node.model_copy(update={"arguments": (*node.arguments, ArgumentBinding(name="is_vague", value=literal))})


def _renamed(node: PlanNode, names: dict[str, str]) -> PlanNode:
    """Return a node with other names for itself and what it depends on; no argument changes."""
    arguments = tuple(
        each.model_copy(
            update={
                "value": each.value.model_copy(
                    update={"source_node_ids": tuple(names.get(name, name) for name in each.value.source_node_ids)}
                )
            }
        )
        for each in node.arguments
    )
    deps = tuple(names.get(dep, dep) for dep in node.deps)
    return node.model_copy(update={"id": names.get(node.id, node.id), "arguments": arguments, "deps": deps})


def _tool(random: Random, write_percent: int) -> str:
    if random.uniform(0, 100) < write_percent:
        return POST
    return random.choice((READ, READ, BRITTLE_READ, PUT, PUT))


def _node(random: Random, node_id: str, tool: str, deps: tuple[str, ...], *, size: int) -> PlanNode:
    numbers = {
        "seed": random.getrandbits(32),
        "nap_ms": random.randint(*_NAP_MS),
        "size": size,
        "failures": _failures(random, tool),
    }
    path = random.choice(("", "", "/digest"))
    sources = (_sources(deps, path),) if deps else ()
    arguments = (*(_number(name, value) for name, value in numbers.items()), *sources)
    return PlanNode(id=node_id, tool=tool, arguments=arguments, deps=deps)


def _failures(random: Random, tool: str) -> int:
    """Return how many first tries of a node fail by themselves."""
    return min(random.choices((0, 1, 2), weights=(80, 15, 5))[0], _MOST_FAILURES[tool])


def _number(name: str, value: int) -> ArgumentBinding:
    literal = ArgumentValue(type=BindingType.LITERAL, literal_value=str(value), source_node_ids=(), path="")
    return ArgumentBinding(name=name, value=literal)


def _sources(node_ids: tuple[str, ...], path: str) -> ArgumentBinding:
    value = ArgumentValue(type=BindingType.NODE_RESULTS, literal_value="", source_node_ids=node_ids, path=path)
    return ArgumentBinding(name="sources", value=value)
