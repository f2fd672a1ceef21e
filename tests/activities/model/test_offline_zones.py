import pytest

from activities.model.offline_zones import is_zone_parameter, zones_in


@pytest.mark.parametrize(
    ("text", "zones"),
    [
        ("What time is it in Tokyo?", ["Asia/Tokyo"]),
        ("Convert 12:00 from New York to Europe/London.", ["America/New_York", "Europe/London"]),
        ("the time in UTC, please", ["UTC"]),
        ("Which eastern games are at the center?", []),
        ("", []),
    ],
)
def test_zones_are_found_by_city_and_by_name_in_order(text: str, zones: list[str]) -> None:
    assert zones_in(text) == zones


@pytest.mark.parametrize("name", ["timezone", "source_timezone", "time_zone", "tz", "targetTz"])
def test_a_parameter_that_is_named_so_takes_a_zone(name: str) -> None:
    assert is_zone_parameter(name)


@pytest.mark.parametrize("name", ["time", "zone", "quartz", "tzar"])
def test_a_parameter_that_only_looks_like_it_takes_none(name: str) -> None:
    assert not is_zone_parameter(name)
