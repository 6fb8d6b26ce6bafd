"""One working file from the published files of shards: the union of their rows, from which marts are built.

Every merge begins with an empty file, so what a shard corrected or erased is so here as well. A customer is
in one shard; an office may be answered for by customers of several, and the newest answer counts as anywhere.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.errors import OF_PUBLISHED_FILE, WarehouseError
from warehouse.load.schema_evolution import joined
from warehouse.store import meta_schema
from warehouse.store.database import Store
from warehouse.store.duckdb_file import connect, create, insert_rows, literal, mappings, quoted
from warehouse.store.files import remove_logs, replacement
from warehouse.store.schema import (
    EXACT,
    VALID,
    TableSchema,
    converted,
    create_table,
    describe,
    read_tables,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY_LIMIT = "2GB"
"""What DuckDB need have to write the union; more threads than two need more."""
FILE = "warehouse.duckdb"

ALL_ROWS = (
    "access", "budget_pushes", "changes", "column_changes", "history_scopes", "months", "probes",
    "quarantine_rows", "requests_by_day", "turns", "window_caps",
)  # fmt: skip
"""Tables of meta that are about a customer or a load: their rows are added up."""
REMEMBERED = {
    "month_totals": ("report", "office_id", "month"),
    "sale_versions": ("estate_id",),
    "lead_states": ("way", "lead_id"),
    "user_month_versions": ("user_id", "month"),
}
"""What marts remember, and whose it is. What several shards remember of the same is not remembered here: each
knew a part, and what the whole was before nobody knows."""
DECLARED = ("clock", "rereading", "tax_basis")
"""Tables of one row, which every number leans on: they must be alike in all shards."""

_OF_A_SHARD = """
SELECT
    (SELECT max(at_utc) FROM meta.publications WHERE status = 'published') AS published_at_utc,
    (SELECT max(fetched_at_utc) FROM meta.months) AS fetched_at_utc,
    (
        SELECT list(DISTINCT customer ORDER BY customer)
        FROM (
            SELECT customer FROM meta.months
            UNION ALL SELECT customer FROM meta.history_scopes
            UNION ALL SELECT customer FROM meta.customers WHERE is_active
        )
    ) AS customers
"""

_LOADS = """
INSERT INTO meta.loads BY NAME
SELECT * EXCLUDE (_shard) REPLACE (
    CASE WHEN load_number IS NOT NULL THEN
        row_number() OVER (PARTITION BY load_number IS NULL ORDER BY loaded_at_utc, _shard, load_number)
    END AS load_number
)
FROM ({of_all})
"""
_CUSTOMERS = """
INSERT INTO meta.customers BY NAME SELECT * EXCLUDE (_shard) FROM ({of_all})
QUALIFY row_number() OVER (PARTITION BY customer ORDER BY is_active DESC, _shard) = 1
"""
_REPORTS = """
INSERT INTO meta.reports BY NAME
SELECT * EXCLUDE (_shard) REPLACE (
    bool_or(is_on) OVER of_report AS is_on, bool_or(is_awaited) OVER of_report AS is_awaited,
    min(first_month) OVER of_report AS first_month, max(last_month) OVER of_report AS last_month
)
FROM ({of_all}) WINDOW of_report AS (PARTITION BY report)
QUALIFY row_number() OVER (PARTITION BY report ORDER BY _shard) = 1
"""


@dataclass(frozen=True)
class MergeSource:
    """A shard of a merged file, with the columns of meta.shards."""

    shard: str
    customers: Sequence[str] = ()
    published_at_utc: datetime | None = None
    fetched_at_utc: datetime | None = None
    merged_at_utc: datetime | None = None
    error: str | None = None


def is_merged(connection: DuckDBPyConnection) -> bool:
    """Whether the open file was made of others, so that no settings say who its customers are."""
    return connection.execute("SELECT 1 FROM meta.shards LIMIT 1").fetchone() is not None


def merge(data_dir: Path, sources: Mapping[str, Path], *, now: datetime) -> list[MergeSource]:
    """Make the working file of a directory anew from the published files of shards; what became of each.

    `sources` are their files or data directories by name; one that cannot be read is left out and said.
    Raises WarehouseError for a customer of two shards, for shards that declare different things, when no
    shard can be read, and for a directory that a sync loads into. Killed at any moment, it leaves the old
    file or the new one.
    """
    store = Store(data_dir)
    moment = meta_schema.naive_utc(now)
    with store.locked():
        with store.reading() as connection:
            known = mappings(connection.execute("FROM meta.shards"))
            publications = mappings(connection.execute("FROM meta.publications"))
            [(is_loaded,)] = connection.execute("SELECT count(*) > 0 FROM meta.loads").fetchall()
        if is_loaded and not known:
            raise WarehouseError(f"A sync loads into {data_dir}; merge into a directory of its own.")
        before = {one["shard"]: MergeSource(**one) for one in known}
        files = {name: path / FILE if path.is_dir() else path for name, path in sources.items()}
        shards = [
            replace(_read(name, path, before.get(name)), merged_at_utc=moment) for name, path in files.items()
        ]
        present = [one.shard for one in shards if one.error is None]
        if not present:
            raise WarehouseError("No shard can be read: " + "; ".join(one.error or "" for one in shards))
        _refuse_overlap([one for one in shards if one.error is None])
        with replacement(store.path, unfinished=store.rewritten) as unfinished:
            create(unfinished, meta_schema.statements())
            with connect(unfinished) as connection:
                _fill(connection, [files[name] for name in present], present)
                insert_rows(connection, "meta.shards", [asdict(one) for one in shards])
                insert_rows(connection, "meta.publications", publications)
                connection.execute("CHECKPOINT")  # closing does the same, but keeps quiet when it fails
            remove_logs(store.path)  # of the file of before: they would be replayed into this one
    sys.audit("brokerbi.merged")
    return shards


def _read(name: str, path: Path, before: MergeSource | None) -> MergeSource:
    """What a shard's published file says of itself; what was known of it where it cannot be read."""
    try:
        if not path.is_file():
            raise WarehouseError(f"there is no published file {path}")
        with connect(path, read_only=True, remedy=OF_PUBLISHED_FILE) as connection:
            meta_schema.format_of(connection, path)
            [found] = mappings(connection.execute(_OF_A_SHARD))
            return MergeSource(name, **{**found, "customers": found["customers"] or []})
    except WarehouseError as error:
        return replace(before or MergeSource(name), error=str(error))


def _refuse_overlap(shards: Sequence[MergeSource]) -> None:
    """Raise WarehouseError for customers of more than one shard: their rows would count twice."""
    shards_of: dict[str, list[str]] = {}
    for one in shards:
        for customer in one.customers:
            shards_of.setdefault(customer, []).append(one.shard)
    twice = [f"{one} is in {' and in '.join(several)}" for one, several in shards_of.items() if several[1:]]
    if twice:
        raise WarehouseError(
            f"A customer belongs to one shard, but {'; '.join(twice)}. If it was being moved, say the "
            "`brokerbi shards move` again. The merged file stays as it is."
        )


def _fill(connection: DuckDBPyConnection, files: Sequence[Path], names: Sequence[str]) -> None:
    """Write the rows of all shards into the open file, which is new."""
    [(own,)] = connection.execute("SELECT current_database()").fetchall()
    connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'; SET preserve_insertion_order = false")
    shards = [f"shard_{number}" for number in range(len(files))]
    tables = []
    for shard, path in zip(shards, files, strict=True):
        connection.execute(f"ATTACH {literal(str(path))} AS {shard} (READ_ONLY); USE {shard}")
        tables.append({name: one for name, one in read_tables(connection).items() if one.exists})
    connection.execute(f"USE {quoted(own)}")
    _refuse_contradictions(connection, shards, names)
    first_rows = _first_rows(connection, shards, tables)
    made = [
        _write_table(connection, [one.get(name) for one in tables], shards, first_rows)
        for name in dict.fromkeys(name for one in tables for name in one)
    ]
    describe(connection, made)
    _write_meta(connection, shards)
    for shard in shards:
        connection.execute(f"DETACH {shard}")
    connection.execute("RESET preserve_insertion_order; RESET memory_limit")


def _refuse_contradictions(
    connection: DuckDBPyConnection, shards: Sequence[str], names: Sequence[str]
) -> None:
    """Raise WarehouseError where shards declare different things of their amounts and times."""
    for table in DECLARED:
        said: dict[object, list[str]] = {}
        for shard, name in zip(shards, names, strict=True):
            for row in connection.execute(f"FROM {shard}.meta.{table}").fetchall():
                said.setdefault(row, []).append(name)
        if len(said) > 1:
            words = "; ".join(f"{', '.join(some)}: {row}" for row, some in said.items())
            raise WarehouseError(
                f"The settings of the shards differ in what meta.{table} says ({words}), so their numbers "
                "cannot be added up; set them alike and let each shard publish."
            )


def _first_rows(
    connection: DuckDBPyConnection, shards: Sequence[str], tables: Sequence[Mapping[str, TableSchema]]
) -> list[int]:
    """What is added to the rows' own numbers in each shard, so that no two rows have the same."""
    first, found = 0, []
    for shard, of_shard in zip(shards, tables, strict=True):
        found.append(first)
        numbers = " UNION ALL ".join(
            f"SELECT max(_row) AS n FROM {shard}.{one.stored}" for one in of_shard.values()
        )
        [(last,)] = connection.execute(f"SELECT coalesce(max(n), 0) FROM ({numbers})").fetchall()
        first += last + 1
    return found


def _write_table(
    connection: DuckDBPyConnection,
    found: Sequence[TableSchema | None],
    shards: Sequence[str],
    first_rows: Sequence[int],
) -> TableSchema:
    """Make a table with the columns of all shards that have it, and write their rows into it."""
    parts = [
        (schema, shard, first)
        for schema, shard, first in zip(found, shards, first_rows, strict=True)
        if schema is not None
    ]
    whole = _union(connection, [(schema, shard) for schema, shard, _ in parts])
    create_table(connection, whole)
    for schema, shard, first in parts:
        ours = [*schema.ours, *(VALID if schema.history else {})]
        values = [f"{name} + {first}" if name in ("_row", "_parent_row") else name for name in ours]
        columns = list(ours)
        for name, column in schema.columns.items():
            columns.append(quoted(whole.columns[name].name))
            values.append(converted(quoted(column.name), column.type, whole.columns[name].type))
        connection.execute(
            f"INSERT INTO {whole.stored} ({', '.join(columns)}) "
            f"SELECT {', '.join(values)} FROM {shard}.{schema.stored}"
        )
    return whole


def _union(connection: DuckDBPyConnection, found: Sequence[tuple[TableSchema, str]]) -> TableSchema:
    """The table that holds the rows of all shards: every column, in the narrowest type that loses nothing."""
    first = found[0][0]
    whole = replace(first, nested=any(one.nested for one, _ in found), columns={}, exists=False)
    for schema, _ in found:
        if (schema.report, schema.history) != (first.report, first.history):
            raise WarehouseError(
                f"{schema.name} belongs to {schema.report} in one shard, and to "
                f"{first.report} in another; bring all shards to one version of brokerbi."
            )
        for name in schema.columns:
            if name not in whole.columns:
                having = [(one, shard) for one, shard in found if name in one.columns]
                columns = [one.columns[name] for one, _ in having]
                seen = min(columns, key=lambda one: (one.first_seen_utc is None, one.first_seen_utc))
                types = {one.type for one in columns}
                type_ = columns[0].type
                if len(types) > 1:
                    type_ = joined(types, digits_at_risk=_digits_at_risk(connection, name, having, types))
                whole.columns[name] = replace(
                    columns[0],
                    type=type_,
                    documented=all(one.documented for one in columns),
                    first_seen_utc=seen.first_seen_utc,
                    first_load_id=seen.first_load_id,
                )
    return whole


def _digits_at_risk(
    connection: DuckDBPyConnection, name: str, having: Sequence[tuple[TableSchema, str]], types: set[str]
) -> bool:
    """Whether whole numbers that DOUBLE cannot hold meet fractional ones."""
    if not {"BIGINT", "DOUBLE"} <= types:
        return False
    large = [
        f"SELECT 1 FROM {shard}.{schema.stored} WHERE {quoted(schema.columns[name].name)} "
        f"NOT BETWEEN {-EXACT} AND {EXACT}"
        for schema, shard in having
        if schema.columns[name].type == "BIGINT"
    ]
    return bool(connection.execute(f"{' UNION ALL '.join(large)} LIMIT 1").fetchall())


def _write_meta(connection: DuckDBPyConnection, shards: Sequence[str]) -> None:
    """Write what meta knows of loads, months and customers, and what marts remember.

    A shard of an earlier version may lack a table or a column; it then says nothing of that.
    """
    known = connection.execute(
        "SELECT database_name, table_name FROM duckdb_tables() WHERE schema_name = 'meta'"
    ).fetchall()

    texts = connection.execute(
        "SELECT database_name, table_name FROM duckdb_columns() "
        "WHERE (schema_name, column_name, data_type) = ('meta', 'agent_ids', 'VARCHAR')"
    ).fetchall()
    as_list = f"REPLACE ({meta_schema.AGENT_IDS_SPLIT} AS agent_ids)"

    def of_all(table: str) -> str:
        parts = [f"SELECT *, NULL::INTEGER AS _shard FROM meta.{table} WHERE false"]
        parts += [
            f"SELECT * {as_list if (shard, table) in texts else ''}, {number} AS _shard "
            f"FROM {shard}.meta.{table}"
            for number, shard in enumerate(shards)
            if (shard, table) in known
        ]
        return " UNION ALL BY NAME ".join(parts)

    for table in ALL_ROWS:
        connection.execute(
            f"INSERT INTO meta.{table} BY NAME SELECT * EXCLUDE (_shard) FROM ({of_all(table)})"
        )
    for table, key in REMEMBERED.items():
        names = ", ".join(key)
        connection.execute(
            f"INSERT INTO meta.{table} BY NAME SELECT * EXCLUDE (_shard) FROM ({of_all(table)}) "
            f"QUALIFY min(_shard) OVER (PARTITION BY {names}) = max(_shard) OVER (PARTITION BY {names})"
        )
    for table in DECLARED:
        connection.execute(
            f"INSERT INTO meta.{table} BY NAME SELECT DISTINCT * EXCLUDE (_shard) FROM ({of_all(table)})"
        )
    for statement, table in ((_LOADS, "loads"), (_CUSTOMERS, "customers"), (_REPORTS, "reports")):
        connection.execute(statement.format(of_all=of_all(table)))
    connection.execute(
        f"UPDATE meta.storage SET is_rehearsal = (SELECT bool_or(is_rehearsal) FROM ({of_all('storage')}))"
    )
