"""The operator's `shapes.toml`, which corrects where rows and columns are."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipelines.catalogue.model import Report, Table, declared_columns
from pipelines.settings.messages import nearest
from pipelines.shapes.paths import NONE, PathError, member_path, rows_path
from pipelines.shapes.shape import column_path, shape_of

TOTAL_ROWS = "total_rows"
REPORT_KEYS = ("root", TOTAL_ROWS, "decimal")
TABLE_KEYS = ("rows", "columns")
UNPAGED = "unpaged"


class ShapesError(ValueError):
    """A `shapes.toml` that cannot be used; the message states what to correct."""


def with_shapes(catalogue: Mapping[str, Report], path: Path) -> Mapping[str, Report]:
    """The catalogue with the shapes of the file; unchanged if there is no file. Raises ShapesError."""
    if not path.exists():
        return catalogue
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ShapesError(f"{path.name} cannot be read: {error}") from None
    corrected = dict(catalogue)
    for name, part in content.items():
        where = f"{path.name}: [{name}"
        report = catalogue.get(name)
        if report is None:
            raise ShapesError(f"{where}] is not a report{_hint(name, list(catalogue))}")
        try:
            corrected[name] = replace(_corrected_report(report, part, where), shape=_shape_hash(part))
        except PathError as error:
            raise ShapesError(f"{where}] {error}") from None
    return corrected


def _shape_hash(part: Mapping[str, Any]) -> str:
    """A hash of the entries that decide how rows are read; if it changes, stored answers are replayed."""
    decisive = {key: value for key, value in part.items() if key != TOTAL_ROWS}
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:16] if decisive else ""


def _corrected_report(report: Report, part: Any, where: str) -> Report:
    """A report with its shape from the file. The key `unpaged` has the shape of answers without pages."""
    if not (report.endpoint.paged and isinstance(part, dict)):
        return _shaped_report(report, part, where)
    paged = {key: value for key, value in part.items() if key != UNPAGED}
    unpaged = _shaped_report(report, part.get(UNPAGED, {}), f"{where}.{UNPAGED}")
    return replace(_shaped_report(report, paged, where), unpaged=unpaged)


def _shaped_report(report: Report, part: Any, where: str) -> Report:
    tables = {table.name: table for table in report.tables}
    part = _checked_keys(part, [*REPORT_KEYS, *TABLE_KEYS, *tables], where)
    first = report.tables[0].name
    tables[first] = _table(tables[first], {key: part[key] for key in TABLE_KEYS if key in part}, where)
    for name in tables.keys() & part.keys():
        tables[name] = _table(tables[name], part[name], f"{where}.{name}")
    texts: dict[str, Any] = {key: _text(part, key, where) for key in REPORT_KEYS if key in part}
    corrected = replace(report, tables=tuple(tables.values()), **texts)
    if corrected.decimal not in ("", ".", ","):
        raise ShapesError(f'{where}] decimal must be "." or ","')
    for path in (corrected.root, corrected.total_rows):
        member_path(path)
    shape_of(corrected)
    return corrected


def _table(table: Table, part: Any, where: str) -> Table:
    """A table with the paths of its rows and columns from the file.

    If the declared path of a column does not fit the path of the rows in the file, the column counts as
    absent. If the column is `needed` or identifies rows, this raises ShapesError instead.
    """
    part = _checked_keys(part, TABLE_KEYS, where)
    names = [column.name for column in declared_columns(table)]
    columns = _checked_keys(part.get("columns", {}), names, f"{where}.columns")
    rows = _text(part, "rows", where) if "rows" in part else table.rows
    paths = {**table.paths, **{name: _text(columns, name, where) for name in columns}}
    corrected = replace(table, rows=rows, paths=paths)
    if rows == NONE:
        return corrected
    row_path = rows_path(rows)
    for column in table.columns:
        try:
            row_path.column(column_path(corrected, column))
        except PathError as error:
            if column.name in paths:
                raise PathError(f"{table.name}.{column.name}: {error}") from None
            if column.needed or column.name in table.key:
                none = "" if column.name in table.key else f', or with "{NONE}" if the service has none'
                lack = f"columns lacks {column.name}: add a line with its path{none} ({error})"
                raise ShapesError(f"{where}] {lack}") from None
            paths[column.name] = NONE
    return corrected


def _checked_keys(part: Any, allowed: Sequence[str], where: str) -> dict[str, Any]:
    if not isinstance(part, dict):
        raise ShapesError(f"{where}] is not a TOML table; its keys may be {', '.join(allowed)}")
    for key in part:
        if key not in allowed:
            raise ShapesError(f"{where}] may not have the key {key!r}{_hint(key, allowed)}")
    return part


def _hint(name: str, allowed: Sequence[str]) -> str:
    meant = nearest(name, allowed)
    return f"; did you mean {meant}?" if meant else f"; choose one of {', '.join(allowed)}"


def _text(part: Mapping[str, Any], key: str, where: str) -> str:
    if not isinstance(part[key], str):
        raise ShapesError(f"{where}] {key} is not a text in quotes")
    return str(part[key]).strip()
