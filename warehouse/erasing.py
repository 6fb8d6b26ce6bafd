"""How is a person taken out of what is kept? Landing files rewritten, rows emptied, old versions removed.

Every step may be killed and run again: what is done already is found to be done.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.landing import Landed, Landing
from warehouse.landing_writer import LandingWriter
from warehouse.opening import opened, quoted, wal
from warehouse.persons import Person
from warehouse.versions import Versions

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

REWRITTEN = "erased"
"""What the header of a landing file says when a person was taken out of it."""

Pair = tuple[str, str]


@dataclass(frozen=True)
class Rewritten:
    """Landing files after the erasure: those that held the person, and all that may be new to the ledger."""

    held: tuple[Landed, ...]
    marked: tuple[Landed, ...]

    @property
    def pairs(self) -> set[Pair]:
        """The reports and customers whose rows were in a file that held the person."""
        return {(one.header["report"], one.header["customer"]) for one in self.held}


def erase_landing(root: Path, person: Person) -> Rewritten:
    """Rewrite every landing file in which the id stands; a damaged one raises: nobody can look into it."""
    landing = Landing(root)
    held, marked = [], []
    for path in landing.paths():
        landed = landing.landed(path)
        answers = list(landing.read(path))
        if any(_stands_in(person, meta, body) for meta, body in answers):
            landed = _rewrite(landing, landed, answers, person)
            held.append(landed)
        if landed.header.get(REWRITTEN):
            marked.append(landed)
    return Rewritten(tuple(held), tuple(marked))


def settle_ledger(connection: DuckDBPyConnection, rewritten: Rewritten) -> None:
    """Let the ledger expect the files as they are now."""
    for one in rewritten.marked:
        connection.execute(
            "UPDATE meta.loads SET sha256 = $1 WHERE landing = $2 AND sha256 <> '' AND sha256 <> $1",
            [one.sha256, one.path],
        )


def erase_rows(connection: DuckDBPyConnection, person: Person) -> Counter[str]:
    """Empty the person's fields in every table, history and quarantine; counts the rows it touched."""
    touched: Counter[str] = Counter()
    for table, columns in _texts(connection, "bi"):
        for named in filter(person.is_meant, columns):
            along = [quoted(name) for name in columns if name != named and person.takes_along(name, named)]
            emptied = "".join(f", {name} = NULL" for name in along)
            changed = connection.execute(
                f"UPDATE {table} SET {quoted(named)} = $1{emptied} WHERE {quoted(named)} = $2",
                [person.alias, person.id],
            ).fetchall()
            touched[table] += changed[0][0]
    touched["meta.quarantine_rows"] = _erase_quarantine(connection, person)
    _erase_asked(connection, person)
    connection.execute("UPDATE meta.storage SET has_traces = true")
    return +touched


def rows_with(connection: DuckDBPyConnection, person: Person) -> tuple[set[Pair], dict[str, int]]:
    """The reports and customers of which some row names the person, and how many rows of each table do."""
    report_of = dict(connection.execute("SELECT table_name, report FROM meta.tables").fetchall())
    pairs: set[Pair] = set()
    rows: Counter[str] = Counter()
    for table, columns in _texts(connection, "bi"):
        named = [quoted(name) for name in columns if person.is_meant(name)]
        report = report_of.get(table.removeprefix('bi."').removesuffix('"').removesuffix("_history"))
        if named and report and "_customer" in columns:
            found = connection.execute(
                f"SELECT _customer, count(*) FROM {table} WHERE list_contains([{', '.join(named)}], $1) "
                "GROUP BY ALL",
                [person.id],
            )
            for customer, number in found.fetchall():
                pairs.add((report, customer))
                rows[table] += number
    return pairs, dict(rows)


def clear_versions(data_dir: Path, person: Person) -> list[str]:
    """Remove the kept versions with the person, the published one excepted; answers their names."""
    versions = Versions(data_dir)
    current = versions.current()
    gone = [one for one in versions.kept() if one != current and holds(versions.path(one), person)]
    for version in gone:
        versions.path(version).unlink(missing_ok=True)
        wal(versions.path(version)).unlink(missing_ok=True)
    return gone


def holds(path: Path, person: Person) -> bool:
    """Whether the id stands anywhere in the texts of a DuckDB file."""
    if not path.exists():
        return False
    with opened(path, read_only=True) as connection:
        for schema in ("bi", "marts", "meta"):
            for table, columns in _texts(connection, schema):
                texts = ", ".join(quoted(name) for name in columns)
                query = f"SELECT 1 FROM {table} WHERE list_contains([{texts}], $1) LIMIT 1"
                if columns and connection.execute(query, [person.id]).fetchall():
                    return True
    return False


def _stands_in(person: Person, meta: Mapping[str, Any], body: bytes) -> bool:
    return person.id.encode() in body or person.id in json.dumps(meta, ensure_ascii=False)


def _rewrite(
    landing: Landing, landed: Landed, answers: Iterable[tuple[dict[str, Any], bytes]], person: Person
) -> Landed:
    header = {**_without(landed.header, person), REWRITTEN: True}
    writer = LandingWriter(landing.root, Path(landed.path), header)
    for meta, body in answers:
        writer.add(_without(meta, person), person.without(body.decode("utf-8", "replace")).encode())
    writer.close(landed.trailer)
    return landing.landed(landed.path)


def _without(said: Mapping[str, Any], person: Person) -> dict[str, Any]:
    text = json.dumps(dict(said), ensure_ascii=False)
    found: dict[str, Any] = json.loads(text.replace(person.id, person.alias))
    return found


def _erase_quarantine(connection: DuckDBPyConnection, person: Person) -> int:
    found = connection.execute(
        "SELECT rowid, raw FROM meta.quarantine_rows WHERE contains(raw, $1)", [person.id]
    ).fetchall()
    for place, raw in found:
        connection.execute(
            "UPDATE meta.quarantine_rows SET raw = $1, reason = replace(reason, $2, $3) WHERE rowid = $4",
            [person.without(raw), person.id, person.alias, place],
        )
    return len(found)


def _erase_asked(connection: DuckDBPyConnection, person: Person) -> None:
    names = [person.id, person.alias]
    connection.execute("UPDATE meta.history_scopes SET asked = $2 WHERE asked = $1", names)
    renamed = "list_transform(asked, lambda one: CASE one WHEN $1 THEN $2 ELSE one END)"
    connection.execute(f"UPDATE meta.loads SET asked = {renamed} WHERE list_contains(asked, $1)", names)


def _texts(connection: DuckDBPyConnection, schema: str) -> Iterator[tuple[str, list[str]]]:
    """Every table of a schema with its columns of text."""
    found = connection.execute(
        """
        SELECT table_name, list(column_name ORDER BY column_index) FROM duckdb_columns()
        WHERE schema_name = $1 AND database_name = current_database() AND data_type = 'VARCHAR'
          AND table_name IN (SELECT table_name FROM duckdb_tables() WHERE schema_name = $1)
        GROUP BY table_name ORDER BY table_name
        """,
        [schema],
    ).fetchall()
    for table, columns in found:
        yield f"{schema}.{quoted(table)}", columns
