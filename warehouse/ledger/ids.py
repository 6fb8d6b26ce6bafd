"""Ids that a report is asked for one by one: which there are, and what is known of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from warehouse.store.duckdb_file import quoted
from warehouse.store.meta_schema import aware
from warehouse.store.schema import BETWEEN_IDS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class Source(Protocol):
    """Columns of a table of schema bi, of its rows that fulfil a condition; the catalogue declares it."""

    @property
    def table(self) -> str: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def condition(self) -> str: ...
    @property
    def changed(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class KnownId:
    """An id, when it was last answered, and when what has it was changed, in the brokerage's local time.

    `is_filled`: the answer has what it was asked for.
    """

    id: str
    answered_utc: datetime | None = None
    changed_at: datetime | None = None
    is_filled: bool = False


def known_ids(
    connection: DuckDBPyConnection,
    report: str,
    customer: str,
    sources: Sequence[Source],
    filled: tuple[str, Sequence[str], str] | None = None,
) -> list[KnownId]:
    """The ids of the first source that has any, the one first that was answered longest ago, or never.

    Several columns are ids that go together. `filled` names a table of the report, its columns of ids and the
    one that has to be filled.
    """
    for source in sources:
        wanted = [*source.columns, *([source.changed] if source.changed else [])]
        if not _has_columns(connection, source.table, wanted):
            continue
        changed = f"max({quoted(source.changed)})" if source.changed else "NULL::TIMESTAMP"
        found = connection.execute(
            f"""
            WITH named AS (
                SELECT {_joined(source.columns)} AS _id, {changed} AS _changed
                FROM bi.{quoted(source.table)} WHERE _customer = $1 AND ({source.condition})
                GROUP BY 1 HAVING _id IS NOT NULL
            ), answered AS (
                SELECT asked AS _id, max(fetched_at_utc) AS answered_utc FROM meta.history_scopes
                WHERE (report, customer) = ($2, $1) GROUP BY 1
            )
            SELECT _id, answered_utc, _changed, _id IN ({_filled(filled)})
            FROM named LEFT JOIN answered USING (_id) ORDER BY answered_utc NULLS FIRST, _id
            """,
            [customer, report],
        ).fetchall()
        if found:
            return [
                KnownId(id_, aware(answered) if answered else None, changed, is_filled)
                for id_, answered, changed, is_filled in found
            ]
    return []


def _filled(filled: tuple[str, Sequence[str], str] | None) -> str:
    if filled is None:
        return "SELECT NULL WHERE false"
    table, columns, column = filled
    return (
        f"SELECT {_joined(columns)} FROM bi.{quoted(table)} "
        f"WHERE _customer = $1 AND {quoted(column)} IS NOT NULL"
    )


def _joined(columns: Sequence[str]) -> str:
    return f" || '{BETWEEN_IDS}' || ".join(f"{quoted(one)}::VARCHAR" for one in columns)


def _has_columns(connection: DuckDBPyConnection, table: str, columns: Sequence[str]) -> bool:
    found = connection.execute("SELECT column_name FROM meta.columns WHERE table_name = $1", [table])
    return {*columns} <= {name for (name,) in found.fetchall()}
