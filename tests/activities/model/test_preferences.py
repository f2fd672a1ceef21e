import pytest

from activities.model.preferences import Preferences, read_preferences

GENRES = ("Adventure", "RPG", "Cozy", "Strategy", "Action")
TITLES = ("Hades", "Stardew Valley")


def _read(text: str) -> Preferences:
    return read_preferences(text, genres=GENRES, titles=TITLES, tags=("combat", "beekeeping"))


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("calm and relaxing", ["relaxed"], []),
        ("no combat", [], ["combat"]),
        ("without any fighting", [], ["combat"]),
        ("I don't want combat", [], ["combat"]),
        ("I do not really like fighting", [], ["combat"]),
        ("not stressful", [], ["tension"]),
        ("not too stressful", [], ["tension"]),
        ("nothing slow", [], ["slow"]),
        ("stress-free", [], ["tension"]),
        ("combat free", [], ["combat"]),
        ("free of combat", [], ["combat"]),
        ("no combat or stress", [], ["combat", "tension"]),
        ("no combat and no stress", [], ["combat", "tension"]),
        ("no combat and stress", [], ["combat", "tension"]),
        ("no combat, stress or grind", [], ["combat", "repetition", "tension"]),
        ("no combat but a good story", ["story"], ["combat"]),
        ("no combat, good story", ["story"], ["combat"]),
        ("no combat and a good story", ["story"], ["combat"]),
        ("avoid slow games, I love exploration", ["exploration"], ["slow"]),
        ("I don't mind combat", [], []),
        ("not only story but also puzzles", ["puzzles and mystery"], []),
        ("anything but combat", [], ["combat"]),
        ("low stress", [], ["tension"]),
        ("a non-violent puzzle game", ["puzzles and mystery"], ["combat"]),
        ("story-rich", ["story"], []),
        ("a game about beekeeping", ["beekeeping"], []),
        ("I hate grinding", [], ["repetition"]),
        ("quick sessions of 20 minutes", ["short sessions"], []),
        ("with friends", ["playing with others"], []),
        ("shorten my day", ["short sessions"], []),
        ("tell me about history", [], []),
    ],
)
def test_sorts_a_wish_into_wanted_and_unwanted(text: str, wanted: list[str], unwanted: list[str]) -> None:
    preferences = _read(text)

    assert sorted(trait.name for trait in preferences.wanted) == wanted
    assert sorted(trait.name for trait in preferences.unwanted) == unwanted


@pytest.mark.parametrize(
    ("text", "genres", "unwanted"),
    [
        ("an RPG", ["RPG"], []),
        ("role-playing or strategy", ["RPG", "Strategy"], []),
        ("no RPGs please", [], ["RPG"]),
        ("a cosy evening", ["Cozy"], []),
        ("an adventure, not action", ["Adventure"], ["Action"]),
        ("action-packed", [], []),
    ],
)
def test_hears_genres(text: str, genres: list[str], unwanted: list[str]) -> None:
    preferences = _read(text)

    assert sorted(preferences.genres) == genres
    assert sorted(preferences.unwanted_genres) == unwanted


def test_tells_known_games_from_games_that_serve_as_an_example() -> None:
    assert _read("something like Hades").liked_titles == ("Hades",)
    assert _read("I already finished hades").unwanted_titles == ("Hades",)
    assert _read("anything except Stardew Valley").unwanted_titles == ("Stardew Valley",)


def test_a_text_without_any_known_word_is_empty() -> None:
    assert _read("hello").is_empty
    assert not _read("calm").is_empty


def test_says_what_was_understood() -> None:
    described = _read("a calm RPG like Hades, no combat, under 30 USD").describe()

    assert described == "RPG games, relaxed, something like Hades; not wanted: combat; below 30 USD"
