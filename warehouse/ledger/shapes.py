"""The shapes by which rows were read, and the stored answers and ids from which shapes are proposed."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from warehouse.store.schema import read_tables

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LOADED_SHAPES = """
SELECT report, list(DISTINCT coalesce(shape, ''))
FROM meta.loads
WHERE status = 'loaded' AND "rows" > 0 AND landing IS NOT NULL
    AND (history OR load_id IN (SELECT load_id FROM meta.months))
GROUP BY report
"""
_NEWEST_ANSWERS = """
SELECT report, arg_max(landing, fetched_at_utc), arg_max(months, fetched_at_utc)
FROM meta.loads
WHERE landing IS NOT NULL
    AND (status = 'loaded' AND "rows" > 0 OR status = 'failed' AND error_kind = 'UnreadableRows')
GROUP BY report
"""


def loaded_shapes(connection: DuckDBPyConnection) -> dict[str, set[str]]:
    """The hashes of the shapes that loaded the current rows, by report."""
    return {report: set(shapes) for report, shapes in connection.execute(_LOADED_SHAPES).fetchall()}


def newest_answers(connection: DuckDBPyConnection) -> dict[str, tuple[str, list[date]]]:
    """By report, the landing file and months of its newest answer that has rows or did not fit its shape."""
    rows = connection.execute(_NEWEST_ANSWERS).fetchall()
    return {report: (landing, months) for report, landing, months in rows}


def requested_reports(connection: DuckDBPyConnection) -> set[str]:
    """The reports that were ever requested."""
    found = connection.execute(
        "SELECT report FROM meta.loads UNION SELECT report FROM meta.access"
    ).fetchall()
    return {report for (report,) in found}


def remember_shape(connection: DuckDBPyConnection, report: str, shape: str) -> None:
    """Record that the loads of a report were read by a shape."""
    connection.execute(
        "UPDATE meta.loads SET shape = $1 WHERE report = $2 AND status = 'loaded'", [shape, report]
    )


def loaded_ids(connection: DuckDBPyConnection, table: str, column: str) -> set[str]:
    """The ids in a column of a table, if it is loaded."""
    if (schema := read_tables(connection).get(table)) is None:
        return set()
    return {id_ for (id_,) in connection.execute(f"SELECT {column} FROM {schema.stored}").fetchall() if id_}
