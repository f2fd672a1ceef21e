"""The budget of a run: limits, what is spent, what is reserved, and the pressure between them.

Work reserves before it starts and settles when it ends, so that work which was accepted always keeps its result and
work which cannot fit is never started. Source: harness-demo Budget, with reserve and settle for its single charge.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from harness.record import record
from harness.usage import Usage

HIGH_PRESSURE = 0.9
"""From this pressure on: no replans, no optional model calls, one try per node."""


MOST_TOKENS = 1_000_000_000
MOST_TOOL_CALLS = 1_000_000
MOST_WALL_CLOCK = timedelta(days=365)
MOST_COST_USD = Decimal(1_000_000)
LEAST_COST_USD = Decimal("0.000001")
NO_COST = Decimal(0)
COST_DIGITS = 12
"""Digits of a cost limit after the point."""
"""No limit can be set or raised beyond these."""


class Limits(BaseModel):
    """The most a run may use."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_tokens: int = Field(default=20_000, gt=0, le=MOST_TOKENS)
    """Prompt and output tokens of all model calls together."""
    max_tool_calls: int = Field(default=50, gt=0, le=MOST_TOOL_CALLS)
    """Tries of all tool nodes together; planning is not a tool call."""
    max_wall_clock: timedelta = Field(default=timedelta(seconds=120), gt=timedelta(0), le=MOST_WALL_CLOCK)
    """From the start of the run; a number is seconds."""
    max_cost_usd: Decimal = Field(
        default=Decimal("0.25"), ge=LEAST_COST_USD, le=MOST_COST_USD, decimal_places=COST_DIGITS
    )
    """Estimated cost of all model calls together, in USD."""


@record()
class Amount:
    """A quantity of the three limited goods. Wall clock is not reserved: it is a deadline.

    No pydantic model, because a plan makes tens of them a node.
    """

    tokens: Annotated[int, Field(ge=0)] = 0
    tool_calls: Annotated[int, Field(ge=0)] = 0
    cost_usd: Annotated[Decimal, Field(ge=0)] = NO_COST

    def plus(self, other: "Amount") -> "Amount":
        """Add each good."""
        return Amount(self.tokens + other.tokens, self.tool_calls + other.tool_calls, self.cost_usd + other.cost_usd)

    def minus(self, other: "Amount") -> "Amount":
        """Subtract each good, never below zero."""
        return Amount(
            max(0, self.tokens - other.tokens),
            max(0, self.tool_calls - other.tool_calls),
            max(NO_COST, self.cost_usd - other.cost_usd),
        )

    def times(self, number: int) -> "Amount":
        """Multiply each good."""
        return Amount(self.tokens * number, self.tool_calls * number, self.cost_usd * number)

    def times_in(self, room: "Amount", *, most: int) -> int:
        """Return how often the amount fits in the room, at most so often."""
        goods = (
            (self.tokens, room.tokens),
            (self.tool_calls, room.tool_calls),
            (self.cost_usd, room.cost_usd),
        )
        return min((most, *(_quotient(free, needed, most=most) for needed, free in goods if needed)))

    def fits_in(self, room: "Amount") -> bool:
        """Return whether no good exceeds the room for it."""
        return self.tokens <= room.tokens and self.tool_calls <= room.tool_calls and self.cost_usd <= room.cost_usd


def _quotient(free: int | Decimal, needed: int | Decimal, *, most: int) -> int:
    # Compared first: the quotient of a tiny price has more digits than a Decimal holds.
    return most if needed * most <= free else int(free // needed)


NOTHING = Amount()
ONE_CALL = Amount(tool_calls=1)


@record()
class BudgetSnapshot:
    """The budget at one moment."""

    tokens: int
    max_tokens: int
    tool_calls: int
    max_tool_calls: int
    cost_usd: Decimal
    max_cost_usd: Decimal
    elapsed: timedelta
    max_wall_clock: timedelta
    pressure: float
    """Highest utilisation of any limit, 0.0 and up; 1.0 means that nothing is left."""
    reserved: Amount = NOTHING
    cost_known: bool = True
    """False when a model without a known price was used: cost_usd is then a lower bound."""
    estimated: bool = False
    """True when some token counts are estimates because a server sent none."""


@record()
class Ledger:
    """What a run has spent so far; carried through continue-as-new."""

    spent: Amount = NOTHING
    cost_known: bool = True
    estimated: bool = False


@dataclass
class Budget:
    """The budget that one run owns. spent + reserved never exceeds a limit as long as work stays in its reservation."""

    limits: Limits
    ledger: Ledger = field(default_factory=Ledger)
    reserved: Amount = NOTHING

    def left(self) -> Amount:
        """Return what is neither spent nor reserved."""
        limits, spent, reserved = self.limits, self.ledger.spent, self.reserved
        return Amount(
            max(0, limits.max_tokens - spent.tokens - reserved.tokens),
            max(0, limits.max_tool_calls - spent.tool_calls - reserved.tool_calls),
            max(NO_COST, limits.max_cost_usd - spent.cost_usd - reserved.cost_usd),
        )

    @property
    def calls_left(self) -> int:
        """Return how many calls are neither made nor reserved, as `left` does, which takes much longer."""
        return max(0, self.limits.max_tool_calls - self.ledger.spent.tool_calls - self.reserved.tool_calls)

    def reserve(self, amount: Amount) -> bool:
        """Set an amount aside; refuse, changing nothing, what does not fit in what is left."""
        if amount == NOTHING:
            return True
        if not amount.fits_in(self.left()):
            return False
        self.reserved = self.reserved.plus(amount)
        return True

    def hold(self, amount: Amount) -> None:
        """Set aside again what was accepted before continue-as-new, also when the run has overspent since."""
        self.reserved = self.reserved.plus(amount)

    def release(self, amount: Amount) -> None:
        """Give a reservation back unused."""
        self.reserved = self.reserved.minus(amount)

    def settle(self, reserved: Amount, *, tool_calls: int, usage: Usage) -> None:
        """Replace a reservation by what the work really used, more than reserved included."""
        self.release(reserved)
        used = Amount(tokens=usage.total_tokens, tool_calls=tool_calls, cost_usd=usage.cost_usd or NO_COST)
        self.ledger = Ledger(
            spent=self.ledger.spent.plus(used),
            cost_known=self.ledger.cost_known and (usage.cost_usd is not None or usage.total_tokens == 0),
            estimated=self.ledger.estimated or usage.estimated,
        )

    def extend(self, more: "Extension") -> None:
        """Raise the limits; nothing that is spent or reserved changes."""
        self.limits = more.applied_to(self.limits)

    def pressure(self, elapsed: timedelta) -> float:
        """Return the highest utilisation of any limit; 1.0 means that nothing is left.

        Source: harness-demo Budget.pressure. Reservations do not count: they may come back. Elapsed time comes in as
        an argument because this module has no clock.
        """
        spent = self.ledger.spent
        return max(
            spent.tokens / self.limits.max_tokens,
            spent.tool_calls / self.limits.max_tool_calls,
            float(spent.cost_usd / self.limits.max_cost_usd),
            elapsed / self.limits.max_wall_clock,
            0.0,
        )

    def is_high(self, elapsed: timedelta) -> bool:
        """Return whether the pressure has reached the threshold from which the run saves where it can."""
        return self.pressure(elapsed) >= HIGH_PRESSURE

    def snapshot(self, elapsed: timedelta) -> BudgetSnapshot:
        """Return the budget at this moment."""
        spent = self.ledger.spent
        return BudgetSnapshot(
            tokens=spent.tokens,
            max_tokens=self.limits.max_tokens,
            tool_calls=spent.tool_calls,
            max_tool_calls=self.limits.max_tool_calls,
            cost_usd=spent.cost_usd,
            max_cost_usd=self.limits.max_cost_usd,
            elapsed=elapsed,
            max_wall_clock=self.limits.max_wall_clock,
            reserved=self.reserved,
            pressure=round(self.pressure(elapsed), 4),
            cost_known=self.ledger.cost_known,
            estimated=self.ledger.estimated,
        )


class Extension(BaseModel):
    """More budget for a run under way. Each field is added to its limit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    message_id: str = Field(min_length=1, max_length=200)
    """Chosen by the sender; a repeated id is applied once, also across continue-as-new."""
    tokens: int = Field(default=0, ge=0, le=MOST_TOKENS)
    tool_calls: int = Field(default=0, ge=0, le=MOST_TOOL_CALLS)
    wall_clock: timedelta = Field(default=timedelta(0), ge=timedelta(0), le=MOST_WALL_CLOCK)
    cost_usd: Decimal = Field(default=Decimal(0), ge=0, le=MOST_COST_USD, decimal_places=COST_DIGITS)

    def applied_to(self, limits: Limits) -> Limits:
        """Return the limits raised by this extension, at most to the highest that a limit may have."""
        return limits.model_copy(
            update={
                "max_tokens": min(limits.max_tokens + self.tokens, MOST_TOKENS),
                "max_tool_calls": min(limits.max_tool_calls + self.tool_calls, MOST_TOOL_CALLS),
                "max_wall_clock": min(limits.max_wall_clock + self.wall_clock, MOST_WALL_CLOCK),
                "max_cost_usd": min(limits.max_cost_usd + self.cost_usd, MOST_COST_USD),
            }
        )
