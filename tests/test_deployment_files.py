"""The files that start Whippletree elsewhere are checked as far as that goes without Docker."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
COMPOSE_FILE = ROOT / "docker-compose.yml"
SERVICES: dict[str, dict[str, Any]] = YAML(typ="safe").load(COMPOSE_FILE)["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
CONSTRAINTS = (ROOT / "constraints.txt").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

PINNED_IMAGE = re.compile(r"[\w./-]+:(?!latest\b)[\w.-]*\d[\w.-]*")


def test_compose_file_fits_the_compose_specification() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", COMPOSE_FILE]
    check = subprocess.run(command, capture_output=True, text=True, check=False)

    assert check.returncode == 0, check.stdout + check.stderr


@pytest.mark.parametrize("service", SERVICES)
def test_compose_pins_every_image(service: str) -> None:
    assert PINNED_IMAGE.fullmatch(SERVICES[service]["image"])


@pytest.mark.parametrize("image", re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE))
def test_dockerfile_pins_every_image(image: str) -> None:
    assert PINNED_IMAGE.fullmatch(image)


@pytest.mark.parametrize("service", SERVICES)
def test_compose_waits_only_for_what_can_happen(service: str) -> None:
    for dependency, wait in SERVICES[service].get("depends_on", {}).items():
        if wait["condition"] == "service_healthy":
            assert "healthcheck" in SERVICES[dependency]
        else:
            assert wait["condition"] == "service_completed_successfully"
            assert SERVICES[dependency]["restart"].startswith("on-failure")


@pytest.mark.parametrize("service", SERVICES)
def test_compose_publishes_ports_on_the_loopback_interface_only(service: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[service].get("ports", []))


def test_compose_runs_two_workers_that_have_time_to_finish() -> None:
    worker = SERVICES["worker"]

    assert worker["deploy"]["replicas"] == 2
    assert worker["environment"]["TEMPORAL_ADDRESS"] == "temporal:7233"
    assert "stop_grace_period" in worker


def test_compose_workers_share_an_artifact_store_that_they_may_write() -> None:
    (mount,) = SERVICES["worker"]["volumes"]
    volume, _, folder = mount.partition(":")

    assert volume in YAML(typ="safe").load(COMPOSE_FILE)["volumes"]
    assert SERVICES["worker"]["environment"]["WHIPPLETREE_ARTIFACTS"] == f"${{WHIPPLETREE_ARTIFACTS:-{folder}}}"
    made = final_stage().index(f"RUN install --directory --owner=whippletree {folder}")
    assert made < final_stage().index("USER whippletree")


def scripts_named_by_compose() -> list[Path]:
    return [ROOT / name for name in re.findall(r'"/(deploy/[^"]+)"', COMPOSE_FILE.read_text())]


def test_compose_names_every_script_in_deploy() -> None:
    assert sorted(scripts_named_by_compose()) == sorted((ROOT / "deploy").glob("*.sh"))


def test_compose_server_reads_settings_that_keep_a_task_queue_in_one_part() -> None:
    server = SERVICES["temporal"]
    file = ROOT / server["environment"]["DYNAMIC_CONFIG_FILE_PATH"].removeprefix("/")
    settings = YAML(typ="safe").load(file)

    assert "./deploy:/deploy:ro" in server["volumes"]
    assert {name: [each["value"] for each in values] for name, values in settings.items()} == {
        "matching.numTaskqueueReadPartitions": [1],
        "matching.numTaskqueueWritePartitions": [1],
    }


@pytest.mark.parametrize("script", [*scripts_named_by_compose(), ROOT / ".ci" / "run"], ids=lambda path: path.name)
def test_script_is_valid_and_stops_at_the_first_error(script: Path) -> None:
    subprocess.run(["bash", "-n", script], check=True)

    assert re.search(r"^set -eu", script.read_text(), re.MULTILINE)


def final_stage() -> list[str]:
    return DOCKERFILE.rpartition("\nFROM ")[2].splitlines()


def test_dockerfile_runs_the_worker_without_root_rights() -> None:
    users = [line.split()[1] for line in final_stage() if line.startswith("USER ")]

    assert users
    assert users[-1] not in {"root", "0"}
    assert 'ENTRYPOINT ["python", "worker.py"]' in final_stage()


def test_dockerfile_checks_health_and_stops_gently() -> None:
    assert any(line.startswith("HEALTHCHECK ") and "worker.py" in line for line in final_stage())
    assert "STOPSIGNAL SIGTERM" in final_stage()


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def names_of(requirements: list[str]) -> set[str]:
    return {canonical(re.split(r"[^\w.-]", requirement, maxsplit=1)[0]) for requirement in requirements}


def test_constraints_pin_every_dependency() -> None:
    pins = CONSTRAINTS.splitlines()
    wanted = names_of(PROJECT["dependencies"]) | names_of(PROJECT["optional-dependencies"]["dev"])

    assert all(re.fullmatch(r"[\w.-]+==[\w.+!-]+", pin) for pin in pins)
    assert wanted <= names_of([pin.replace("==", " ") for pin in pins])


def test_constraints_name_no_location() -> None:
    assert "://" not in CONSTRAINTS
