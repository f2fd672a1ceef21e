import pytest

from activities.tool_docs import read_doc


def google(city: str, days: int, *, unit: str) -> None:
    """Forecast the weather.

    Rain is in millimetres. Note: nobody knows more than ten days ahead.

    Args:
        city (str): Where, as
            people say it: with or without the country.

            A second paragraph.
        days (dict[int, str] | int): How many.
        unit: celsius or fahrenheit

    Returns:
        days: A forecast.

    Raises:
        ToolError: When there is none.
    """


def sphinx(city: str, days: int) -> None:
    """Forecast the weather.

    :param str city: Where, as
        people say it.
    :param days: How many.
    :type days: int
    :returns: A forecast.
    """


def short(city: str) -> None:
    """Forecast the weather: rain and wind."""


def bare() -> None:
    pass


@pytest.mark.parametrize(
    ("function", "description", "parameters"),
    [
        (
            google,
            "Forecast the weather.\n\nRain is in millimetres. Note: nobody knows more than ten days ahead.",
            {
                "city": "Where, as people say it: with or without the country. A second paragraph.",
                "days": "How many.",
                "unit": "celsius or fahrenheit",
            },
        ),
        (sphinx, "Forecast the weather.", {"city": "Where, as people say it.", "days": "How many."}),
        (short, "Forecast the weather: rain and wind.", {}),
        (bare, "", {}),
    ],
)
def test_reads_what_a_docstring_says_of_a_tool_and_its_parameters(
    function: object, description: str, parameters: dict[str, str]
) -> None:
    doc = read_doc(function)  # type: ignore[arg-type]

    assert doc.description == description
    assert doc.parameters == parameters
