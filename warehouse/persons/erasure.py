"""Erasure of a person from tables, request log and published files; landing has a module of its own.

The steps are in the order in which `erase` (pipelines/upkeep/erase.py) takes them. Each may be killed and
repeated: what is done already is found to be done, and what was known of the person at the beginning is
remembered in a record until the end (erasure_record.py).
"""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duckdb import DuckDBPyConnection

from warehouse.errors import WarehouseError
from warehouse.load.landing import Landing
from warehouse.marts.build import MEMORY
from warehouse.persons.person import Person
from warehouse.persons.personal_data import is_id_of
from warehouse.persons.rebuild import REBUILDING
from warehouse.publishing.retention import rewrite_file
from warehouse.store.database import Store
from warehouse.store.duckdb_file import connect, literal, quoted
from warehouse.store.files import (
    PRIVATE_FILE,
    SHARED_FILE,
    copy_file,
    header_sha256,
    is_of_living_process,
    remove,
    replacement,
)
from warehouse.store.schema import BETWEEN_IDS, VALID, TableSchema, describe, read_tables
from warehouse.store.versions import Versions

if TYPE_CHECKING:
    from warehouse.handed_over import Documented

Erased = str | list[str] | None
"""What a value of a table becomes."""
Pair = tuple[str, str]
"""A report's name and a customer's id."""
ROWID = "rowid::VARCHAR"
SCHEMAS = ("bi", "marts", "meta")
PUSHES = "budget_pushes"
"""A table of meta that has ids of persons, as the memory has; ids in others are of loads."""
_TEXTS = ("VARCHAR", "JSON", "VARCHAR[]")
_OWNERS = ("_customer", "customer")
ROWS_AT_ONCE = 50_000


@dataclass(frozen=True)
class DocumentedTables:
    """What the catalogue says of personal data: the documented columns of every table of bi."""

    columns: Mapping[str, Documented]

    def of(self, schema: str, table: str) -> Documented:
        """The documented columns of a table; a history has those of its report."""
        return self.columns.get(table.removesuffix("_history"), {}) if schema == "bi" else {}

    @property
    def personal(self) -> Documented:
        """The columns of all tables that are about persons, for answers whose tables are not known."""
        all_columns = (column for table in self.columns.values() for column in table.values())
        return {column.name: column for column in all_columns if column.personal or column.id_of}


def find_in_tables(
    connection: DuckDBPyConnection, person: Person, tables: DocumentedTables
) -> tuple[Person, set[Pair], dict[str, int]]:
    """The person with the values that rows tell, whose reports and customers they are, and rows by table."""
    report_of = dict(connection.execute("SELECT table_name, report FROM meta.tables").fetchall())
    values, pairs, rows = set(person.values), set[Pair](), Counter[str]()
    for row in _rows_about(connection, "bi", person, tables):
        values |= set(person.values_in(row.values, row.documented))
        report = report_of.get(row.table.removesuffix("_history"))
        if report and "_customer" in row.values and person.ids_in(row.values, row.documented):
            pairs.add((report, row.values["_customer"]))
            rows[f"bi.{quoted(row.table)}"] += 1
    customers = person.customers | {customer for _, customer in pairs}
    return replace(person, values=frozenset(values), customers=customers), pairs, dict(rows)


def erase_names(connection: DuckDBPyConnection, person: Person, tables: DocumentedTables) -> int:
    """Rename the columns and tables that are named after the person; answers how many there were.

    A key of an answer becomes such a name where its members are no rows. The next answer of the same, without
    the person, brings the same new name.
    """
    renamed = _renamed(connection, person, tables)
    if not renamed:
        return 0
    names: dict[str, str] = {}
    for schema, table, columns in renamed:
        for old, new in columns.items():
            connection.execute(f"ALTER TABLE {schema.stored} RENAME COLUMN {quoted(old)} TO {quoted(new)}")
            connection.execute(
                f"COMMENT ON COLUMN {schema.stored}.{quoted(new)} IS NULL"
            )  # it has the source
        if table != schema.name:
            new_schema = replace(schema, name=table)
            connection.execute(f"ALTER TABLE {schema.stored} RENAME TO {quoted(new_schema.stored_name)}")
            if schema.history:
                connection.execute(f"DROP VIEW IF EXISTS {schema.public}")
                connection.execute(f"DROP MACRO TABLE IF EXISTS bi.{quoted(f'{schema.name}_as_of')}")
            names |= {schema.name: table, f"{schema.name}_history": f"{table}_history"}
        names |= columns
    _rename_in_meta(connection, person, names)
    described = read_tables(connection)
    describe(connection, [described[table.lower()] for _, table, _ in renamed])
    return sum(len(columns) + (table != schema.name) for schema, table, columns in renamed)


def erase_tables(connection: DuckDBPyConnection, person: Person, tables: DocumentedTables) -> Counter[str]:
    """Erase the person from every table; counts by table the values that the alias is in now."""
    touched: Counter[str] = Counter()
    for schema in SCHEMAS:
        updates: dict[tuple[str, str, tuple[str, ...]], list[Sequence[object]]] = {}
        for row, changed in _changes(connection, schema, person, tables):
            name = f"{schema}.{quoted(row.table)}"
            of_row = [row.place, *changed.values()]
            updates.setdefault((name, row.told_apart_by, tuple(changed)), []).append(of_row)
            touched[name] += sum(value is not None for value in changed.values())
        for (name, told_apart_by, columns), rows in updates.items():
            _update(connection, name, told_apart_by, columns, rows)
    ids = sorted(person.ids)
    renamed = "list_transform(asked, lambda one: CASE WHEN list_contains($1, one) THEN $2 ELSE one END)"
    apart = f"string_split({{}}, '{BETWEEN_IDS}')"
    together = f"array_to_string({renamed.replace('asked', apart)}, '{BETWEEN_IDS}')"
    connection.execute(
        f"UPDATE meta.history_scopes SET asked = {together.format('asked')} "
        f"WHERE list_has_any({apart.format('asked')}, $1)",
        [ids, person.alias],
    )
    connection.execute(
        f"UPDATE meta.loads SET asked = list_transform(asked, lambda id: {together.format('id')}) "
        f"WHERE list_has_any(string_split(array_to_string(asked, '{BETWEEN_IDS}'), '{BETWEEN_IDS}'), $1)",
        [ids, person.alias],
    )
    connection.execute(
        f"UPDATE meta.sale_versions SET agent_ids = {renamed.replace('asked', 'agent_ids')} "
        "WHERE list_has_any(agent_ids, $1)",
        [ids, person.alias],
    )
    sys.audit("brokerbi.tables_erased")
    return +touched


def drop_marts(connection: DuckDBPyConnection) -> None:
    """Take all marts away, before the file is rewritten: they are built anew from rows without the person."""
    connection.execute("DROP SCHEMA IF EXISTS marts CASCADE; CREATE SCHEMA marts")


def leave_traces(connection: DuckDBPyConnection) -> None:
    """Say that deleted data is in the free space of the file: it must be rewritten, not copied."""
    connection.execute("UPDATE meta.storage SET has_traces = true")


def was_published(data_dir: Path, person: Person, tables: DocumentedTables) -> bool:
    """Whether the person is in a table of the published file or of a kept version.

    A file that cannot be read counts as if.
    """
    versions = Versions(data_dir)
    paths = (versions.published, *map(versions.path, versions.kept()))
    for path in filter(Path.exists, paths):
        try:
            with connect(path, read_only=True) as connection:
                for schema in SCHEMAS:
                    if any(True for _ in _changes(connection, schema, person, tables)):
                        return True
                if _renamed(connection, person, tables):
                    return True
        except WarehouseError:
            return True
    return False


def clean_published(data_dir: Path, person: Person, tables: DocumentedTables, now: datetime) -> str:
    """Publish the file that analysts see now again, without the person; answers the new version's name.

    For when a failing check prevents publishing what was loaded since.
    """
    versions = Versions(data_dir)
    version = versions.next(now)
    copy = versions.folder / ".unfinished.duckdb"
    unfinished = copy.with_name(".unfinished-rewritten.duckdb")
    try:
        remove(copy)
        copy_file(versions.published, copy)
        copy.chmod(PRIVATE_FILE)
        with (
            replacement(versions.path(version), mode=SHARED_FILE, unfinished=unfinished) as rewritten,
            connect(copy) as connection,
        ):
            erase_names(connection, person, tables)
            erase_tables(connection, person, tables)
            rewrite_file(connection, rewritten)
    finally:
        remove(copy)
    former = versions.current()
    versions.show(version)
    with Store(data_dir).writing() as connection:
        connection.execute(
            "UPDATE meta.publications SET name = $1, bytes = $2, header_sha256 = $3 WHERE name = $4",
            [version, versions.published.stat().st_size, header_sha256(versions.published), former],
        )
    return version


def clear_versions(data_dir: Path) -> list[str]:
    """Remove the kept versions, the published one excepted; answers their names.

    Rows that were deleted before a version was copied may be in its free space, where nobody can look.
    """
    versions = Versions(data_dir)
    current = versions.current()
    gone = [one for one in versions.kept() if one != current]
    for version in gone:
        remove(versions.path(version))
    return gone


def clean_logs(data_dir: Path, person: Person) -> int:
    """Overwrite the person in the request log, in place, as another process may be writing to it."""
    changed = 0
    for path in sorted((data_dir / "work").glob("requests.log*")):
        at = 0
        with path.open("r+b") as file:
            for line in file.read().splitlines(keepends=True):
                text = line.decode("utf-8", "surrogateescape")
                for begin, end in person.places_in(text):
                    before, found = (
                        one.encode("utf-8", "surrogateescape") for one in (text[:begin], text[begin:end])
                    )
                    file.seek(at + len(before))
                    file.write(b"x" * len(found))
                    changed += 1
                at += len(line)
    return changed


def clear_leftovers(data_dir: Path) -> tuple[int, int]:
    """Remove what killed processes left behind; answers how much, and how much is being written."""
    removed, being_written = Landing(data_dir / "landing").clear_unfinished()
    shutil.rmtree(data_dir / "work" / REBUILDING, ignore_errors=True)
    for path in data_dir.rglob(".*.new"):
        if not is_of_living_process(path):
            path.unlink(missing_ok=True)
            removed += 1
    return removed, being_written


def run_files_with(folder: Path, person: Person) -> list[str]:
    """The files of Dagster's runs, below a folder, that hold the person."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [
        path.relative_to(folder).as_posix()
        for path in files
        if next(person.places_in(path.read_text("utf-8", "surrogateescape")), None)
    ]


def _renamed(
    connection: DuckDBPyConnection, person: Person, tables: DocumentedTables
) -> list[tuple[TableSchema, str, dict[str, str]]]:
    """Every table that is named after the person, or has columns that are: its new name, and theirs."""
    found = []
    known = read_tables(connection)
    taken = set(known)
    for schema in filter(lambda one: one.exists, known.values()):
        table = schema.name if schema.name in tables.columns else person.erase_name(schema.name)
        table = schema.name if table == schema.name else _free(table, taken)
        used, columns = {*schema.columns, *map(str.lower, {**schema.ours, **VALID})}, {}
        for column in schema.columns.values():
            if not column.documented and person.erase_text(column.source) != column.source:
                name = person.erase_name(column.name)
                name = _free(person.name_of((person.alias,)) if name == column.name else name, used)
                columns[column.name] = name
        if columns or table != schema.name:
            found.append((schema, table, columns))
    return found


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number where it is taken; it is then."""
    names = chain([name], (f"{name}_{number}" for number in count(2)))
    free = next(one for one in names if one.lower() not in taken)
    taken.add(free.lower())
    return free


def _rename_in_meta(connection: DuckDBPyConnection, person: Person, names: Mapping[str, str]) -> None:
    """Let what meta says of columns and tables go by their new names, and by no place with the person."""
    pattern = re.compile(
        rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})(?!\w)"
    )

    def erased(value: Any) -> Any:
        if isinstance(value, list):
            return [erased(one) for one in value]
        return pattern.sub(lambda match: names[match[0]], value) if isinstance(value, str) else value

    for table, columns in _text_columns(connection, "meta").items():
        name = f"meta.{quoted(table)}"
        found = connection.execute(
            f"SELECT {ROWID}, {', '.join(map(quoted, columns))} FROM {name} "
            f"WHERE list_bool_or([contains(concat_ws(' ', {_listed(columns)}), one) FOR one IN $1])",
            [list(names)],
        ).fetchall()
        rows = []
        for number, *values in found:
            new = [
                erased(person.erase_text(value) if value and column in ("source", "description") else value)
                for column, value in zip(columns, values, strict=True)
            ]
            rows.append([number, *new])
        if rows:
            _update(connection, name, ROWID, tuple(columns), rows)


def _text_columns(connection: DuckDBPyConnection, schema: str) -> dict[str, dict[str, str]]:
    """The columns of every table of a schema that hold texts, with their types."""
    found: dict[str, dict[str, str]] = {}
    for table, column, type_ in connection.execute(
        """
        SELECT table_name, column_name, data_type
        FROM duckdb_columns() JOIN duckdb_tables() USING (database_name, schema_name, table_name)
        WHERE schema_name = $1 AND database_name = current_database() AND list_contains($2, data_type)
        ORDER BY table_name, column_index
        """,
        [schema, [*_TEXTS]],
    ).fetchall():
        found.setdefault(table, {})[column] = type_
    return found


@dataclass(frozen=True)
class _FoundRow:
    """A row that may hold the person: where it is, and which of its columns are JSON.

    `told_apart_by` is SQL that has another value for every row of the table, and `place` the one of this row.
    """

    table: str
    told_apart_by: str
    place: str
    values: dict[str, Any]
    documented: Documented


def _rows_about(
    connection: DuckDBPyConnection, schema: str, person: Person, tables: DocumentedTables
) -> Iterator[_FoundRow]:
    """Rows of a schema with the id or one of the values; nothing else may be executed until they are read."""
    found = connection.execute(
        """
        SELECT table_name, list(column_name ORDER BY column_index), list(data_type ORDER BY column_index)
        FROM duckdb_columns() WHERE schema_name = $1 AND database_name = current_database()
          AND table_name IN (SELECT table_name FROM duckdb_tables() WHERE schema_name = $1)
        GROUP BY table_name ORDER BY table_name
        """,
        [schema],
    ).fetchall()
    for table, names, types in found:
        documented = tables.of(schema, table)
        type_of = dict(zip(names, types, strict=True))
        texts = [name for name in names if type_of[name] in _TEXTS]
        documents = [name for name in names if type_of[name] == "JSON"]
        ids = [name for name in names if is_id_of(person.kind, name, documented)]
        if not (texts or ids) or not connection.execute(f"FROM {schema}.{quoted(table)} LIMIT 1").fetchall():
            continue
        told_apart_by = _told_apart_by(schema, names)
        whole = f"concat_ws(' ', {_listed(texts)})"
        written = " ".join(f"OR regexp_matches({whole}, {literal(one)})" for one in person.patterns)
        connection.execute(
            f"SELECT {told_apart_by}, * FROM {schema}.{quoted(table)} "
            f"WHERE list_has_any([{_listed(ids + texts)}], $1) "
            f"OR list_bool_or([contains(concat_ws(' ', {_listed(documents)}), _id) FOR _id IN $1]) {written}",
            [sorted(person.ids)],
        )
        while rows := connection.fetchmany(ROWS_AT_ONCE):
            for place, *row in rows:
                whole_row = dict(zip(names, row, strict=True))
                yield _FoundRow(table, told_apart_by, place, whole_row, documented)


def _told_apart_by(schema: str, names: Sequence[str]) -> str:
    """SQL that tells the rows of a table apart; in bi `rowid` may be a column of the service's."""
    ours = [name for name in ("_row", *VALID) if name in names]
    return f"concat_ws(' ', {', '.join(ours)})" if schema == "bi" and "_row" in ours else ROWID


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(f"{quoted(name)}::VARCHAR" for name in columns) or "NULL"


def _changes(
    connection: DuckDBPyConnection, schema: str, person: Person, tables: DocumentedTables
) -> Iterator[tuple[_FoundRow, dict[str, Erased]]]:
    """Rows that an erasure changes, each with its changed columns."""
    by_id = replace(person, values=frozenset())
    for row in _rows_about(connection, schema, person, tables):
        owners = [row.values.pop(name) for name in _OWNERS if name in row.values]
        is_among = not owners or not person.customers or owners[0] in person.customers
        has_ids = schema != "meta" or row.table == PUSHES or f"marts.{row.table}" in MEMORY
        changed = (person if is_among else by_id).erase_row(row.values, row.documented, by_id=has_ids)
        if changed:
            yield row, changed


def _update(
    connection: DuckDBPyConnection,
    table: str,
    told_apart_by: str,
    columns: tuple[str, ...],
    rows: Iterable[Sequence[object]],
) -> None:
    """Set columns of rows that are given by their place: `rows` are the place and the values of each."""
    places, *values = (list(one) for one in zip(*rows, strict=True))
    types = [
        "VARCHAR[][]" if any(isinstance(one, list) for one in several) else "VARCHAR[]" for several in values
    ]
    new = ", ".join(f"unnest(${place}::{type_}) AS c{place}" for place, type_ in enumerate(types, 2))
    setting = ", ".join(f"{quoted(name)} = new.c{place}" for place, name in enumerate(columns, 2))
    connection.execute(
        f"UPDATE {table} SET {setting} FROM (SELECT unnest($1::VARCHAR[]) AS _place, {new}) AS new "
        f"WHERE {told_apart_by} = new._place",
        [places, *values],
    )
