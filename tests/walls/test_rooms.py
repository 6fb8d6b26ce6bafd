"""Do imports run one way only? The walls between the rooms, name by name."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator

import pytest

from tests.walls.files import ROOMS, ROOT, imports, module, named, python_files, within

SETTINGS = (
    "pipelines.settings",
    "pipelines.settings_alerts",
    "pipelines.settings_sentences",
    "pipelines.settings_sources",
    "pipelines.settings_values",
)

# Room -> all of ours that it may import. Where several names fit a file, the longest counts.
MAY_IMPORT = {
    "assets": ("assets", "pipelines", "warehouse"),
    "pipelines": (),
    "pipelines.catalogue": ("pipelines.catalogue", "pipelines.months", "pipelines.windows"),
    "pipelines.command": ("pipelines", "warehouse"),
    "pipelines.connect": ("pipelines.connect", "pipelines.months"),
    "pipelines.flattening": ("pipelines.catalogue", "pipelines.flattening", "pipelines.months"),
    "pipelines.months": (),
    "pipelines.picturing": ("pipelines.picturing",),
    "pipelines.sandbox": ("pipelines.months", "pipelines.sandbox"),
    "pipelines.settings": ("pipelines.connect", "pipelines.months", *SETTINGS),
    **dict.fromkeys(SETTINGS[1:], ("pipelines.months", *SETTINGS)),
    "pipelines.sync": (
        "pipelines.catalogue",
        "pipelines.connect",
        "pipelines.flattening",
        "pipelines.months",
        "pipelines.picturing",
        "pipelines.sync",
        "pipelines.windows",
        "warehouse",
        *SETTINGS,
    ),
    "pipelines.windows": ("pipelines.months",),
    "warehouse": ("warehouse",),
}

# What others have written -> the only rooms that may know it.
KNOWN_ONLY_BY = {
    "dagster": ("assets",),
    "duckdb": ("warehouse",),
    "jinja2": ("pipelines.picturing",),
    "polars": ("pipelines.flattening", "pipelines.sync", "warehouse"),
    "rich": ("pipelines.command",),
}

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DECLARED = {re.split(r"[<>=]", line)[0].replace("-", "_") for line in PROJECT["dependencies"]}

NEVER_IMPORTED = {"dagster_webserver", "tzdata"}  # a program of its own, and the time zones themselves


def test_a_room_imports_only_the_rooms_it_may_know() -> None:
    forbidden = [
        f"{importer} imports {name}"
        for importer, name in _imports_of_rooms()
        if _is_ours(name) and not any(within(name, allowed) for allowed in MAY_IMPORT[_room(importer)])
    ]
    assert forbidden == []


@pytest.mark.parametrize("library", KNOWN_ONLY_BY)
def test_a_library_is_known_only_by_its_rooms(library: str) -> None:
    strangers = [
        f"{importer} imports {name}"
        for importer, name in _imports_of_rooms()
        if within(name, library) and not any(within(importer, room) for room in KNOWN_ONLY_BY[library])
    ]
    assert strangers == []


def test_every_library_we_import_is_declared() -> None:
    undeclared = [
        f"{importer} imports {name}"
        for importer, name in _imports_of_rooms()
        if not _is_ours(name) and name.split(".")[0] not in {*sys.stdlib_module_names, *DECLARED}
    ]
    assert undeclared == []


def test_every_declared_library_is_used() -> None:
    imported = {name.split(".")[0] for _, name in _imports_of_rooms()}
    assert DECLARED - imported - NEVER_IMPORTED == set()


def test_sql_holds_no_python() -> None:
    assert [named(path) for path in python_files("sql")] == []


def _imports_of_rooms() -> Iterator[tuple[str, str]]:
    return ((module(path), name) for path in python_files(*ROOMS) for name in imports(path))


def _is_ours(name: str) -> bool:
    return name.split(".")[0] in (*ROOMS, "sql", "tests")


def _room(importer: str) -> str:
    return max((room for room in MAY_IMPORT if within(importer, room)), key=len)
