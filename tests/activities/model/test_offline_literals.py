from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, JsonValue

from activities.model.offline_literals import Literals
from activities.toolkit import Tool, tool


class Unit(StrEnum):
    CELSIUS = "celsius"
    FAHRENHEIT = "fahrenheit"


class Order(BaseModel):
    item: str
    count: int


@tool()
def forecast(city: str, days: int, unit: Unit = Unit.CELSIUS) -> str:
    """Forecast."""
    return ""


@tool()
def add(left: float, right: float) -> float:
    """Add."""
    return 0


@tool()
def fly(origin: str, destination: str, day: date, *, first_class: bool) -> str:
    """Fly."""
    return ""


@tool()
def average(numbers: list[float], words: list[str]) -> str:
    """Average."""
    return ""


@tool()
def buy(order: Order, url: str, code: Annotated[str, Field(pattern=r"^[A-Z]{3}\d$")], level: Literal[1, 2]) -> str:
    """Buy."""
    return ""


@tool()
def ask(question: str, query: str, anything: JsonValue, maybe: int | None) -> str:
    """Ask."""
    return ""


def found(asked: Tool, goal: str) -> dict[str, Any]:
    literals = Literals(goal)
    return {name: literals.of(asked.spec, name) for name in asked.spec.parameter_schemas}


@pytest.mark.parametrize(
    ("asked", "goal", "expected"),
    [
        (forecast, "Weather in New York for 3 days", {"city": "New York", "days": "3", "unit": None}),
        (forecast, "city: Oslo, days=4, in Fahrenheit", {"city": "Oslo", "days": "4", "unit": "fahrenheit"}),
        (forecast, "10 ideas for Rome, 2 days", {"city": "Rome", "days": "2", "unit": None}),
        (forecast, "weather please", {"city": "weather please", "days": None, "unit": None}),
        (add, "add 3.5 and -4", {"left": "3.5", "right": "-4"}),
        (
            fly,
            "fly from Paris to Rome on 2026-01-02, first class",
            {"origin": "Paris", "destination": "Rome", "day": "2026-01-02", "first_class": "true"},
        ),
        (
            fly,
            "to Rome from Paris, no first class",
            {"origin": "Paris", "destination": "Rome", "day": None, "first_class": "false"},
        ),
        (
            average,
            "average of 3, 4 and 5 for apples, pears and plums",
            {"numbers": "[3, 4, 5]", "words": '["apples", "pears", "plums"]'},
        ),
        (
            buy,
            "buy 'blue bag' count 3 at https://x.org/a?b=1. Code ABC7, level 2",
            {"order": '{"item": "blue bag", "count": 3}', "url": "https://x.org/a?b=1", "code": "ABC7", "level": "2"},
        ),
        (buy, "buy nothing", {"order": None, "url": "buy nothing", "code": None, "level": None}),
        (
            ask,
            'look for "blue whales"',
            {
                "question": 'look for "blue whales"',
                "query": "blue whales",
                "anything": None,
                "maybe": None,
            },
        ),
    ],
)
def test_takes_from_a_goal_what_it_gives_and_makes_nothing_up(asked: Tool, goal: str, expected: dict[str, Any]) -> None:
    assert found(asked, goal) == expected


def test_named_values_are_told_from_others() -> None:
    literals = Literals("city: Oslo; look 3 days ahead")

    assert literals.named(forecast.spec, "city") == "Oslo"
    assert literals.named(forecast.spec, "days") == "3"
    assert literals.named(forecast.spec, "unit") is None
    assert literals.named(ask.spec, "question") is None


@pytest.mark.parametrize("goal", ["", " ", "\x00", "1" * 1900, "((((" * 400, "a, " * 600, "A b " * 450, "'" * 1900])
def test_any_goal_is_read_in_no_time(goal: str) -> None:
    for asked in (forecast, add, fly, average, buy, ask):
        found(asked, goal)
