"""Do the files for running it for real name only what exists, and fit what is installed?"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pipelines.settings.model import Settings
from tests.unit.walls.files import ROOT

DEPLOY = ROOT / "deploy"
CONTAINER = DEPLOY / "container"
PROGRAMS = Path(sys.executable).parent
ALL = {
    path: path.read_text("utf-8")
    for path in DEPLOY.rglob("*")
    if path.suffix != "" or path.name == "Containerfile"
}
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


def test_every_setting_that_is_named_exists() -> None:
    of_compose = {"BROKERBI_DATA"}  # where the volume of the data is, which the containers need not know
    known = {f"BROKERBI_{name.upper()}" for name in Settings.model_fields} | of_compose
    named = {name for text in ALL.values() for name in re.findall(r"BROKERBI_[A-Z_]*[A-Z]", text)}
    assert named - known == set()


def test_every_file_that_goes_into_the_image_is_there() -> None:
    copied = re.findall(r"^COPY (.+) \S+$", (CONTAINER / "Containerfile").read_text("utf-8"), re.MULTILINE)
    assert [name for line in copied for name in line.split() if not (ROOT / name).exists()] == []


def test_every_program_that_is_started_is_installed() -> None:
    units = " ".join(text for path, text in ALL.items() if path.suffix == ".service")
    started = set(re.findall(r"^ExecStart=/opt/brokerbi/\.venv/bin/(\S+)", units, re.MULTILINE))
    started |= set(re.findall(r"command: \[([a-z-]+),", (CONTAINER / "compose.yaml").read_text("utf-8")))
    assert started == {"dagster", "dagster-daemon", "dagster-webserver"}
    assert [name for name in started if not (PROGRAMS / name).exists()] == []


def test_the_database_of_the_containers_fits_the_dagster_that_is_pinned() -> None:
    of_image = dict(PIN.findall((CONTAINER / "postgres.txt").read_text("utf-8")))
    of_all = dict(PIN.findall((ROOT / "requirements.txt").read_text("utf-8")))
    assert of_image["dagster-postgres"].split(".")[2] == of_all["dagster"].split(".")[2]


def test_what_the_image_has_besides_carries_its_hashes() -> None:
    blocks = re.split(r"\n(?=\S)", (CONTAINER / "postgres.txt").read_text("utf-8").strip())
    assert [block for block in blocks if "--hash=sha256:" not in block] == []


def test_no_secret_stands_in_the_files() -> None:
    given = [
        line
        for text in ALL.values()
        for line in text.splitlines()
        if re.search(r"(PASSWORD|WEBHOOK)\s*[=:]", line)
    ]
    assert [
        line for line in given if "_FILE" not in line and "{env:" not in line and "$(cat" not in line
    ] == []
