"""A toolkit with every policy that a tool may have; it prints when it is imported."""

from datetime import timedelta
from typing import Any, Literal

from activities.toolkit import Toolkit, tool
from harness.catalog import Backoff, Effect, RateLimit

print("imported")


@tool(
    effect=Effect.WRITE,
    timeout=timedelta(seconds=90),
    backoff=Backoff(first=timedelta(seconds=2), limit=timedelta(minutes=2)),
    rate_limit=RateLimit(name="shop", per_second=0.5),
    max_result_bytes=2000,
    version="2",
    permission="pay",
    needs_approval=True,
)
def pay_order(order_id: int, speed: Literal["slow", "fast"] = "slow", notes: list[str] | None = None) -> dict[str, int]:
    """Pay an order of the shop.

    Args:
        order_id: Number of the order.
        speed: How soon.
        notes: Lines for the invoice.
    """
    return {"order": order_id, "notes": len(notes or ()), "speed": len(speed)}


@tool(ageing=True, max_tries=1, max_model_tokens=3000, needs_approval=False)
def find_order(data: Any) -> list[int]:
    """Find orders."""
    return [len(str(data))]


TOOLKIT = Toolkit(name="orders", tools=(pay_order, find_order))
