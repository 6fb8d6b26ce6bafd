"""Ids of a report that is requested id by id, and when each was last answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Protocol

from warehouse.store.duckdb_file import quoted
from warehouse.store.meta_schema import aware
from warehouse.store.schema import BETWEEN_IDS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class Source(Protocol):
    """Columns of a table of schema bi, of its rows that meet a condition; the catalogue declares it."""

    @property
    def table(self) -> str: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def condition(self) -> str: ...


@dataclass(frozen=True, slots=True)
class KnownId:
    """An id, and when it was last answered."""

    id: str
    answered_utc: datetime | None = None


def known_ids(
    connection: DuckDBPyConnection, report: str, customer: str, sources: Sequence[Source], today: date
) -> list[KnownId]:
    """The ids of the first source that has any, the one first that was answered longest ago, or never."""
    for source in sources:
        if not _has_columns(connection, source):
            continue
        id_ = f" || '{BETWEEN_IDS}' || ".join(f"{quoted(column)}::VARCHAR" for column in source.columns)
        rows = connection.execute(
            f"""
            WITH known AS (
                SELECT DISTINCT {id_} AS _id
                FROM bi.{quoted(source.table)}, (SELECT $3::DATE AS _today)
                WHERE _customer = $1 AND ({source.condition}) AND _id IS NOT NULL
            ), answered AS (
                SELECT asked AS _id, max(fetched_at_utc) AS answered_utc FROM meta.history_scopes
                WHERE (report, customer) = ($2, $1) GROUP BY 1
            )
            SELECT _id, answered_utc FROM known LEFT JOIN answered USING (_id)
            ORDER BY answered_utc NULLS FIRST, _id
            """,
            [customer, report, today],
        ).fetchall()
        if rows:
            return [KnownId(id_, aware(answered) if answered else None) for id_, answered in rows]
    return []


def _has_columns(connection: DuckDBPyConnection, source: Source) -> bool:
    """Whether the table is there with the columns; a table of which nothing was loaded is not."""
    rows = connection.execute("SELECT column_name FROM meta.columns WHERE table_name = $1", [source.table])
    return {*source.columns} <= {name for (name,) in rows.fetchall()}
