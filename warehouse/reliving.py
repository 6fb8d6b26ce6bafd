"""How is the memory of totals rebuilt? From a second working file in which every load was loaded again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from duckdb import DuckDBPyConnection

from warehouse.duckdb_file import literal
from warehouse.marts import build_marts, queries_behind
from warehouse.rebuilding import LANDED, landed_load
from warehouse.remembering import TOTALS, prepare_memory
from warehouse.window_result import WindowResult

if TYPE_CHECKING:
    from warehouse.database import Store


def is_forgetful(store: Store) -> bool:
    """Whether landing knows loads that this file never loaded: what they added up to is not remembered."""
    with store.reading() as connection:
        found = connection.execute("SELECT 1 FROM meta.loads WHERE status = 'landed' LIMIT 1")
        return found.fetchone() is not None


def landed_loads(lived: Store) -> list[WindowResult]:
    """Every load of the reports that the totals rest on, oldest first."""
    with lived.reading() as connection:
        found = connection.execute(
            f"SELECT {', '.join(LANDED)} FROM meta.loads WHERE status = 'landed' "
            "AND list_contains($1, report) ORDER BY fetched_at_utc, load_number",
            [_reports(connection)],
        )
        return [landed_load(row) for row in found.fetchall()]


def remember(lived: Store) -> None:
    """Note what every month adds up to now."""
    with lived.writing() as connection:
        build_marts(connection, wanted=[TOTALS])


def take_over(store: Store, lived: Store, folder: Path) -> str:
    """Put the totals lived through in place of those remembered; answers why not, if those are poorer.

    They are when a total was worked out from a load that landing does not hold any more.
    """
    totals, loads = (literal(str(folder / f"{name}.parquet")) for name in ("totals", "loads"))
    with lived.reading() as connection:
        connection.execute(f"COPY meta.month_totals TO {totals} (FORMAT parquet)")
        connection.execute(f"COPY (SELECT load_id FROM meta.loads) TO {loads} (FORMAT parquet)")
    with store.writing() as connection:
        prepare_memory(connection)
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


def _reports(connection: DuckDBPyConnection) -> list[str]:
    """The reports whose tables the totals are worked out from, as the SQL itself says."""
    read = {
        name.removesuffix("_history")
        for query in queries_behind(connection, TOTALS)
        for schema, name in query.reads
        if schema == "bi"
    }
    found = connection.execute(
        "SELECT DISTINCT report FROM meta.tables WHERE list_contains($1, table_name)", [sorted(read)]
    )
    return [report for (report,) in found.fetchall()]
