"""Restatements: the totals that months had, in a table that only grows and can be rebuilt from landing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duckdb import DuckDBPyConnection

from warehouse.duckdb_file import literal

if TYPE_CHECKING:
    from warehouse.database import Store

TOTALS = "marts.month_totals"
"""The mart whose totals are remembered."""

_NEW_TOTALS = """
INSERT INTO meta.month_totals BY NAME
SELECT now.*
FROM marts.month_totals AS now
LEFT JOIN meta.month_totals AS kept
    ON (kept.report, kept.office_id, kept.month, kept.version)
    = (now.report, now.office_id, now.month, now.version - 1)
WHERE (now.row_count, now.commission, now.price, now.estate_parts, now.is_open)
    IS DISTINCT FROM (kept.row_count, kept.commission, kept.price, kept.estate_parts, kept.is_open)
"""


def remember_totals(connection: DuckDBPyConnection) -> None:
    """Add every total of marts.month_totals that is another than the one remembered last."""
    connection.execute(_NEW_TOTALS)


def lacks_totals(connection: DuckDBPyConnection) -> bool:
    """Whether landing knows loads that this file never loaded: what they added up to is not remembered."""
    found = connection.execute("SELECT 1 FROM meta.loads WHERE status = 'landed' LIMIT 1")
    return found.fetchone() is not None


def replace_totals(store: Store, rebuilt: Store) -> str:
    """Put the totals of a rebuilt file in place of those remembered; answers why not, if those are poorer.

    They are when a total was worked out from a load that landing does not hold any more.
    """
    totals, loads = (literal(str(rebuilt.data_dir / f"{name}.parquet")) for name in ("totals", "loads"))
    with rebuilt.reading() as connection:
        connection.execute(f"COPY meta.month_totals TO {totals} (FORMAT parquet)")
        connection.execute(f"COPY (SELECT load_id FROM meta.loads) TO {loads} (FORMAT parquet)")
    with store.writing() as connection:
        [(lost,)] = connection.execute(
            "SELECT count(DISTINCT load_id) FROM meta.month_totals "
            f"WHERE load_id NOT IN (SELECT load_id FROM {loads})"
        ).fetchall()
        if not lost:
            connection.execute("DELETE FROM meta.month_totals")
            connection.execute(f"INSERT INTO meta.month_totals BY NAME SELECT * FROM {totals}")
        connection.execute(
            "UPDATE meta.loads SET status = 'superseded' WHERE status = 'landed' "
            f"AND load_id IN (SELECT load_id FROM {loads})"
        )
    if lost:
        return (
            f"What months added up to before stays as it is remembered: {lost} loads behind it are no more "
            "in landing, so older changes between the landed ones are not known."
        )
    return ""
