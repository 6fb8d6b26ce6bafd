"""Files for running it on a server: they name only what exists, and fit what is installed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.unit.repository.files import ROOT, files_below, read

CONTAINER = ROOT / "deploy" / "container"
TEXTS = {path: read(path) for path in files_below("deploy")}
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


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
    of_image = dict(PIN.findall(read(CONTAINER / "postgres.txt")))
    of_all = dict(PIN.findall(read(ROOT / "requirements.txt")))
    assert of_image["dagster-postgres"].split(".")[2] == of_all["dagster"].split(".")[2]


def test_the_files_hold_no_secret() -> None:
    lines = [line for text in TEXTS.values() for line in text.splitlines()]
    given = [line for line in lines if re.search(r"(PASSWORD|WEBHOOK)\s*[=:]", line)]
    assert [line for line in given if not re.search(r"_FILE|\{env:|\$\(cat", line)] == []
