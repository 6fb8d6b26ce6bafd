"""The operator's `shapes.toml`: where rows and columns are, if a declaration is assumed and wrong."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pipelines.catalogue.model import Report, Table, declared_columns
from pipelines.shapes.paths import NONE, PathError, rows_path
from pipelines.shapes.shape import column_path, shape_of

TOTAL_ROWS = "total_rows"
OF_A_REPORT = ("root", TOTAL_ROWS, "decimal")
OF_A_TABLE = ("rows", "columns")
UNPAGED = "unpaged"
DECIMALS = (".", ",")


class ShapesError(ValueError):
    """A `shapes.toml` that cannot be used; the sentence says what to correct."""


def with_shapes(catalogue: Mapping[str, Report], path: Path) -> Mapping[str, Report]:
    """The catalogue with the shapes of a file; without a file, as it is. Raises ShapesError."""
    if not path.exists():
        return catalogue
    try:
        written = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ShapesError(f"{path.name} cannot be read: {error}") from None
    corrected = dict(catalogue)
    for name, words in written.items():
        where = f"{path.name}: [{name}]"
        report = catalogue.get(name)
        if report is None:
            raise ShapesError(f"{where} is no report{nearest(name, catalogue)}")
        corrected[name] = replace(_corrected(report, words, where), shape=_hash_of(words))
    return corrected


def _hash_of(words: Mapping[str, Any]) -> str:
    """A short hash of what changes how rows are read: those that were loaded by other words are replayed."""
    of_rows = {word: value for word, value in words.items() if word != TOTAL_ROWS}
    return hashlib.sha256(json.dumps(of_rows, sort_keys=True).encode()).hexdigest()[:16] if of_rows else ""


def nearest(name: str, names: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the nearest known one, or all of a few."""
    known = list(names)
    near = get_close_matches(name, known, n=1)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; known are {', '.join(known)}" if len(known) <= 12 else "; `brokerbi reports` lists them"


def _corrected(report: Report, words: Any, where: str) -> Report:
    """A report with the shape that is written for it; the unpaged counterpart has one of its own."""
    if not (report.endpoint.paged and isinstance(words, dict)):
        return _shaped(report, words, where)
    paged = {word: value for word, value in words.items() if word != UNPAGED}
    unpaged = _shaped(report, words.get(UNPAGED, {}), f"{where[:-1]}.{UNPAGED}]")
    return replace(_shaped(report, paged, where), unpaged=unpaged)


def _shaped(report: Report, words: Any, where: str) -> Report:
    names = [table.name for table in report.tables]
    words = _known_words(words, (*OF_A_REPORT, *OF_A_TABLE, *names), where)
    tables = {table.name: table for table in report.tables}
    if of_first := {word: words[word] for word in OF_A_TABLE if word in words}:
        tables[names[0]] = _table(tables[names[0]], of_first, where)
    for name in names:
        if name in words:
            tables[name] = _table(tables[name], words[name], f"{where[:-1]}.{name}]")
    texts: dict[str, Any] = {
        word: _text(words[word], f"{where} {word}") for word in OF_A_REPORT if word in words
    }
    corrected = replace(report, tables=tuple(tables.values()), **texts)
    if corrected.decimal not in DECIMALS:
        raise ShapesError(f'{where} decimal is "." or ","')
    try:
        shape_of(corrected)
    except PathError as error:
        raise ShapesError(f"{where} {error}") from None
    return corrected


def _table(table: Table, words: Any, where: str) -> Table:
    words = _known_words(words, OF_A_TABLE, where)
    names = [column.name for column in declared_columns(table)]
    columns = _known_words(words.get("columns", {}), names, f"{where[:-1]}.columns]")
    paths = {name: _text(path, f"{where} {name}") for name, path in columns.items()}
    rows = _text(words.get("rows", table.rows), f"{where} rows")
    corrected = replace(table, rows=rows, paths={**table.paths, **paths})
    return replace(corrected, paths={**corrected.paths, **_paths_left_behind(corrected, where)})


def _known_words(words: Any, known: Sequence[str], where: str) -> dict[str, Any]:
    """The words of a table of the file; raises ShapesError for one that is not known."""
    if not isinstance(words, dict):
        raise ShapesError(f"{where} is no table; known in it are {', '.join(known)}")
    for word in words:
        if word not in known:
            raise ShapesError(f"{where} knows no {word!r}{nearest(word, known)}")
    return words


def _paths_left_behind(table: Table, where: str) -> dict[str, str]:
    """Columns whose declared path is not on the way to other rows: the service has none, until it is said."""
    try:
        rows = rows_path(table.rows)
    except PathError as error:
        raise ShapesError(f"{where} {error}") from None
    left = {}
    for column in table.columns if table.rows != NONE else ():
        if column.name not in table.paths:
            try:
                rows.column(column_path(table, column))
            except PathError as error:
                if column.needed:
                    raise ShapesError(
                        f"{where} columns needs a line for {column.name}: write its path, or "
                        f'"{NONE}" if the service has none ({error})'
                    ) from None
                left[column.name] = NONE
    return left


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise ShapesError(f"{where} is no text in quotes")
    return value.strip()
