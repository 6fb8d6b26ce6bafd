"""The shapes by which rows were read, and the ids by which shapes are proposed."""

from __future__ import annotations

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
_OFFICES = {"commission_office": "office_customer_id"}
_USERS = {"commission_user": "user_id", "users_history": "id"}


def loaded_shapes(connection: DuckDBPyConnection) -> dict[str, set[str]]:
    """The fingerprints of the shapes that loaded the rows in force, by report."""
    return {report: set(shapes) for report, shapes in connection.execute(_LOADED_SHAPES).fetchall()}


def remember_shape(connection: DuckDBPyConnection, report: str, shape: str) -> None:
    """Write down that the loads of a report are those of a shape, as far as it can read them."""
    connection.execute(
        "UPDATE meta.loads SET shape = $1 WHERE report = $2 AND status = 'loaded'", [shape, report]
    )


def known_ids(connection: DuckDBPyConnection) -> tuple[frozenset[str], frozenset[str]]:
    """The ids of offices and of users that documented reports have stated, as far as they are loaded."""
    loaded = read_tables(connection)

    def stated(columns: dict[str, str]) -> frozenset[str]:
        queries = [f"SELECT {column} FROM bi.{table}" for table, column in columns.items() if table in loaded]
        rows = connection.execute(" UNION ".join(queries)).fetchall() if queries else []
        return frozenset(value for (value,) in rows if value is not None)

    return stated(_OFFICES), stated(_USERS)
