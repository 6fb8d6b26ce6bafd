"""Does every line of docs/faults.md name tests that exist?"""

from __future__ import annotations

import ast
import re

import pytest

from tests.unit.walls.files import ROOT, read, tree

PAGE = read(ROOT / "docs" / "faults.md")
LINES = [line for line in PAGE.splitlines() if line.startswith("|") and not re.match(r"\|( Fault|-)", line)]


def proofs(line: str) -> list[tuple[str, str]]:
    """The test files that a line names, with the words that it says of their tests."""
    last = line.rstrip("| ").rsplit(" | ", 1)[-1]
    return re.findall(r"`([\w/]+\.py)`(?::\s*([^`]*))?", last)


def names_of_tests(file: str) -> list[str]:
    """The tests of a file, as the words of their names."""
    path = ROOT / "tests" / (file if "/" in file else f"faults/{file}")
    functions = [
        node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [
        node.name.removeprefix("test_").replace("_", " ")
        for node in functions
        if node.name.startswith("test_")
    ]


@pytest.mark.parametrize("line", LINES)
def test_each_line_names_tests_that_exist(line: str) -> None:
    found = proofs(line)
    assert found
    for file, words in found:
        names = names_of_tests(file)
        for said in filter(None, (one.strip(" .,;|") for one in re.split(r";", words))):
            assert any(said.partition(" (")[0] in name for name in names), (file, said, names)
