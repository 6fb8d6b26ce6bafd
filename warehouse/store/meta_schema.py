"""Tables and views of schema meta, created from the files in sql/meta."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.errors import ReplayNeeded, WarehouseError
from warehouse.store.duckdb_file import insert_rows, literal, mappings, quoted

FORMAT = 35
"""Increment this if a statement in sql/meta/tables or views changes: a replay then rebuilds older files.
A change of a query in sql/meta itself needs no increment, because every publication recreates its view."""

SQL = Path(__file__).resolve().parents[2] / "sql" / "meta"

SECTIONS = ("Columns", "Severity", "Blocks", "Concerns", "Parameters", "Kind", "Key", "For each")
_ENTRY = re.compile(r" {3}(\S[^:]*): (.*)")

SWITCHES = {"customers": ("customer", "is_active"), "reports": ("report", "is_on")}
"""Tables of configured customers and reports, each with its key and its on/off column."""


def create_meta(connection: DuckDBPyConnection) -> None:
    """Create the schemas, tables and views of a new file."""
    connection.execute(
        "CREATE SCHEMA bi; CREATE SCHEMA meta; CREATE SCHEMA marts;"
        f"{';'.join(_definitions().values())};"
        f"INSERT INTO meta.storage (format, has_traces, is_rehearsal) VALUES ({FORMAT}, false, false)"
    )


def check_format(connection: DuckDBPyConnection, path: Path) -> None:
    """Raise ReplayNeeded if a file has an older format, and WarehouseError if it has a newer one or none."""
    try:
        [(stored,)] = connection.execute("SELECT format FROM meta.storage").fetchall()
    except duckdb.CatalogException as error:
        raise WarehouseError(f"{path} is not a working file of this project; move it away.") from error
    formats = f"{path} has format {stored}, but this version of brokerbi uses format {FORMAT}"
    if stored < FORMAT:
        raise ReplayNeeded(f"{formats}; run `brokerbi replay`, which rebuilds it, then `brokerbi publish`.")
    if stored > FORMAT:
        raise WarehouseError(f"{formats}; install the version that wrote it.")


def replace_rows(
    connection: DuckDBPyConnection, table: str, rows: Sequence[Mapping[str, object]], key: Sequence[str]
) -> None:
    """Insert rows into a table of meta, replacing those with the same `key`."""
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
    """Replace the rows of a table of meta, unless they equal the `configured` ones: writes cost a checkpoint.

    Customers and reports that only meta.loads has are added as switched off.
    """
    if table in SWITCHES:
        key, switch = SWITCHES[table]
        names = [row[key] for row in configured]
        only_loaded = connection.execute(
            f"SELECT DISTINCT {key} FROM meta.loads WHERE NOT list_contains($1, {key})", [names]
        )
        configured = [*configured, *({key: name, switch: False} for (name,) in only_loaded.fetchall())]
    stored = connection.execute(f"FROM meta.{table}")
    columns = [column for column, *_ in stored.description or ()]
    rows = [{column: row.get(column) for column in columns} for row in configured]
    if {*stored.fetchall()} != {tuple(row.values()) for row in rows}:
        connection.execute(f"DELETE FROM meta.{table}")
        insert_rows(connection, f"meta.{table}", rows)


def record_rehearsal(connection: DuckDBPyConnection, *, is_rehearsal: bool) -> None:
    """Record whether the latest run was a rehearsal, that is, run as if on another day."""
    connection.execute(
        "UPDATE meta.storage SET is_rehearsal = $1 WHERE is_rehearsal IS DISTINCT FROM $1", [is_rehearsal]
    )


def late_after() -> timedelta:
    """How long expected data may be missing before it is late, from meta.deadlines."""
    return timedelta(hours=constants("deadlines")[0]["late_after_hours"])


@cache
def constants(view: str) -> Sequence[Mapping[str, Any]]:
    """The rows of a view of meta that reads no table; they are the same in any file."""
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA meta; " + _definitions()[view])
        return mappings(connection.execute(f"FROM meta.{view}"))


def naive_utc(time: datetime) -> datetime:
    """A time in UTC without its time zone, as our _utc columns store it."""
    return time.astimezone(UTC).replace(tzinfo=None)


def aware(time: datetime) -> datetime:
    """A time from our _utc columns, with UTC as its time zone."""
    return time.replace(tzinfo=UTC)


@cache
def _definitions() -> Mapping[str, str]:
    """The statements that create the tables and views of meta, by name; tables come first."""
    files = [path for folder in ("tables", "views") for path in sorted((SQL / folder).glob("*.sql"))]
    statements = {path.stem: _with_comments(path) for path in files}
    for path in sorted(SQL.glob("*.sql")):
        query = path.read_text(encoding="utf-8")
        statements[path.stem] = f"CREATE OR REPLACE VIEW meta.{path.stem} AS {query}"
    return statements


def _with_comments(path: Path) -> str:
    """The statement that creates a table or view, with statements that add the comments of its header.

    Prose after an empty line of the header is for developers, so it is left out.
    """
    text = path.read_text(encoding="utf-8")
    prose, sections = read_header(text)
    kind, name = path.parent.name.removesuffix("s").upper(), f"meta.{path.stem}"
    return "\n".join(
        [
            text,
            f"COMMENT ON {kind} {name} IS {literal(' '.join(takewhile(bool, prose)))};",
            *(
                f"COMMENT ON COLUMN {name}.{quoted(column)} IS {literal(words)};"
                for column, words in entries(sections["Columns"]).items()
            ),
        ]
    )


def read_header(text: str) -> tuple[Sequence[str], Mapping[str, Sequence[str]]]:
    """The prose of a SQL file's header, line by line, and the lines of each of its sections."""
    prose: list[str] = []
    sections: dict[str, list[str]] = {name: [] for name in SECTIONS}
    lines = prose
    for comment in takewhile(lambda line: line.startswith("--"), text.splitlines()):
        line = comment[2:]
        name, colon, rest = line.strip().partition(":")
        if colon and name in sections and not line.startswith("  "):
            lines, line = sections[name], rest
        if lines is prose:
            prose.append(line.strip())
        elif line.strip():
            lines.append(line)
    return prose, sections


def entries(lines: Iterable[str]) -> dict[str, str]:
    """The words of a section, by name. An entry is `   name: words`; the lines below continue its words."""
    words: dict[str, str] = {}
    name = ""
    for line in lines:
        if entry := _ENTRY.fullmatch(line):
            name = entry[1]
            words[name] = entry[2]
        elif name:
            words[name] += " " + line.strip()
    return words
