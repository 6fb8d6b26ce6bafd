"""docs/faults.md: every fault names tests that exist, by the names of their files."""

from __future__ import annotations

import ast
import re

import pytest

from tests.unit.repository.files import ROOT, files_below, read

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
