"""Ids to request, and months with rows that meet a condition: both are read from tables of schema bi."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING

from warehouse.store.duckdb_file import quoted
from warehouse.store.meta_schema import aware
from warehouse.store.schema import ID_SEPARATOR

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

KnownIds = Mapping[str, datetime | None]
"""The ids to request, each with the time of its last answer (None if it was never answered).

Ids that were never answered come first, then those with the oldest answers.
"""

_COLUMNS = "SELECT column_name FROM meta.columns WHERE table_name = $1"

Source = tuple[str, tuple[str, ...], str]
"""A source of ids: a table of schema bi, the columns that together form one id, and a condition in SQL.

Only rows that meet the condition count. In the condition, `_today` is the current date.
"""


def months_with_rows(
    connection: DuckDBPyConnection, table: str, condition: str
) -> Mapping[str, Collection[date]]:
    """By customer, the months in which a table has rows that meet `condition`; empty for an unknown table."""
    if not connection.execute(_COLUMNS, [table]).fetchall():
        return {}
    return dict(
        connection.execute(
            f"SELECT _customer, list(DISTINCT _month) FROM bi.{quoted(table)} WHERE {condition} GROUP BY ALL"
        ).fetchall()
    )


def known_ids(
    connection: DuckDBPyConnection, report: str, customer: str, sources: Sequence[Source], today: date
) -> KnownIds:
    """The ids of the first source that has any; a source whose table lacks an id column is skipped."""
    for table, id_columns, condition in sources:
        columns = {name for (name,) in connection.execute(_COLUMNS, [table]).fetchall()}
        if not columns.issuperset(id_columns):
            continue
        joined_id = f" || '{ID_SEPARATOR}' || ".join(f"{quoted(column)}::VARCHAR" for column in id_columns)
        rows = connection.execute(
            f"""
            WITH ids AS (
                SELECT DISTINCT {joined_id} AS _id
                FROM bi.{quoted(table)}, (SELECT $3::DATE AS _today)
                WHERE _customer = $2 AND ({condition}) AND _id IS NOT NULL
            ), answered AS (
                SELECT asked AS _id, max(fetched_at_utc) AS answered_utc FROM meta.history_scopes
                WHERE (report, customer) = ($1, $2) GROUP BY 1
            )
            SELECT _id, answered_utc FROM ids LEFT JOIN answered USING (_id)
            ORDER BY answered_utc NULLS FIRST, _id
            """,
            [report, customer, today],
        ).fetchall()
        if rows:
            return {known_id: aware(answered) if answered else None for known_id, answered in rows}
    return {}
