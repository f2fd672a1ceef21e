from pathlib import Path

import pytest

from activities.settings import Endpoint, SettingsError, WorkerSettings
from harness.model_choice import ModelChoice, ModelRole

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
        ("OPENAI_JUDGE_MODEL", "two\nlines"),
        ("OPENAI_FALLBACK_MODEL", "x" * 201),
        ("OPENAI_FALLBACK_API_KEY", "sk-with a space"),
        ("OPENAI_FALLBACK_BASE_URL", "host/v1"),
        ("WHIPPLETREE_EAGER_CALLS", "000"),
        ("WHIPPLETREE_EAGER_CALLS", "101"),
        ("WHIPPLETREE_EAGER_CALLS", "-7"),
        ("WHIPPLETREE_EAGER_CALLS", "many"),
    ],
)
def test_bad_values_are_refused_in_one_line_that_names_the_variable(variable: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        WorkerSettings.from_environment({variable: value})

    message = str(caught.value)
    assert variable in message
    assert "\n" not in message
    assert value not in message


def test_each_role_may_have_a_model_of_its_own() -> None:
    environment = {f"OPENAI_{role.name}_MODEL": f"for-{role}" for role in ModelRole if role is not ModelRole.STEPS}

    settings = WorkerSettings.from_environment(environment | {"OPENAI_MODEL": "main", "OPENAI_STEPS_MODEL": " "})

    assert [settings.model_name(role) for role in ModelRole] == ["for-planner", "for-synthesis", "main", "for-judge"]


def test_the_choice_of_a_run_goes_before_the_settings() -> None:
    settings = WorkerSettings(model="main", role_models={ModelRole.PLANNER: "planner"}, fallback_model="spare")
    choice = ModelChoice(by_role={ModelRole.PLANNER: "mine"}, fallback="other")

    assert (settings.model_name(ModelRole.PLANNER, choice), settings.model_name(ModelRole.JUDGE, choice)) == (
        "mine",
        "main",
    )
    assert (settings.fallback_name(choice), settings.fallback_name()) == ("other", "spare")


OWN = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://me:hunter22@own/v1"}


@pytest.mark.parametrize(
    ("environment", "endpoint"),
    [
        pytest.param({}, Endpoint(KEY, "http://own/v1", "me", "hunter22"), id="nothing: where the others are"),
        pytest.param(
            {"OPENAI_FALLBACK_API_KEY": "sk-other"}, Endpoint("sk-other", "http://own/v1"), id="other account"
        ),
        pytest.param(
            {"OPENAI_FALLBACK_BASE_URL": "https://other/v1"}, Endpoint("none", "https://other/v1"), id="other server"
        ),
        pytest.param(
            {"OPENAI_FALLBACK_BASE_URL": "https://u:pw@other/v1", "OPENAI_FALLBACK_API_KEY": "sk-other"},
            Endpoint("sk-other", "https://other/v1", "u", "pw"),
            id="both",
        ),
    ],
)
def test_no_key_of_one_server_is_ever_sent_to_another_one(environment: dict[str, str], endpoint: Endpoint) -> None:
    settings = WorkerSettings.from_environment(OWN | {"OPENAI_FALLBACK_MODEL": "spare"} | environment)

    assert settings.fallback_endpoint == endpoint
    assert set(settings.secrets) >= {KEY, *endpoint.secrets}


def test_values_of_variables_that_are_named_like_secrets_are_secrets() -> None:
    environment = {
        "SHOP_TOKEN": "tool-canary-1",
        "DB_PASSWORD": "tool-canary-2",
        "AWS_SECRET_ACCESS_KEY": "tool-canary-3",
        "SHORT_KEY": "abc",
        "KEYBOARD": "tool-canary-4",
        "PWD": "/some/where",
    }

    settings = WorkerSettings.from_environment(environment)

    assert settings.secrets == ("tool-canary-1", "tool-canary-2", "tool-canary-3")
    assert "canary" not in repr(settings)


def test_own_prices_are_read_from_the_file_that_the_setting_names(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"small": {"input_usd_per_million": 1, "output_usd_per_million": 2}}')

    assert list(WorkerSettings.from_environment({"WHIPPLETREE_PRICES": str(path)}).prices) == ["small"]


def test_a_bad_price_file_is_refused_in_one_line_that_names_the_variable(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"small":\n{"input": 1}}')

    with pytest.raises(SettingsError, match=r"^WHIPPLETREE_PRICES: .*prices\.json") as caught:
        WorkerSettings.from_environment({"WHIPPLETREE_PRICES": str(path)})

    assert "\n" not in str(caught.value)


def test_the_audit_log_lies_in_the_state_directory_unless_a_setting_says_otherwise() -> None:
    assert WorkerSettings.from_environment({}).audit == Path(".whippletree/audit")
    assert WorkerSettings.from_environment({"WHIPPLETREE_HOME": "/state"}).audit == Path("/state/audit")
    assert WorkerSettings.from_environment({"WHIPPLETREE_AUDIT": "/logs"}).audit == Path("/logs")
    assert WorkerSettings.from_environment({"WHIPPLETREE_AUDIT": "Off"}).audit is None


def test_an_audit_log_that_is_no_directory_is_refused() -> None:
    with pytest.raises(SettingsError, match="WHIPPLETREE_AUDIT must be a directory, or off for no audit log"):
        WorkerSettings.from_environment({"WHIPPLETREE_AUDIT": "s3://bucket/audit"})


def test_private_values_are_masked_unless_a_setting_says_otherwise() -> None:
    assert WorkerSettings.from_environment({}).masks_private
    assert WorkerSettings.from_environment({"WHIPPLETREE_PII": "on"}).masks_private
    assert not WorkerSettings.from_environment({"WHIPPLETREE_PII": "OFF"}).masks_private
    with pytest.raises(SettingsError, match="WHIPPLETREE_PII must be on or off"):
        WorkerSettings.from_environment({"WHIPPLETREE_PII": "no"})


def test_a_home_that_nobody_has_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"^WHIPPLETREE_AUDIT begins with the home of a user that is not there"):
        WorkerSettings.from_environment({"WHIPPLETREE_AUDIT": "~nobody-of-this-name/audit"})


@pytest.mark.parametrize(("text", "calls"), [("", None), (" 7 ", 7), ("100", 100)])
def test_eager_calls_are_a_number_or_left_to_the_worker(text: str, calls: int | None) -> None:
    assert WorkerSettings.from_environment({"WHIPPLETREE_EAGER_CALLS": text}).eager_calls == calls
