"""Installation: the wheel, the pinned versions, dagster.yaml, and the files for running it on a server."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import dagster as dg
import pytest
import yaml
from packaging.requirements import Requirement

from tests.unit.repository.files import ROOMS, ROOT, files_below, named, read

PYPROJECT = tomllib.loads(read(ROOT / "pyproject.toml"))
REQUIREMENTS = read(ROOT / "requirements.txt")
PIN = re.compile(r"^([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?:\[[a-z,]+\])?==([^\s;]+)(.*)$", re.MULTILINE)


def test_the_wheel_holds_every_file_of_every_room(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == set(map(named, files_below(*ROOMS, "sql")))


def pins(text: str) -> dict[str, str]:
    return {name: version for name, version, _ in PIN.findall(text)}


@pytest.mark.parametrize("file", ["requirements.txt", "deploy/container/requirements.txt"])
def test_every_pinned_version_carries_its_hashes(file: str) -> None:
    blocks = [block for block in re.split(r"\n(?=\S)", read(ROOT / file)) if not block.startswith("#")]
    assert [block for block in blocks if not (PIN.match(block) and "--hash=sha256:" in block)] == []


@pytest.mark.parametrize("file", ["requirements.txt", "deploy/container/requirements.txt"])
def test_the_pinned_versions_say_nothing_of_where_they_come_from(file: str) -> None:
    assert re.findall(r"--(?!hash=sha256:)[a-z-]+|\S+://\S*|@ \S+", read(ROOT / file)) == []


def test_every_library_that_is_asked_for_is_pinned_to_a_version_that_was_asked_for() -> None:
    pinned = pins(REQUIREMENTS)
    asked = map(Requirement, [*PYPROJECT["project"]["dependencies"], *PYPROJECT["dependency-groups"]["dev"]])
    assert [str(one) for one in asked if pinned.get(one.name, "none") not in one.specifier] == []


def test_dagster_takes_its_settings_as_they_stand(tmp_path: Path) -> None:
    shutil.copy(ROOT / "dagster.yaml", tmp_path)
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        queue = instance.get_concurrency_config().run_queue_config
        assert queue is not None
        assert queue.max_concurrent_runs == 2
        assert not instance.telemetry_enabled


CONTAINER = ROOT / "deploy" / "container"
TEXTS = {path: read(path) for path in files_below("deploy")}


def test_every_file_that_goes_into_the_image_is_there() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", read(CONTAINER / "Containerfile"), re.MULTILINE)
    assert [name for line in copied for name in line.split() if not (ROOT / name).exists()] == []


def test_every_program_that_is_started_is_installed() -> None:
    units = " ".join(text for path, text in TEXTS.items() if path.suffix == ".service")
    started = set(re.findall(r"^ExecStart=/opt/brokerbi/\.venv/bin/(\S+)", units, re.MULTILINE))
    started |= set(re.findall(r"command: \[([a-z-]+),", read(CONTAINER / "compose.yaml")))
    assert started == {"dagster", "dagster-daemon", "dagster-webserver"}
    assert [name for name in started if not (Path(sys.executable).parent / name).exists()] == []


def test_the_image_holds_the_pinned_libraries_that_the_product_needs_and_those_of_its_database() -> None:
    of_image, of_all = pins(read(CONTAINER / "requirements.txt")), pins(REQUIREMENTS)
    asked = {Requirement(one).name for one in PYPROJECT["project"]["dependencies"]}
    tools = {Requirement(one).name for one in PYPROJECT["dependency-groups"]["dev"]} - {"packaging"}
    assert (asked - set(of_image), tools & set(of_image)) == (set(), set())
    assert {name for name, version in of_image.items() if of_all.get(name) != version} == {
        "dagster-postgres",
        "psycopg2-binary",
    }
    assert of_image["dagster-postgres"].split(".")[2] == of_all["dagster"].split(".")[2]


COMPOSE = yaml.safe_load(read(CONTAINER / "compose.yaml"))
SERVICES = COMPOSE["services"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_can_gain_no_rights_and_write_only_where_it_is_meant_to(name: str) -> None:
    service = SERVICES[name]
    confined = {"read_only": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"]}
    assert {key: service.get(key) for key in confined} == confined
    assert {"mem_limit", "pids_limit", "tmpfs"} <= set(service)
    assert "cap_add" not in service or name == "postgres"  # which begins as root
    assert service.get("user") == (None if name == "postgres" else "1000:1000")


def test_nobody_outside_reaches_the_code_server_or_the_database_and_only_this_host_the_page() -> None:
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    networks = {name: service["networks"] for name, service in SERVICES.items()}
    assert networks == {
        "postgres": ["inside"],
        "code": ["inside", "outside"],
        "daemon": ["inside"],
        "webserver": ["inside", "page"],
    }
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert ports == ["127.0.0.1:3000:3000"]


def test_images_are_named_by_a_digest_that_somebody_has_to_give() -> None:
    begun = re.findall(r"^FROM (\S+)", read(CONTAINER / "Containerfile"), re.MULTILINE)
    assert set(begun) == {"python@${PYTHON_DIGEST}"}
    assert SERVICES["code"]["build"]["args"]["PYTHON_DIGEST"].startswith("${PYTHON_DIGEST:?")
    assert SERVICES["postgres"]["image"].startswith("postgres@${POSTGRES_DIGEST:?")


def test_the_image_runs_as_a_user_of_its_own_from_a_stage_without_tools() -> None:
    *_, last = read(CONTAINER / "Containerfile").split("\nFROM ")
    assert "USER 1000:1000\n" in last
    assert re.findall("install(?! -d)|requirements", last) == []


@pytest.mark.parametrize("unit", ["code", "daemon", "webserver"])
def test_a_unit_can_gain_no_rights_and_write_only_where_its_data_is(unit: str) -> None:
    wanted = {"NoNewPrivileges=yes", "ProtectSystem=strict", "PrivateTmp=yes", "CapabilityBoundingSet="}
    lines = read(ROOT / "deploy" / "systemd" / f"brokerbi-{unit}.service").splitlines()
    assert wanted - set(lines) == set()
    assert [line for line in lines if line.startswith("ReadWritePaths=")] == [
        "ReadWritePaths=/var/lib/brokerbi"
    ]
    assert any(line.startswith("MemoryMax=") for line in lines)


def test_the_files_hold_no_secret() -> None:
    lines = [line for text in TEXTS.values() for line in text.splitlines()]
    given = [line for line in lines if re.search(r"(PASSWORD|WEBHOOK)\s*[=:]", line)]
    assert [line for line in given if not re.search(r"_FILE|\{env:|\$\(cat", line)] == []
