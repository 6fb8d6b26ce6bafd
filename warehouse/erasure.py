"""Erasure of a person from all that is kept: landing, tables, request log and published files.

The steps are in the order in which `erase` (pipelines/operations/erase.py) takes them. Each may be killed and
repeated: what is done already is found to be done, and what was known of the person at the beginning is
remembered in a private note until the end.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duckdb import DuckDBPyConnection

from warehouse.duckdb_file import connect, quoted
from warehouse.errors import WarehouseError
from warehouse.files import PRIVATE_FILE, SHARED_FILE, copy_file, remove, replacement, write_file
from warehouse.landing import HELD, Landed, Landing, LandingWriter
from warehouse.marts import MEMORY
from warehouse.person import SHORTEST, Person, written_forms
from warehouse.personal_data import is_id_of
from warehouse.publish import Versions
from warehouse.rebuild import REBUILDING
from warehouse.retention import rewrite_file
from warehouse.schema import VALID

if TYPE_CHECKING:
    from warehouse.handed_over import Documented

Pair = tuple[str, str]
"""A report's name and a customer's id."""
SCHEMAS = ("bi", "marts", "meta")
REWRITTEN = "erased"
"""What the header of a landing file says when a person was erased from it."""
STILL_WRITTEN_SECONDS = 3600
"""An unfinished landing file that has not been touched for so long was left behind by a killed process."""
_TEXTS = ("VARCHAR", "JSON")
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


@dataclass(frozen=True)
class RewrittenLanding:
    """Landing files after an erasure: those that held the person, and all that may be new to the ledger."""

    held: tuple[Landed, ...]
    marked: tuple[Landed, ...]

    @property
    def pairs(self) -> set[Pair]:
        """The reports and customers whose rows were in a file that held the person."""
        return {(one.header["report"], one.header["customer"]) for one in self.held}


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


def find_in_landing(root: Path, person: Person, tables: DocumentedTables) -> Person:
    """The person with the values that landing tells, and the customers whose answers tell them."""
    landing, documented = Landing(root), tables.personal
    values, customers = set(person.values), set(person.customers)
    for path in (*landing.paths(), *landing.held()):
        texts = [body.decode("utf-8", "replace") for _, body in landing.read(path)]
        about = [text for text in texts if person.id in text]
        found = {value for text in about for value in person.values_in_json(text, documented)}
        if found:
            customers.add(landing.landed(path).header["customer"])
        values |= found
    return replace(person, values=frozenset(values), customers=frozenset(customers))


@contextmanager
def remembered(data_dir: Path, person: Person) -> Iterator[tuple[Person, bool]]:
    """The person with what a killed erasure knew of it, and whether there was one.

    The note is private, and removed when the body ends well.
    """
    name = hashlib.sha256(f"{person.kind}:{person.id}".encode()).hexdigest()[:16]
    note = data_dir / "work" / f".erasing-{name}.json"
    begun = note.exists()
    known: dict[str, Any] = json.loads(note.read_text("utf-8")) if begun else {}
    person = replace(
        person,
        alias=known.get("alias", person.alias),
        values=person.values | set(known.get("values", ())),
        customers=person.customers | set(known.get("customers", ())),
    )
    content = {
        "alias": person.alias,
        "values": sorted(person.values),
        "customers": sorted(person.customers),
    }
    for unfinished in note.parent.glob(f".{note.name}.*"):  # a process was killed while it wrote the note
        unfinished.unlink()
    write_file(note, json.dumps(content).encode())
    yield person, begun
    note.unlink()


def erase_landing(root: Path, person: Person, tables: DocumentedTables) -> RewrittenLanding:
    """Rewrite every landing file with data of the person; a damaged one raises: nobody can look into it."""
    landing, documented = Landing(root), tables.personal
    by_id = replace(person, values=frozenset())
    held, marked = [], []
    for path in (*landing.paths(), *landing.held()):
        landed = landing.landed(path)
        sought = person if landed.header["customer"] in person.customers else by_id
        answers = list(landing.read(path))
        erased = [(_without(meta, sought), _erased(body, sought, documented)) for meta, body in answers]
        if erased != answers:
            header = {**_without(landed.header, sought), REWRITTEN: True}
            writer = LandingWriter(landing.root, Path(landed.path.removesuffix(HELD)), header)
            for meta, body in erased:
                writer.add(meta, body)
            landed = writer.close(landed.trailer, held=landed.path.endswith(HELD))
            held.append(landed)
        if landed.header.get(REWRITTEN):
            marked.append(landed)
    return RewrittenLanding(tuple(held), tuple(marked))


def update_ledger(connection: DuckDBPyConnection, rewritten: RewrittenLanding) -> None:
    """Let the ledger expect the rewritten files, and the working file be rewritten before it is copied."""
    for one in rewritten.marked:
        connection.execute(
            "UPDATE meta.loads SET sha256 = $1 WHERE landing = $2 AND sha256 <> '' AND sha256 <> $1",
            [one.sha256, one.path],
        )
    leave_traces(connection)


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
    connection.execute(
        "UPDATE meta.history_scopes SET asked = $1 WHERE asked = $2", [person.alias, person.id]
    )
    renamed = "list_transform(asked, lambda one: CASE one WHEN $1 THEN $2 ELSE one END)"
    connection.execute(
        f"UPDATE meta.loads SET asked = {renamed} WHERE list_contains(asked, $1)", [person.id, person.alias]
    )
    return +touched


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
            erase_tables(connection, person, tables)
            rewrite_file(connection, rewritten)
    finally:
        remove(copy)
    versions.show(version)
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
        content = path.read_bytes()
        for value in sorted({person.id, *person.values}, key=len, reverse=True):
            for match in re.finditer(rb"(?<!\w)" + re.escape(value.encode()) + rb"(?!\w)", content):
                with path.open("r+b") as file:
                    file.seek(match.start())
                    file.write(b"x" * len(match[0]))
                changed += 1
    return changed


def clear_leftovers(data_dir: Path, now: float | None = None) -> tuple[int, int]:
    """Remove what killed processes left behind; answers how much, and how much may still be written."""
    landing = Landing(data_dir / "landing")
    limit = (now or time.time()) - STILL_WRITTEN_SECONDS
    left = [path for path in landing.unfinished() if path.exists()]
    old = [path for path in left if path.stat().st_mtime < limit]
    for path in old:
        path.unlink(missing_ok=True)
    shutil.rmtree(data_dir / "work" / REBUILDING, ignore_errors=True)
    return len(old), len(left) - len(old)


def run_files_with(folder: Path, person: Person) -> list[str]:
    """The files of Dagster's runs, below a folder, that hold the person in their bytes."""
    forms = {form for value in (person.id, *person.values) for form in written_forms(value)}
    sought = re.compile(
        rb"(?<!\w)(?:" + b"|".join(re.escape(form.encode()) for form in sorted(forms)) + rb")(?!\w)"
    )
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path.relative_to(folder).as_posix() for path in files if sought.search(path.read_bytes())]


@dataclass(frozen=True)
class _FoundRow:
    """A row that may hold the person: where it is, and which of its columns are JSON.

    `told_apart_by` is SQL that has another value for every row of the table, and `place` the one of this row.
    """

    table: str
    told_apart_by: str
    place: str
    values: dict[str, Any]
    json_columns: frozenset[str]
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
    values = person.values | ({person.id} if len(person.id) >= SHORTEST else set())
    words = sorted({form.lower() for value in values for form in written_forms(value)})
    for table, names, types in found:
        documented = tables.of(schema, table)
        type_of = dict(zip(names, types, strict=True))
        texts = [name for name in names if type_of[name] in _TEXTS]
        documents = frozenset(name for name in names if type_of[name] == "JSON")
        ids = [name for name in names if is_id_of(person.kind, name, documented)]
        if not texts and not ids:
            continue
        told_apart_by = _told_apart_by(schema, names)
        connection.execute(
            f"SELECT {told_apart_by}, * FROM {schema}.{quoted(table)} "
            f"WHERE list_contains([{_listed(ids + texts)}], $1) "
            f"OR list_bool_or([contains(lower(concat_ws(' ', {_listed(texts)})), _word) FOR _word IN $2]) "
            f"OR contains(concat_ws(' ', {_listed(documents)}), $1)",
            [person.id, words],
        )
        while rows := connection.fetchmany(ROWS_AT_ONCE):
            for place, *row in rows:
                whole = dict(zip(names, row, strict=True))
                yield _FoundRow(table, told_apart_by, place, whole, documents, documented)


def _told_apart_by(schema: str, names: Sequence[str]) -> str:
    """SQL that tells the rows of a table apart; in bi `rowid` may be a column of the service's."""
    ours = [name for name in ("_row", *VALID) if name in names]
    return f"concat_ws(' ', {', '.join(ours)})" if schema == "bi" and "_row" in ours else "rowid::VARCHAR"


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(f"{quoted(name)}::VARCHAR" for name in columns) or "NULL"


def _changes(
    connection: DuckDBPyConnection, schema: str, person: Person, tables: DocumentedTables
) -> Iterator[tuple[_FoundRow, dict[str, str | None]]]:
    """Rows that an erasure changes, each with its changed columns."""
    for row in _rows_about(connection, schema, person, tables):
        owners = [row.values.pop(name) for name in _OWNERS if name in row.values]
        changed = person.erase_row(
            row.values,
            row.json_columns,
            row.documented,
            by_id=schema != "meta" or f"marts.{row.table}" in MEMORY,
            by_value=not owners or not person.customers or owners[0] in person.customers,
        )
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
    new = ", ".join(f"unnest(${place}::VARCHAR[]) AS c{place}" for place, _ in enumerate(columns, 2))
    setting = ", ".join(f"{quoted(name)} = new.c{place}" for place, name in enumerate(columns, 2))
    connection.execute(
        f"UPDATE {table} SET {setting} FROM (SELECT unnest($1::VARCHAR[]) AS _place, {new}) AS new "
        f"WHERE {told_apart_by} = new._place",
        [places, *values],
    )


def _erased(body: bytes, person: Person, documented: Documented) -> bytes:
    text = body.decode("utf-8", "replace")
    erased = person.erase_json(text, documented) if person.is_in(text) else text
    return erased.encode() if erased != text else body


def _without(meta: Mapping[str, Any], person: Person) -> dict[str, Any]:
    """What is said of a load or a request, without the person that was asked for."""

    def renamed(value: Any) -> Any:
        if isinstance(value, str):
            return "/".join(person.alias if part == person.id else part for part in value.split("/"))
        if isinstance(value, list):
            return [renamed(one) for one in value]
        return {name: renamed(one) for name, one in value.items()} if isinstance(value, dict) else value

    return {name: renamed(one) if name in ("path", "query", "asked") else one for name, one in meta.items()}
