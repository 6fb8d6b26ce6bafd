"""README and docs: every command, option, setting, file and test they name exists, and none is left out."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from pipelines.cli.main import load_app
from pipelines.sandbox.options import add_arguments
from pipelines.settings.model import Customer, Settings
from tests.tools import metrics_page
from tests.unit.repository.files import ROOMS, ROOT, files_below, read

README = read(ROOT / "README.md")
DOCS = "\n".join([README, *map(read, files_below("docs", "deploy", ending=".md"))])
SETTINGS = {f"BROKERBI_{name.upper()}" for name in Settings.model_fields if name != "warnings"}


def variables(text: str) -> set[str]:
    return set(re.findall(r"\bBROKERBI_[A-Z]+(?:_[A-Z]+)*\b(?!_)", text))


IN_CODE = {name for path in files_below(*ROOMS, ending=".py") for name in variables(read(path))}


def commands(command: Any) -> Iterator[Any]:
    """A command and those within it."""
    yield command
    for within in getattr(command, "commands", {}).values():
        yield from commands(within)


def test_every_command_has_its_line() -> None:
    names = get_command(load_app()).commands  # type: ignore[attr-defined]
    assert [name for name in names if f"| `brokerbi {name}` |" not in DOCS] == []


def test_every_option_is_told_of() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    options = {word for action in parser._actions for word in action.option_strings}
    parameters = [param for command in commands(get_command(load_app())) for param in command.params]
    options |= {word for param in parameters for word in param.opts}
    assert {word for word in options if word.startswith("--") and word not in DOCS} <= {"--help", "--version"}


def test_every_setting_has_its_line() -> None:
    assert {name for name in SETTINGS if f"| `{name.removesuffix('_FILE')}` |" not in DOCS} == set()


def test_every_key_of_a_customer_is_told_of() -> None:
    assert {key for key in Customer.model_fields if key not in DOCS} == set()


def test_every_variable_the_code_reads_is_told_of_and_no_other() -> None:
    assert {name.removesuffix("_FILE") for name in IN_CODE} - variables(DOCS) == set()
    of_compose = {"BROKERBI_DATA"}  # where the volume of the data is, which the containers need not know
    told = variables("\n".join([DOCS, *map(read, files_below("deploy"))]))
    assert told - IN_CODE - SETTINGS - of_compose == set()


def test_every_make_target_the_readme_tells_of_exists() -> None:
    told = {"".join(pair) for pair in re.findall(r"`make ([a-z]+)`|^    make ([a-z]+)", README, re.MULTILINE)}
    assert {target for target in told if f"\n{target}:" not in read(ROOT / "Makefile")} == set()


def test_every_file_the_readme_points_at_is_there() -> None:
    pointed = re.findall(r"`((?:sql|pipelines|assets|warehouse|tests|docs|deploy)/[\w/.]*)`", README)
    assert [name for name in pointed if not (ROOT / name).exists()] == []


def test_the_page_of_numbers_holds_every_metric() -> None:
    _, _, rest = read(metrics_page.PAGE).partition(metrics_page.MARK)
    assert rest == metrics_page.tables(), "run python -m tests.tools.metrics_page"


@pytest.mark.parametrize("page", [ROOT / "README.md", *files_below("docs", "deploy", ending=".md")])
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(page: Path) -> None:
    for target, heading in re.findall(r"\]\(([\w./-]*)#?([\w-]*)\)", read(page)):
        file = page.parent / target if target else page
        headings = (
            [re.sub(r"[^\w -]", "", line).lower() for line in read(file).splitlines()] if heading else []
        )
        assert file.exists(), target
        assert not heading or heading in [line.strip().replace(" ", "-") for line in headings], heading


def test_a_code_host_shows_every_picture_at_once() -> None:
    pictures = [ROOT / "docs" / name for name in re.findall(r"!\[.*\]\((?:docs/)?(.*)\)", DOCS)]
    assert [picture.name for picture in pictures if picture.stat().st_size > 200_000] == []


PAGE = read(ROOT / "docs" / "faults.md")
FAULTS = [line for line in PAGE.splitlines() if line.startswith("|") and not re.match(r"\|( Fault|-)", line)]


def names_of_tests(file: str) -> list[str]:
    """The names of the tests in all files of this name, as words."""
    return [
        node.name.removeprefix("test_").replace("_", " ")
        for path in files_below("tests", ending=f"/{file}")
        for node in ast.walk(ast.parse(read(path)))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_names_tests_that_exist(fault: str) -> None:
    last_cell = fault.rstrip("| ").rsplit(" | ", 1)[-1]
    proofs = re.findall(r"`(test_\w+\.py)`(?::\s*([^`]*))?", last_cell)
    assert proofs
    for file, words in proofs:
        names = names_of_tests(file)
        assert names, f"{file} is not below tests"
        for phrase in filter(None, (part.partition(" (")[0].strip(" .,;") for part in words.split(";"))):
            assert any(phrase in name for name in names), f"no test of {file} is about {phrase!r}"
