"""History: snapshots merged row by row. Each version of a row is valid from one time to another.

Example: the snapshot of 1 May has rows A and B, and the snapshot of 2 May has rows A and C. Then A stays as
it is, B ends on 2 May, and C begins on 2 May.

If a table has a declared key, a changed row keeps its `_row`, so that rows of child tables need not change.
Equal rows count separately: if a snapshot has two and only one is stored, the second begins.

A scope is all rows of one report and customer, or only those of one month, of one requested id, or of both.
A snapshot has one or more whole scopes. Snapshots that share no scope are merged together, as a wave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain
from typing import TYPE_CHECKING

from warehouse.load.incoming import Incoming, Load, insert
from warehouse.load.schema_evolution import tables_of_report
from warehouse.store.duckdb_file import insert_rows, quoted
from warehouse.store.meta_schema import naive_utc, replace_rows
from warehouse.store.schema import Tables, TableSchema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ScopeKey = tuple[str, str, date | None, str | None]
"""A report, a customer, a month (None without months), and a requested id (None for all rows)."""
StoredScopes = Mapping[ScopeKey, tuple[int, datetime | None]]
"""By scope, the number of the newest load, and when a snapshot last differed from the previous one."""

_SCOPES = """
CREATE OR REPLACE TEMP TABLE scopes (
    _scope INTEGER, _load_id VARCHAR, _customer VARCHAR, _month DATE, _asked VARCHAR, _at_utc TIMESTAMP
)
"""
_RECEIVED = """
CREATE OR REPLACE TEMP TABLE received AS
SELECT * EXCLUDE (valid_from_utc, valid_to_utc) FROM {stored} LIMIT 0
"""
_PARENTS = """
UPDATE received SET _parent_row = parent._row FROM {numbered} AS parent
WHERE received._parent_row = parent._received_row
"""
_MERGE = """
CREATE OR REPLACE TEMP TABLE new_rows AS
SELECT received.*, _scope, row_number() OVER (PARTITION BY _scope{same_new} ORDER BY _row) AS _nth
FROM received JOIN scopes USING (_load_id)
WHERE received._month IS NOT DISTINCT FROM scopes._month AND (_asked IS NULL OR _asked = {asked});

CREATE OR REPLACE TEMP TABLE old_rows AS
SELECT old.*, _scope, _at_utc, row_number() OVER (PARTITION BY _scope{same_old} ORDER BY _row) AS _nth
FROM {stored} AS old JOIN scopes USING (_customer)
WHERE valid_to_utc IS NULL AND old._month IS NOT DISTINCT FROM scopes._month
    AND (_asked IS NULL OR _asked = {asked});

CREATE OR REPLACE TEMP TABLE unchanged AS
SELECT new._row AS _received_row, old._row FROM new_rows AS new JOIN old_rows AS old
ON new._scope = old._scope AND new._nth = old._nth {equal};

DELETE FROM new_rows WHERE _row IN (SELECT _received_row FROM unchanged);
DELETE FROM old_rows WHERE _row IN (SELECT _row FROM unchanged);

-- the `_row` of each received row: a new number, or that of the stored row that it continues
CREATE OR REPLACE TEMP TABLE {numbered} AS
WITH changed AS (
    SELECT new._row AS _received_row, old._row FROM
    (SELECT *, {rank} FROM new_rows WHERE {has_key}) AS new JOIN
    (SELECT *, {rank} FROM old_rows WHERE {has_key}) AS old ON new._scope = old._scope {same_key}
)
SELECT _received_row, _row FROM unchanged UNION ALL
SELECT new._row, coalesce(changed._row, last._row + row_number() OVER (ORDER BY new._row))
FROM new_rows AS new LEFT JOIN changed ON new._row = changed._received_row
CROSS JOIN (SELECT coalesce(max(_row), 0) AS _row FROM {stored}) AS last;

UPDATE {stored} AS history SET valid_to_utc = ended._at_utc FROM old_rows AS ended
WHERE history._row = ended._row AND history.valid_to_utc IS NULL;

INSERT INTO {stored} BY NAME
SELECT new.* EXCLUDE (_scope, _nth) REPLACE (numbered._row AS _row), new._fetched_at_utc AS valid_from_utc
FROM new_rows AS new JOIN {numbered} AS numbered ON new._row = numbered._received_row ORDER BY new._row;

SELECT _scope, count(*) FILTER (_is_new), count(*) FILTER (NOT _is_new) FROM (
    SELECT _scope, true AS _is_new FROM new_rows UNION ALL SELECT _scope, false FROM old_rows
) GROUP BY ALL
"""


@dataclass
class Scope:
    """A scope of a snapshot; `month` and `asked` (a requested id) are None if they do not limit the scope."""

    load: Load
    month: date | None
    asked: str | None
    has_changed: bool = False  # set by the merge: whether its rows differ from the stored ones

    @property
    def key(self) -> ScopeKey:
        return (*self.load.result.pair, self.month, self.asked)


def waves_of(loads: Sequence[Load], stored: StoredScopes) -> list[list[Scope]]:
    """Sort the scopes of snapshots into waves, oldest first.

    Example: of three loads, the first two have January, and the third has February. The first load is a wave.
    The second also has January, so the second and third are the next wave.
    Scopes with a newer stored snapshot are left out. A load keeps only the months of its remaining scopes.
    """
    newest = {key: number for key, (number, _) in stored.items()}
    waves: list[list[Scope]] = []
    in_wave: set[ScopeKey] = set()
    for load in sorted(loads, key=lambda load: load.number):
        requested_ids = (None,) if load.result.asked is None else load.result.asked
        scopes = [Scope(load, month, asked) for month in load.months for asked in requested_ids]
        new_scopes = [scope for scope in scopes if load.number >= newest.get(scope.key, 0)]
        load.months = tuple(dict.fromkeys(scope.month for scope in new_scopes))
        keys = {scope.key for scope in new_scopes}
        newest.update(dict.fromkeys(keys, load.number))
        if not waves or keys & in_wave:
            waves.append([])
            in_wave = set()
        waves[-1] += new_scopes
        in_wave |= keys
    return [wave for wave in waves if wave]


def merge_wave(
    connection: DuckDBPyConnection, tables: Tables, wave: Sequence[Scope], incoming: Incoming
) -> None:
    """Merge the snapshots of a wave, parent tables before their children."""
    for report in dict.fromkeys(scope.load.result.report for scope in wave):
        scopes = [scope for scope in wave if scope.load.result.report == report]
        loads = list({scope.load.number: scope.load for scope in scopes}.values())
        rows = [
            {
                "_scope": number,
                "_load_id": scope.load.result.load_id,
                "_customer": scope.load.result.customer,
                "_month": scope.month,
                "_asked": scope.asked,
                "_at_utc": naive_utc(scope.load.result.fetched),
            }
            for number, scope in enumerate(scopes)
        ]
        connection.execute(_SCOPES)
        insert_rows(connection, "scopes", rows)
        for schema in tables_of_report(tables, report):
            connection.execute(_RECEIVED.format(stored=schema.table))
            insert(connection, schema, "received", incoming, loads)
            if schema.nested and schema.parent:
                connection.execute(_PARENTS.format(numbered=_numbered_table(schema.parent)))
            _check_requested(connection, schema, loads)
            _merge_table(connection, schema, scopes)


def record_scopes(
    connection: DuckDBPyConnection, waves: Sequence[Sequence[Scope]], stored: StoredScopes
) -> None:
    """Record the newest snapshot of each scope, and when the rows of the scope last changed."""
    changed = {key: changed_at for key, (_, changed_at) in stored.items()}
    names = ("report", "customer", "month", "asked")
    rows = {}
    for scope in chain.from_iterable(waves):
        key, result = scope.key, scope.load.result
        has_changed = scope.has_changed and key in changed  # the first snapshot is not a change
        changed[key] = naive_utc(result.fetched) if has_changed else changed.get(key)
        rows[key] = {
            **dict(zip(names, key, strict=True)),
            "load_id": result.load_id,
            "fetched_at_utc": naive_utc(result.fetched),
            "changed_at_utc": changed[key],
        }
    replace_rows(connection, "history_scopes", list(rows.values()), key=names)


def forget_histories(
    connection: DuckDBPyConnection, tables: Tables, pairs: Sequence[tuple[str, str]]
) -> None:
    """Delete the histories of these reports and customers."""
    for report, customer in pairs:
        for schema in tables_of_report(tables, report):
            connection.execute(f"DELETE FROM {schema.table} WHERE _customer = ?", [customer])
        for table in ("history_scopes", "months"):
            connection.execute(
                f"DELETE FROM meta.{table} WHERE report = ? AND customer = ?", [report, customer]
            )


def _check_requested(connection: DuckDBPyConnection, schema: TableSchema, loads: Sequence[Load]) -> None:
    """Raise ValueError if a received row has an id that its load did not request."""
    requested = [f"{load.result.load_id} {asked}" for load in loads for asked in load.result.asked or ()]
    if requested:
        matches = f"coalesce(list_contains($1, _load_id || ' ' || {schema.requested_id or 'NULL'}), false)"
        if connection.execute(f"SELECT 1 FROM received WHERE NOT {matches} LIMIT 1", [requested]).fetchall():
            raise ValueError(f"a row of {schema.name} names none of the requested ids")


def _merge_table(connection: DuckDBPyConnection, schema: TableSchema, scopes: Sequence[Scope]) -> None:
    compared = [*(["_parent_row"] if schema.nested else []), *schema.service_columns]
    key = [quoted(name) for name in schema.key]
    statements = _MERGE.format(
        stored=schema.table,
        numbered=_numbered_table(schema.name),
        same_new="".join(f", received.{name}" for name in compared),
        same_old="".join(f", old.{name}" for name in compared),
        equal="".join(f"AND new.{name} IS NOT DISTINCT FROM old.{name} " for name in compared),
        asked=schema.requested_id or "NULL",
        rank=f"row_number() OVER (PARTITION BY {', '.join(['_scope', *key])} ORDER BY _row) AS _rank",
        has_key=" AND ".join(f"{name} IS NOT NULL" for name in key) or "false",
        same_key="".join(f"AND new.{name} = old.{name} " for name in ["_rank", *key]),
    )
    for number, opened, closed in connection.execute(statements).fetchall():
        scopes[number].has_changed = True
        scopes[number].load.opened += opened
        scopes[number].load.closed += closed


def _numbered_table(name: str) -> str:
    """The temporary table that has the stored `_row` of each received row."""
    return quoted(f"numbered {name.lower()}")
