# ruff: noqa: RUF001 - full-width digits are read, too
import pytest

from harness.figures import MAX_DIGITS, read_figures
from harness.grounding import figures_of, has_figures, ungrounded


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("1,234.50", {"1234.5", "1", "234.5"}),
        ("1234.5", {"1234.5"}),
        ("1.234,50", {"1234.5", "1.234", "50"}),
        ("1'234.5", {"1234.5"}),
        ("12,5", {"12.5", "12", "5"}),
        ("12,500", {"12.5", "12500", "12", "500"}),
        ("1,234,567", {"1234567", "1", "234", "567"}),
        ("0.50 and .5", {"0.5", "5"}),
        ("[24,99]", {"24.99", "24", "99"}),
        ("[24.5,99.5,10,2.5]", {"24.5", "99.5", "10", "2.5"}),
        ("[1,2,3]", {"1", "2.3", "2", "3"}),
        ("007", {"7"}),
        ("12 %", {"12", "0.12"}),
        ("$5", {"5"}),
        ("5 USD", {"5"}),
        ("价格100元", {"100"}),
        ("Rs.500", {"500"}),
        ("１２３", {"123"}),
        ("1.2 million", {"1200000"}),
        ("25 million", {"25", "25000000"}),
        ("3.5k", {"3500"}),
        ("5 亿", {"500000000"}),
        ("10:05", {"10:05"}),
        ("3:30 pm", {"15:30"}),
        ("12 a.m.", {"00:00"}),
        ("10:05:30", {"10:05:30", "10:05"}),
        ("10.0.0.1", {"10.0.0.1"}),
        ("v2.1, sha 3f9a2c41, A4", set()),
        ("<EMAIL_3f9a2c41> <CN_ID_00112233aabbccdd>", {"<email_3f9a2c41>", "<cn_id_00112233aabbccdd>"}),
        ("<email_3f9a2c41> <EMAIL_3f9>", set()),
        ("eighteen dollars and two million people", {"18", "2000000"}),
        ("two games, one day, twenty-five minutes", {"25"}),
        ("nineteen hundred dollars", {"1900"}),
        ("价格为二十九元，一千二百万元，一天，两天", {"29", "12000000", "2"}),
        ("8,4 Mio.", {"8400000", "8", "4"}),
        ("48.200 Gäste", {"48200", "48.2"}),
        ("9" * (MAX_DIGITS + 1), {"9" * (MAX_DIGITS + 1)}),
        ("you may 2", {"-05-02", "day 2", "2"}),
        ("99/99/2026", {"99/99/2026"}),
    ],
)
def test_figures_have_one_normal_form(text: str, forms: set[str]) -> None:
    assert figures_of(text) == forms


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30", "2026/11/30", "30 November 2026", "30th of November, 2026", "30. Nov 2026", "30.11.2026",
        "11/30/2026", "30/11/26", "Nov. 30, 2026", "November 30th, 2026", "2026年11月30日",
    ],
)  # fmt: skip
def test_dates_have_one_normal_form(text: str) -> None:
    assert figures_of(text) == {"2026-11-30", "2026-11", "2026", "-11-30", "day 30"}


def test_a_date_with_a_time_is_read_as_both() -> None:
    assert figures_of("2026-11-30T10:05:00.5Z") >= {"2026-11-30", "10:05:00", "10:05"}


def test_a_date_that_may_be_two_is_read_as_both() -> None:
    assert figures_of("03/04/2026") >= {"2026-03-04", "2026-04-03"}


def test_figures_of_an_answer_that_come_from_nowhere_are_listed_in_its_words_and_order() -> None:
    known = figures_of('{"title": "Calm Sea", "price": 24.99, "released": "2024-05-02"}')

    answer = (
        "Calm Sea costs $24.99, 17.50 in the sale from 3 June 2025 on, and was released on 2 May 2024. Again: 17.50."
    )

    assert ungrounded(answer, known) == ("17.50", "3 June 2025")


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("It is 1,234.5.", "1234.50"),
        ("It rose by 25 %.", "0.25"),
        ("It rose by 0.25.", "25%"),
        ("About 3.1.", "3.14159"),
        ("About 1,235.", "1234.56"),
        ("About 1.2 million.", "1234567"),
        ("In May 2024, on 2 May, in 2024.", "2024-05-02"),
        ("At 3:30 pm.", "15:30:00"),
        ("Version 10.0.0.1.", "10.0.0.1"),
        ("Ask <EMAIL_3f9a2c41>.", "<EMAIL_3f9a2c41>"),
        ("Nearly 13,000 reviews, more than 12,000, about 12,900.", "12873"),
        ("Rund 8,4 Mio. Einwohner.", "8412300"),
        ("It costs about $20, or some 20 USD, or 20 USD or so.", "19.99"),
        ("It takes about 1.5 hours.", "95"),
        ("It takes 1.5 hours, an hour and 30 minutes, 1小时30分.", "90"),
        ("A tour of 1 hour 30 minutes", "5400"),
        ("It has 2 GB.", "2048"),
        ("Open 24/7, 365 days a year, in the 21st century, with 4K textures: 100 % sure.", ""),
        ("On the 15th, or from 15 to 17 March.", "2024-03-15 2024-03-17"),
        ("1. Hades\n2) Celeste\n - 14. Gris", ""),
        ("Either 24,99 or 99.", "[24, 99]"),
        ("24 or 99", "[24,99]"),
        ("I recommend 3 games for 2 to 12 players.", ""),
        ("Two games, three prices.", ""),
    ],
)
def test_what_comes_from_a_source_or_is_forgiven(answer: str, source: str) -> None:
    assert ungrounded(answer, figures_of(source)) == ()


@pytest.mark.parametrize(
    ("answer", "source", "missing"),
    [
        ("It costs $5.", "7", ("5",)),
        ("It costs 5 USD.", "7", ("5",)),
        ("It takes 3 hours.", "", ("3",)),
        ("一共5元", "", ("5",)),
        ("Up 9 %.", "", ("9 %",)),
        ("13 games.", "", ("13",)),
        ("About 3.2.", "3.14159", ("3.2",)),
        ("It is 1,200.", "1234", ("1,200",)),
        ("About 1,300 or nearly 1,200.", "1234", ("1,300", "1,200")),
        ("It costs 5 USD.", "4.6", ("5",)),
        ("It costs $20.", "19.99", ("20",)),
        ("eighteen dollars, two million people", "4.6", ("eighteen", "two million")),
        ("15 people died.", "2024-03-15", ("15",)),
        ("Ask <EMAIL_3f9a2c41>.", "<EMAIL_00000000>", ("<EMAIL_3f9a2c41>",)),
        ("It takes 2 hours.", "95", ("2",)),
        ("4K visitors, 1 hour 35 minutes", "7", ("4K", "1", "35")),
        ("It takes 0 hours.", "3", ("0",)),
        ("On 30 November 2026.", "2026-11-29", ("30 November 2026",)),
        ("At 10:06.", "10:05", ("10:06",)),
        ("Version 10.0.0.2.", "10.0.0.1", ("10.0.0.2",)),
        ("24,98", "[24, 99]", ("24,98",)),
        ("5 million", "5", ("5 million",)),
    ],
)
def test_what_comes_from_nowhere(answer: str, source: str, missing: tuple[str, ...]) -> None:
    assert ungrounded(answer, list(figures_of(source))) == missing


def test_a_large_result_is_read_in_time() -> None:
    text = "".join(f'{{"id": {i}, "price": {i}.37, "at": "2026-11-{i % 28 + 1:02}T10:00:00Z"}},' for i in range(10_000))

    assert "9999.37" in figures_of(text)
    assert sum(1 for _ in read_figures("1, " * 20_000)) == 20_000


def test_a_text_has_figures_when_a_number_a_date_or_a_time_stands_in_it() -> None:
    assert has_figures("It costs 5.")
    assert has_figures("On May 5, at noon.")
    assert has_figures("Ask <EMAIL_3f9a2c41>.")
    assert not has_figures("It costs nothing.")


def test_an_answer_full_of_idioms_is_checked_in_time() -> None:
    assert ungrounded("24/7, 7 EUR. " * 5_000, frozenset()) == ("7",)
