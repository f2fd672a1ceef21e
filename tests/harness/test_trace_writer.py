from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from harness.budget import MOST_COST_USD, MOST_TOKENS, Amount, Budget, Ledger, Limits
from harness.catalog import ToolRole
from harness.trace import TraceEvent, TraceKind
from harness.trace_writer import TraceWriter

EVENT = TypeAdapter(TraceEvent)
NOW = datetime(2026, 1, 1, tzinfo=UTC)

texts = st.text(max_size=20).filter(str.isascii) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
counts = st.integers(0, 2**40)
costs = st.decimals(0, 10**6, places=12)
amounts = st.builds(Amount, counts, counts, costs)
limits = st.builds(
    Limits,
    max_tokens=st.integers(1, MOST_TOKENS),
    max_wall_clock=st.timedeltas(timedelta(microseconds=1), timedelta(days=365)),
    max_cost_usd=st.decimals(Decimal("0.000001"), MOST_COST_USD, places=12),
)
budgets = st.builds(Budget, limits, st.builds(Ledger, amounts, st.booleans(), st.booleans()), amounts)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.sampled_from(ToolRole),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
moments = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - see timezones
elapsed_times = st.timedeltas(timedelta(0), timedelta(days=400))


ids = st.fixed_dictionaries({"run_id": texts, "session_id": texts})
fields = st.fixed_dictionaries(
    {
        "attempt": st.integers(0, 100),
        "role": st.none() | st.sampled_from(ToolRole),
        "node_id": st.none() | texts,
        "latency_ms": st.none() | counts,
        "message": st.none() | texts,
        "data": st.dictionaries(texts, values, max_size=3),
    }
)


@given(ids, moments, elapsed_times, st.sampled_from(TraceKind), texts, budgets, fields)
def test_an_event_is_written_as_pydantic_writes_it(  # noqa: PLR0917 - as many as hypothesis gives
    of_run: dict[str, str],
    now: datetime,
    elapsed: timedelta,
    kind: TraceKind,
    status: str,
    budget: Budget,
    told: dict[str, Any],
) -> None:
    writer = TraceWriter(**of_run)
    writer.at(now, elapsed)
    written = writer.write(kind, status, budget, **told)

    event = TraceEvent(**of_run, **told, timestamp=now, kind=kind, status=status, budget=budget.snapshot(elapsed))
    assert written == EVENT.dump_json(event)


def test_each_event_tells_of_the_budget_as_it_is_then() -> None:
    budget = Budget(Limits(max_tokens=100, max_wall_clock=timedelta(seconds=10)))
    writer = TraceWriter("r", "s")

    def tokens() -> list[float]:
        told = EVENT.validate_json(writer.write(TraceKind.NODE_START, "RUNNING", budget, attempt=0)).budget
        return [told.tokens, told.max_tokens, told.reserved.tokens, told.elapsed.total_seconds(), told.pressure]

    writer.at(NOW, timedelta(seconds=1))
    assert tokens() == [0, 100, 0, 1, 0.1]
    budget.reserve(Amount(tokens=30))
    assert tokens() == [0, 100, 30, 1, 0.1]
    budget.ledger = Ledger(Amount(tokens=50))
    assert tokens() == [50, 100, 30, 1, 0.5]
    budget.limits = Limits(max_tokens=200, max_wall_clock=timedelta(seconds=10))
    assert tokens() == [50, 200, 30, 1, 0.25]
    writer.at(NOW, timedelta(seconds=9))
    assert tokens() == [50, 200, 30, 9, 0.9]


def test_a_pressure_beyond_all_numbers_spoils_no_json() -> None:
    budget = Budget(Limits(), Ledger(Amount(cost_usd=Decimal("1E+400"))))
    writer = TraceWriter("r", "s")
    writer.at(NOW, timedelta(0))

    assert b'"pressure":null' in writer.write(TraceKind.NODE_START, "RUNNING", budget, attempt=0)
