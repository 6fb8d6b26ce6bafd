"""Slowly changing history: snapshots merged row by row, each version valid from one moment to another.

A row in both snapshots is not touched. A row only in the old one ends when the new one was fetched; a row
only in the new one begins then. If the service documents an id, a row keeps its `_row` when its content
changes, so its children need not change. Two equal rows may both be real, so both sides number them, which a
plain MERGE cannot do.

A snapshot is complete for its scopes: a month, a requested id, or a report of a customer. Snapshots whose
scopes do not overlap are merged together, as a wave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain
from typing import TYPE_CHECKING

from warehouse.store.duckdb_file import insert_rows, quoted
from warehouse.store.meta_schema import naive_utc, replace_rows
from warehouse.store.schema import Tables, TableSchema, tables_of_report

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.load.incoming import Load

ROWS_OF_A_LOAD = 1 << 24
"""Row numbers reserved for each load of a table, so that `_row` is unique over all loads."""
ScopeKey = tuple[str, str, date | None, str | None]
Merged = Mapping[ScopeKey, tuple[int, datetime | None]]
"""The newest load's number, and when a snapshot last differed from the one before, by scope."""

_SCOPES = """
CREATE OR REPLACE TEMP TABLE scopes (
    _scope INTEGER, _load_id VARCHAR, _customer VARCHAR, _month DATE, _asked VARCHAR, _at_utc TIMESTAMP,
    _first_row BIGINT, _is_repeated BOOLEAN
)
"""
_NEW_ROWS = """
CREATE OR REPLACE TEMP TABLE new_rows AS
SELECT received.*, _scope, row_number() OVER (PARTITION BY _scope{same_new} ORDER BY _row) AS _nth
FROM received JOIN scopes USING (_load_id)
WHERE received._month IS NOT DISTINCT FROM scopes._month {asked}
"""
_OLD_ROWS = """
CREATE OR REPLACE TEMP TABLE old_rows AS
SELECT {columns}, _scope, row_number() OVER (PARTITION BY _scope{same_old} ORDER BY _row) AS _nth
FROM {stored} AS old JOIN scopes USING (_customer)
WHERE valid_to_utc IS NULL AND old._month IS NOT DISTINCT FROM scopes._month {asked}
"""
_UNCHANGED = """
CREATE OR REPLACE TEMP TABLE unchanged AS
SELECT new._row AS _received_row, old._row FROM new_rows AS new JOIN old_rows AS old
ON new._scope = old._scope AND new._nth = old._nth {equal};
DELETE FROM new_rows WHERE _row IN (SELECT _received_row FROM unchanged);
DELETE FROM old_rows WHERE _row IN (SELECT _row FROM unchanged)
"""
_NUMBERED = """
CREATE OR REPLACE TEMP TABLE {numbered} AS
SELECT _received_row, _row FROM unchanged UNION ALL
SELECT new._row, coalesce(changed._row, new._row + coalesce(taken._shift, 0))
FROM new_rows AS new LEFT JOIN ({changed}) AS changed ON new._row = changed._received_row
LEFT JOIN (
    SELECT load._load_id, max(old._row) + 1 - any_value(load._first_row) AS _shift
    FROM (SELECT DISTINCT _load_id, _first_row FROM scopes WHERE _is_repeated) AS load
    JOIN {stored} AS old ON old._row >= load._first_row AND old._row < load._first_row + {rows_of_a_load}
    GROUP BY ALL
) AS taken ON new._load_id = taken._load_id
"""
"""The `_row` of each new row: that of the row it continues, or a new one. A replayed load numbers its rows
after those that it numbered before.
"""
_CHANGED = """
SELECT new._row AS _received_row, old._row FROM
(SELECT *, {rank} FROM new_rows WHERE {whole}) AS new JOIN
(SELECT *, {rank} FROM old_rows WHERE {whole}) AS old ON {same_key}
"""
_NOTHING_CHANGED = "SELECT NULL::BIGINT AS _received_row, NULL::BIGINT AS _row WHERE false"
_END = """
UPDATE {stored} AS history SET valid_to_utc = ended._at_utc
FROM (SELECT _row, _at_utc FROM old_rows JOIN scopes USING (_scope)) AS ended
WHERE history._row = ended._row AND history.valid_to_utc IS NULL
"""
_BEGIN = """
INSERT INTO {stored} ({columns}, valid_from_utc)
SELECT {values}, new._fetched_at_utc
FROM new_rows AS new JOIN {numbered} AS numbered ON new._row = numbered._received_row ORDER BY new._row
"""
_CHANGES = """
SELECT _scope, count(*) FILTER (_is_new), count(*) FILTER (NOT _is_new) FROM (
    SELECT _scope, true AS _is_new FROM new_rows
    UNION ALL
    SELECT _scope, false FROM old_rows
) GROUP BY ALL
"""


@dataclass
class Scope:
    """The scope for which a snapshot is complete: a month, a requested id, or a report of a customer."""

    load: Load
    month: date | None
    asked: str | None
    has_changed: bool = False  # set by the merge: whether its rows differ from the stored ones

    @property
    def key(self) -> ScopeKey:
        return (*self.load.result.pair, self.month, self.asked)


def merged_scopes(connection: DuckDBPyConnection, loads: Sequence[Load]) -> Merged:
    """The newest load's number, and when a snapshot last differed from the one before, by scope."""
    results = [load.result for load in loads]
    found = connection.execute(
        """
        SELECT report, customer, month, scopes.asked, coalesce(load_number, 0), changed_at_utc
        FROM meta.history_scopes AS scopes LEFT JOIN meta.loads AS loads USING (load_id, report, customer)
        WHERE list_contains($1, report) AND list_contains($2, customer)
        """,
        [list({result.report for result in results}), list({result.customer for result in results})],
    )
    return {(*key,): (number, changed) for *key, number, changed in found.fetchall()}


def waves_of(loads: Sequence[Load], merged: Merged) -> list[list[Scope]]:
    """Sort the scopes of snapshots into waves, oldest first; leave out any with a newer merged snapshot.

    The loads also lose the months that are left out.
    """
    newest = {key: number for key, (number, _) in merged.items()}
    waves: list[list[Scope]] = []
    in_wave: set[ScopeKey] = set()
    for load in sorted(loads, key=lambda load: load.number):
        asked = (None,) if load.result.asked is None else load.result.asked
        scopes = [Scope(load, month, asked_id) for month in load.months for asked_id in asked]
        new_scopes = [scope for scope in scopes if load.number >= newest.get(scope.key, 0)]
        load.leave_out({*load.months} - {scope.month for scope in new_scopes})
        keys = {scope.key for scope in new_scopes}
        newest.update(dict.fromkeys(keys, load.number))
        if not waves or keys & in_wave:
            waves.append([])
            in_wave = set()
        waves[-1] += new_scopes
        in_wave |= keys
    return [wave for wave in waves if wave]


def merge_snapshots(
    connection: DuckDBPyConnection,
    schemas: Sequence[TableSchema],
    scopes: Sequence[Scope],
    insert: Callable[[TableSchema, str], None],
) -> None:
    """Merge the snapshots of one report in a wave, parent tables before their children.

    `insert` writes a table's new rows into a temporary table. Raises ValueError for rows that were not
    requested.
    """
    connection.execute(_SCOPES)
    rows = [
        {
            "_scope": number,
            "_load_id": scope.load.result.load_id,
            "_customer": scope.load.result.customer,
            "_month": scope.month,
            "_asked": scope.asked,
            "_at_utc": naive_utc(scope.load.result.fetched),
            "_first_row": scope.load.number * ROWS_OF_A_LOAD,
            "_is_repeated": scope.load.is_repeated,
        }
        for number, scope in enumerate(scopes)
    ]
    insert_rows(connection, "scopes", rows)
    for schema in schemas:
        columns = ", ".join([*map(quoted, schema.ours), *schema.content])
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE received AS SELECT {columns} FROM {schema.stored} LIMIT 0"
        )
        insert(schema, "received")
        if schema.nested and schema.parent:
            connection.execute(
                "UPDATE received SET _parent_row = parent._row "
                f"FROM {_numbered(schema.parent)} AS parent WHERE received._parent_row = parent._received_row"
            )
        if _can_tell_scopes(connection, schema, scopes):
            _merge_table(connection, schema, scopes)
        else:
            connection.execute(
                f"CREATE OR REPLACE TEMP TABLE {_numbered(schema.name)} (_received_row BIGINT, _row BIGINT)"
            )


def remember_scopes(connection: DuckDBPyConnection, waves: Sequence[Sequence[Scope]], merged: Merged) -> None:
    """Store the newest snapshot of each scope, and when it last changed."""
    changed = {key: changed_at for key, (_, changed_at) in merged.items()}
    newest = {}
    for scope in chain.from_iterable(waves):
        if scope.has_changed and scope.key in changed:
            changed[scope.key] = naive_utc(scope.load.result.fetched)
        changed.setdefault(scope.key, None)
        newest[scope.key] = scope.load.result
    names = ("report", "customer", "month", "asked")
    rows = [
        {
            **dict(zip(names, key, strict=True)),
            "load_id": result.load_id,
            "fetched_at_utc": naive_utc(result.fetched),
            "changed_at_utc": changed[key],
        }
        for key, result in newest.items()
    ]
    replace_rows(connection, "history_scopes", rows, key=names)


def forget_histories(
    connection: DuckDBPyConnection, tables: Tables, pairs: Sequence[tuple[str, str]]
) -> None:
    """Forget the histories of these reports and customers, as if nothing had been merged."""
    for report, customer in pairs:
        for schema in tables_of_report(tables, report, history=True):
            connection.execute(f"DELETE FROM {schema.stored} WHERE _customer = ?", [customer])
        for table in ("history_scopes", "months"):
            connection.execute(
                f"DELETE FROM meta.{table} WHERE report = ? AND customer = ?", [report, customer]
            )


def _can_tell_scopes(connection: DuckDBPyConnection, schema: TableSchema, scopes: Sequence[Scope]) -> bool:
    """Whether rows of this table name their scope; raises ValueError for rows that were not requested."""
    asked = [
        f"{load.result.load_id} {asked_id}"
        for load in {scope.load.result.load_id: scope.load for scope in scopes}.values()
        for asked_id in load.result.asked or ()
    ]
    if not asked:
        return True
    not_requested, parameters = "true", []
    if schema.asked:
        not_requested = f"NOT coalesce(list_contains($1, _load_id || ' ' || {schema.asked}), false)"
        parameters = [asked]
    if connection.execute(f"SELECT 1 FROM received WHERE {not_requested} LIMIT 1", parameters).fetchall():
        raise ValueError(f"a row of {schema.name} names none of the requested ids")
    return schema.asked is not None


def _merge_table(connection: DuckDBPyConnection, schema: TableSchema, scopes: Sequence[Scope]) -> None:
    """End the rows of a table that the snapshot lacks, and begin its new ones."""
    compared = [*(["_parent_row"] if schema.nested else []), *schema.content]
    columns = [*map(quoted, schema.ours), *schema.content]
    fragments = {
        "stored": schema.stored,
        "numbered": _numbered(schema.name),
        "same_new": "".join(f", received.{name}" for name in compared),
        "same_old": "".join(f", old.{name}" for name in compared),
        "asked": f"AND (_asked IS NULL OR _asked = {schema.asked})" if schema.asked else "",
        "changed": _changed(schema),
    }
    equal = "".join(f"AND new.{name} IS NOT DISTINCT FROM old.{name} " for name in compared)
    connection.execute(_NEW_ROWS.format(**fragments))
    connection.execute(_OLD_ROWS.format(columns=", ".join(f"old.{name}" for name in columns), **fragments))
    connection.execute(_UNCHANGED.format(equal=equal))
    connection.execute(_NUMBERED.format(rows_of_a_load=ROWS_OF_A_LOAD, **fragments))
    connection.execute(_END.format(**fragments))
    values = ["numbered._row" if name == '"_row"' else f"new.{name}" for name in columns]
    connection.execute(_BEGIN.format(columns=", ".join(columns), values=", ".join(values), **fragments))
    for number, opened, closed in connection.execute(_CHANGES).fetchall():
        scopes[number].has_changed = True
        scopes[number].load.opened += opened
        scopes[number].load.closed += closed


def _changed(schema: TableSchema) -> str:
    """SQL that pairs new and old rows with the same documented id."""
    key = [quoted(schema.columns[name.lower()].name) for name in schema.key if name.lower() in schema.columns]
    if not key or len(key) < len(schema.key):
        return _NOTHING_CHANGED
    return _CHANGED.format(
        rank=f"row_number() OVER (PARTITION BY _scope, {', '.join(key)} ORDER BY _row) AS _rank",
        whole=" AND ".join(f"{name} IS NOT NULL" for name in key),
        same_key=" AND ".join(f"new.{name} = old.{name}" for name in ["_scope", "_rank", *key]),
    )


def _numbered(name: str) -> str:
    """The temporary table with the stored `_row` of each row of a wave."""
    return quoted(f"numbered {name.lower()}")
