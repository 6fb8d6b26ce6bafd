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


@pytest.mark.parametrize("file", ["requirements.txt", "deploy/container/postgres.txt"])
def test_every_pinned_version_carries_its_hashes(file: str) -> None:
    blocks = [block for block in re.split(r"\n(?=\S)", read(ROOT / file)) if not block.startswith("#")]
    assert [block for block in blocks if not (PIN.match(block) and "--hash=sha256:" in block)] == []


def test_the_pinned_versions_say_nothing_of_where_they_come_from() -> None:
    assert re.findall(r"--(?!hash=sha256:)[a-z-]+|\S+://\S*|@ \S+", REQUIREMENTS) == []


def test_every_library_that_is_asked_for_is_pinned_to_a_version_that_was_asked_for() -> None:
    pinned = pins(REQUIREMENTS)
    asked = map(Requirement, [*PYPROJECT["project"]["dependencies"], *PYPROJECT["dependency-groups"]["dev"]])
    assert [str(one) for one in asked if pinned.get(one.name, "none") not in one.specifier] == []


def test_dagster_takes_its_settings_as_they_stand(tmp_path: Path) -> None:
    shutil.copy(ROOT / "dagster.yaml", tmp_path)
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        queue = instance.get_concurrency_config().run_queue_config
        assert queue is not None
        assert queue.max_concurrent_runs == 3
        assert not instance.telemetry_enabled


CONTAINER = ROOT / "deploy" / "container"
TEXTS = {path: read(path) for path in files_below("deploy")}


def test_every_file_that_goes_into_the_image_is_there() -> None:
    copied = re.findall(r"^COPY (.+) \S+$", read(CONTAINER / "Containerfile"), re.MULTILINE)
    assert [name for line in copied for name in line.split() if not (ROOT / name).exists()] == []


def test_every_program_that_is_started_is_installed() -> None:
    units = " ".join(text for path, text in TEXTS.items() if path.suffix == ".service")
    started = set(re.findall(r"^ExecStart=/opt/brokerbi/\.venv/bin/(\S+)", units, re.MULTILINE))
    started |= set(re.findall(r"command: \[([a-z-]+),", read(CONTAINER / "compose.yaml")))
    assert started == {"dagster", "dagster-daemon", "dagster-webserver"}
    assert [name for name in started if not (Path(sys.executable).parent / name).exists()] == []


def test_the_database_of_the_containers_fits_the_dagster_that_is_pinned() -> None:
    of_image = pins(read(CONTAINER / "postgres.txt"))
    of_all = pins(REQUIREMENTS)
    assert of_image["dagster-postgres"].split(".")[2] == of_all["dagster"].split(".")[2]


def test_the_files_hold_no_secret() -> None:
    lines = [line for text in TEXTS.values() for line in text.splitlines()]
    given = [line for line in lines if re.search(r"(PASSWORD|WEBHOOK)\s*[=:]", line)]
    assert [line for line in given if not re.search(r"_FILE|\{env:|\$\(cat", line)] == []
