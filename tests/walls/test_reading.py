"""Can a newcomer read every file? Lengths, first lines and names that say nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.walls.files import named, our_files, python_files, read, tree

LINES_OF_A_FILE = 300
LINES_OF_A_FUNCTION = 30  # from its `def` to its end; the docstring is not counted
NAMELESS = {"util", "utils", "helper", "helpers", "common", "core", "base", "manager", "managers", "misc"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def test_no_file_is_longer_than_300_lines() -> None:
    lengths = {named(path): len(read(path).splitlines()) for path in our_files(".py", ".sql")}
    assert {name: lines for name, lines in lengths.items() if lines > LINES_OF_A_FILE} == {}


def test_no_function_is_longer_than_30_lines() -> None:
    lengths = {
        f"{named(path)}:{function.lineno} {function.name}": _lines(function)
        for path in python_files()
        for function in _functions(path)
    }
    assert {name: lines for name, lines in lengths.items() if lines > LINES_OF_A_FUNCTION} == {}


def test_every_file_says_in_its_first_line_which_question_it_answers() -> None:
    assert [named(path) for path in python_files() if not _asks_a_question(path)] == []


def test_no_file_is_named_by_a_word_that_says_nothing() -> None:
    assert [named(path) for path in our_files() if NAMELESS & _words(path)] == []


def test_every_sql_file_begins_with_its_question_and_its_grain() -> None:
    assert [named(path) for path in our_files(".sql") if not _begins_with_question_and_grain(path)] == []


def _lines(function: Function) -> int:
    first = function.body[0]
    of_docstring = 0
    if ast.get_docstring(function) is not None:
        of_docstring = (first.end_lineno or first.lineno) - first.lineno + 1
    return (function.end_lineno or function.lineno) - function.lineno + 1 - of_docstring


def _functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(tree(path)) if isinstance(node, Function))


def _asks_a_question(path: Path) -> bool:
    first_line = read(path).split("\n", 1)[0]
    return first_line.startswith('"""') and "?" in first_line


def _words(path: Path) -> set[str]:
    return {word for part in named(path).lower().split("/") for word in part.split(".")[0].split("_")}


def _begins_with_question_and_grain(path: Path) -> bool:
    question, grain = [*read(path).splitlines(), "", ""][:2]
    return question.startswith("-- ") and question.endswith("?") and grain.startswith("-- ")
