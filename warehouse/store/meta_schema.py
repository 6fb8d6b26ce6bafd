"""Tables and views of schema meta: made from sql/meta, brought up to date, and written to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.errors import WarehouseError
from warehouse.store.duckdb_file import insert_rows, mappings, quoted, run_definitions

FORMAT = 21
"""Raised whenever something in sql/meta/tables or views changes: a file of an older format gets what it
lacks, one of this format is opened as it is. Every publication describes the queries beside them anew."""

SQL = Path(__file__).resolve().parents[2] / "sql" / "meta"

SWITCHES = {"customers": ("customer", "is_active"), "reports": ("report", "is_on")}
"""The tables of what is configured: whose rows they are, and the column that says whether it is asked for."""


def statements() -> Iterator[str]:
    """Everything that a new file begins with; harmless where it exists already."""
    yield from (f"CREATE SCHEMA IF NOT EXISTS {schema}" for schema in ("bi", "meta", "marts"))
    yield from _definitions().values()
    yield (
        "INSERT INTO meta.storage (format, has_traces, is_rehearsal) "
        f"SELECT {FORMAT}, false, false WHERE NOT EXISTS (FROM meta.storage)"
    )
    yield f"UPDATE meta.storage SET format = {FORMAT}"


def complete(connection: DuckDBPyConnection) -> None:
    """Give a file that an earlier version made the tables and views of meta that it lacks."""
    for column in ("path VARCHAR", "is_awaited BOOLEAN", "first_month DATE", "last_month DATE"):
        connection.execute(f"ALTER TABLE IF EXISTS meta.reports ADD COLUMN IF NOT EXISTS {column}")
    found = connection.execute(
        """
        SELECT name FROM (
            SELECT database_name, schema_name, table_name AS name FROM duckdb_tables() UNION ALL
            SELECT database_name, schema_name, view_name AS name FROM duckdb_views()
        ) WHERE schema_name = 'meta' AND database_name = current_database()
        """
    )
    definitions = _definitions()
    if not definitions.keys() <= {name for (name,) in found.fetchall()}:
        run_definitions(connection, list(definitions.values()))


def format_of(connection: DuckDBPyConnection, path: Path) -> int:
    """The format of the open file's ledger; raises WarehouseError for one that this version cannot know."""
    try:
        [(found,)] = connection.execute("SELECT format FROM meta.storage").fetchall()
    except duckdb.CatalogException as error:
        raise WarehouseError(f"{path} is not a working file of this project; put it aside.") from error
    if not 0 < found <= FORMAT:
        raise WarehouseError(
            f"{path} keeps its ledger in format {found}, and this version of brokerbi in format {FORMAT}; "
            "install the version that wrote it, or put the file aside and run `brokerbi replay` to rebuild "
            "it from landing."
        )
    return int(found)


def upgrade(connection: DuckDBPyConnection) -> None:
    """Give a file of an older format the tables and columns that it lacks; what is in it stays.

    Until format 2 the rows in quarantine were kept as they came. Landing has them as well, so only a
    fingerprint stays; the next publication clears the free space of the file.
    """
    for table, columns in _columns_of_new_file().items():
        for name, type_ in columns.items():
            connection.execute(
                f"ALTER TABLE IF EXISTS meta.{table} ADD COLUMN IF NOT EXISTS {quoted(name)} {type_}"
            )
    if "raw" in _columns(connection).get("quarantine_rows", {}):
        connection.execute("UPDATE meta.quarantine_rows SET fingerprint = left(sha256(raw), 32)")
        connection.execute("ALTER TABLE meta.quarantine_rows DROP COLUMN raw")
        connection.execute("UPDATE meta.storage SET has_traces = true")
    split_agent_ids(connection)
    connection.execute("DROP TABLE IF EXISTS meta.column_lineage")  # until format 15
    connection.execute("ALTER TABLE meta.storage DROP COLUMN IF EXISTS column_lineage_sha256")
    for statement in statements():
        connection.execute(statement)


AGENT_IDS_SPLIT = "string_split(agent_ids, ', ')"
"""The list of the agents of a remembered sale, from the one text that they were until format 18."""


def split_agent_ids(connection: DuckDBPyConnection) -> None:
    """Make a list of the agents of a remembered sale in a file of format 18 or older."""
    if _columns(connection).get("sale_versions", {}).get("agent_ids") == "VARCHAR":
        connection.execute(
            f"ALTER TABLE meta.sale_versions ALTER agent_ids TYPE VARCHAR[] USING {AGENT_IDS_SPLIT}"
        )


def replace_rows(
    connection: DuckDBPyConnection, table: str, rows: Sequence[Mapping[str, object]], key: Sequence[str]
) -> None:
    """Insert rows into a table of meta, after deleting those that agree with a new one in `key`."""
    if rows:
        new = ", ".join(f"unnest(${number}) AS {quoted(name)}" for number, name in enumerate(key, 1))
        same = " AND ".join(f"old.{quoted(name)} IS NOT DISTINCT FROM new.{quoted(name)}" for name in key)
        connection.execute(
            f"DELETE FROM meta.{table} AS old USING (SELECT {new}) AS new WHERE {same}",
            [[row[name] for row in rows] for name in key],
        )
        insert_rows(connection, f"meta.{table}", rows)


def write_configured(
    connection: DuckDBPyConnection, table: str, configured: Sequence[Mapping[str, object]]
) -> None:
    """Write the customers or reports down in place of what they were; what only the ledger knows is off.

    Nothing is written unless something differs: a write of any size costs a checkpoint.
    """
    complete(connection)
    key, switch = SWITCHES[table]
    loaded = connection.execute(f"SELECT DISTINCT {key} FROM meta.loads").fetchall()
    found = connection.execute(f"FROM meta.{table}")
    columns = [column for column, *_ in found.description or ()]
    known = {one[key]: one for one in configured}
    for (one,) in loaded:
        known.setdefault(one, {key: one, switch: False})
    rows = [{column: one.get(column) for column in columns} for one in known.values()]
    if set(found.fetchall()) != {tuple(row.values()) for row in rows}:
        connection.execute(f"DELETE FROM meta.{table}")
        insert_rows(connection, f"meta.{table}", rows)


def write_declared(connection: DuckDBPyConnection, table: str, *values: object) -> None:
    """Write down what the settings declare, the one row of a table of meta, unless it is there already."""
    complete(connection)
    if connection.execute(f"FROM meta.{table}").fetchall() != [values]:
        connection.execute(f"DELETE FROM meta.{table}")
        places = ", ".join(f"${number}" for number in range(1, len(values) + 1))
        connection.execute(f"INSERT INTO meta.{table} VALUES ({places})", [*values])


def note_rehearsal(connection: DuckDBPyConnection, *, is_rehearsal: bool) -> None:
    """Note whether the latest run took another day for today."""
    connection.execute(
        "UPDATE meta.storage SET is_rehearsal = $1 WHERE is_rehearsal IS DISTINCT FROM $1", [is_rehearsal]
    )


def late_after() -> timedelta:
    """How long nothing may come of what is awaited, as meta.deadlines says."""
    return timedelta(hours=constants("deadlines")[0]["late_after_hours"])


@cache
def constants(view: str) -> Sequence[Mapping[str, Any]]:
    """The rows of a view of meta that reads nothing: what it says of any file."""
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA meta; " + _definitions()[view])
        return mappings(connection.execute(f"FROM meta.{view}"))


def naive_utc(moment: datetime) -> datetime:
    """A moment as our _utc columns hold it."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def aware(moment: datetime) -> datetime:
    """A moment of one of our _utc columns, with its time zone."""
    return moment.replace(tzinfo=UTC)


@cache
def _definitions() -> Mapping[str, str]:
    """The statement of every table of meta, then of every view that reads them, by name.

    Of a query that each publication describes anew there is a view from the start.
    """
    files = [path for folder in ("tables", "views") for path in sorted((SQL / folder).glob("*.sql"))]
    found = {path.stem: path.read_text(encoding="utf-8") for path in files}
    for path in sorted(SQL.glob("*.sql")):
        query = path.read_text(encoding="utf-8")
        found[path.stem] = f"CREATE OR REPLACE VIEW meta.{path.stem} AS {query}"
    return found


def _columns_of_new_file() -> dict[str, dict[str, str]]:
    with duckdb.connect() as connection:
        for statement in statements():
            connection.execute(statement)
        return _columns(connection)


def _columns(connection: DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """The columns of every table of meta, with their types."""
    found = connection.execute(
        """
        SELECT table_name, column_name, data_type
        FROM duckdb_columns() JOIN duckdb_tables() USING (database_name, schema_name, table_name)
        WHERE database_name = current_database() AND schema_name = 'meta' ORDER BY table_name, column_index
        """
    )
    columns: dict[str, dict[str, str]] = {}
    for table, column, type_ in found.fetchall():
        columns.setdefault(table, {})[column] = type_
    return columns
