import pytest

from activities.settings import SettingsError, WorkerSettings

KEY = "sk-canary-1234567890"


def test_nothing_set_means_offline() -> None:
    settings = WorkerSettings.from_environment({})

    assert settings.is_offline
    assert settings.model == "gpt-4.1-mini"


def test_empty_and_blank_variables_count_as_not_set() -> None:
    settings = WorkerSettings.from_environment({"OPENAI_API_KEY": "", "OPENAI_BASE_URL": "  ", "OPENAI_MODEL": "\n"})

    assert settings == WorkerSettings()


def test_key_model_and_url_are_taken_over() -> None:
    environment = {"OPENAI_API_KEY": f"{KEY}\n", "OPENAI_BASE_URL": "http://host:8080/v1/", "OPENAI_MODEL": "small"}

    settings = WorkerSettings.from_environment(environment)

    assert not settings.is_offline
    assert (settings.api_key, settings.base_url, settings.model) == (KEY, "http://host:8080/v1", "small")


def test_a_server_without_a_key_gets_the_key_none() -> None:
    settings = WorkerSettings.from_environment({"OPENAI_BASE_URL": "http://host/v1"})

    assert settings.api_key == "none"
    assert not settings.is_offline
    assert settings.secrets == ()


def test_credentials_are_taken_out_of_the_url() -> None:
    settings = WorkerSettings.from_environment({"OPENAI_BASE_URL": "https://me:p%40ss@host/v1", "OPENAI_API_KEY": KEY})

    assert settings.base_url == "https://host/v1"
    assert (settings.user, settings.password) == ("me", "p@ss")
    assert set(settings.secrets) == {KEY, "p@ss"}


def test_a_token_in_place_of_a_user_is_a_secret() -> None:
    settings = WorkerSettings.from_environment({"OPENAI_BASE_URL": "https://token-canary@host/v1"})

    assert settings.secrets == ("token-canary",)


def test_the_text_form_shows_no_secret() -> None:
    settings = WorkerSettings.from_environment({"OPENAI_BASE_URL": "https://me:hunter2@host/v1", "OPENAI_API_KEY": KEY})

    shown = f"{settings!r} {settings}"

    assert KEY not in shown
    assert "hunter2" not in shown


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OPENAI_API_KEY", "sk-with a space"),
        ("OPENAI_API_KEY", "sk-two\nlines"),
        ("OPENAI_API_KEY", "sk-ümlaut"),
        ("OPENAI_BASE_URL", "host/v1"),
        ("OPENAI_BASE_URL", "ftp://host/v1"),
        ("OPENAI_BASE_URL", "http://"),
        ("OPENAI_BASE_URL", "http://host:99999/v1"),
        ("OPENAI_BASE_URL", "http://host:port/v1"),
        ("OPENAI_BASE_URL", "http://[::1/v1"),
        ("OPENAI_BASE_URL", "http://host/v1?api-key=hunter2"),
        ("OPENAI_MODEL", "two\nlines"),
        ("OPENAI_MODEL", "x" * 201),
    ],
)
def test_bad_values_are_refused_in_one_line_that_names_the_variable(variable: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        WorkerSettings.from_environment({variable: value})

    message = str(caught.value)
    assert variable in message
    assert "\n" not in message
    assert value not in message
