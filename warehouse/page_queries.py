"""Queries of the report page: the published file, read once and closed again, as plain rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.duckdb_file import connect
from warehouse.errors import NothingPublished
from warehouse.publish import Versions
from warehouse.queries import SQL

QUERIES = (
    "publications office_months budgets earners leads held_months standings agreements differences "
    "restatements problems marks"
).split()
"""The files of sql/page, in the order in which what cannot be answered is named."""

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class PageRows:
    """The rows of every query by its name, and the names of those that the file cannot answer."""

    rows: Mapping[str, Rows]
    missing: tuple[str, ...]


def read_page_rows(data_dir: Path) -> PageRows:
    """Everything the page shows; raises NothingPublished when there is no file yet.

    A table that an older or partly built file does not have is named, and everything else is read.
    """
    file = Versions(Path(data_dir)).published
    if not file.exists():
        raise NothingPublished(
            f"There is no published file {file} yet; `brokerbi sync` or `brokerbi publish` makes one."
        )
    with connect(file, read_only=True) as connection:
        found = {name: _rows(connection, name) for name in QUERIES}
    missing = tuple(name for name, rows in found.items() if rows is None)
    return PageRows({name: rows or () for name, rows in found.items()}, missing)


def _rows(connection: DuckDBPyConnection, name: str) -> Rows | None:
    """None when the file has no such table or column."""
    try:
        answer = connection.execute((SQL / "page" / f"{name}.sql").read_text("utf-8"))
    except (duckdb.CatalogException, duckdb.BinderException):
        return None
    columns = [column[0] for column in answer.description or ()]
    return [dict(zip(columns, row, strict=True)) for row in answer.fetchall()]
