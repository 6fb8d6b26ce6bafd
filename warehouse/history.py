"""What was so, and when? Snapshots merged into slowly changing history, row by row.

A row that is in the old snapshot and in the new one, the same in every column, is not touched. A row
that is only in the old one ends at the moment the new one was fetched, and one that is only in the new
one begins there. Where the service documents an id, a row of the same id keeps its `_row` when its
content changes, so that its children need not change with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from warehouse.entering import naive_utc
from warehouse.opening import quoted
from warehouse.replacing import Counts, insert
from warehouse.scopes import Wave
from warehouse.shapes import Shape
from warehouse.stacking import Coming, show

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


_SCOPE: Mapping[str, pl.DataType] = {
    "_scope": pl.Int32(),
    "_load_id": pl.String(),
    "_customer": pl.String(),
    "_month": pl.Date(),
    "_asked": pl.String(),
    "_at_utc": pl.Datetime("us"),
    "_first_row": pl.Int64(),
    "_known": pl.Boolean(),
}


@dataclass
class Merged:
    """What merging did: rows that came, and rows that began and ended, by load."""

    counts: Counts = field(default_factory=Counter)
    opened: Counter[str] = field(default_factory=Counter)
    closed: Counter[str] = field(default_factory=Counter)


def merge(connection: DuckDBPyConnection, wave: Wave, tables: Sequence[tuple[Shape, Coming]]) -> Merged:
    """Merge a wave of snapshots into the tables of one report, parents before their children."""
    done = Merged()
    _take_scopes(connection, wave)
    for shape, coming in tables:
        done.counts += _take_rows(connection, shape, coming)
        if _has_scope(connection, shape, wave):
            _rank(connection, shape)
            _pair(connection, shape)
            _close(connection, shape, done)
            _open(connection, shape, done)
        else:
            connection.execute(
                f"CREATE OR REPLACE TEMP TABLE {_kept(shape.name)} (_came_as BIGINT, _row BIGINT)"
            )
    return done


def _take_scopes(connection: DuckDBPyConnection, wave: Wave) -> None:
    rows = [
        (
            number, scope.entry.load.load_id, scope.entry.load.customer, scope.month, scope.asked,
            naive_utc(scope.entry.load.fetched), scope.entry.first_row, scope.entry.known,
        )
        for number, scope in enumerate(wave.scopes)
    ]  # fmt: skip
    show(connection, "scopes_of_wave", pl.DataFrame(rows, schema=_SCOPE, orient="row"))
    connection.execute("CREATE OR REPLACE TEMP TABLE scopes AS FROM scopes_of_wave")
    connection.unregister("scopes_of_wave")


def _take_rows(connection: DuckDBPyConnection, shape: Shape, coming: Coming) -> Counts:
    """Put what came into a table like the history's, pointing to the parents' rows that are in force."""
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE came AS SELECT {_columns(shape)} FROM {shape.stored} LIMIT 0"
    )
    counts = insert(connection, shape, "came", coming)
    if shape.nested and shape.parent:
        connection.execute(
            f"UPDATE came SET _parent_row = kept._row FROM {_kept(shape.parent)} AS kept "
            "WHERE came._parent_row = kept._came_as"
        )
    return counts


def _has_scope(connection: DuckDBPyConnection, shape: Shape, wave: Wave) -> bool:
    """Whether the scopes can be told apart in this table; refuses rows that nobody asked for."""
    asked = [f"{entry.load.load_id} {one}" for entry in wave.entries for one in entry.load.asked or ()]
    if not asked:
        return True
    own = (
        f"NOT coalesce(list_contains($1, _load_id || ' ' || {shape.asked}), false)" if shape.asked else "true"
    )
    if connection.execute(
        f"SELECT 1 FROM came WHERE {own} LIMIT 1", [asked] if shape.asked else []
    ).fetchall():
        raise ValueError(f"a row of {shape.name} does not say for which of the asked ids it came")
    return shape.asked is not None


def _rank(connection: DuckDBPyConnection, shape: Shape) -> None:
    """Number equal rows on both sides: the second of two equal rows is another row than the first."""
    same = ", ".join(["_scope", *_compared(shape)])
    asked = f"AND (_asked IS NULL OR _asked = {shape.asked})" if shape.asked else ""
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE new_rows AS
        SELECT came.*, _scope, row_number() OVER (PARTITION BY {same} ORDER BY _row) AS _nth
        FROM came JOIN scopes USING (_load_id)
        WHERE came._month IS NOT DISTINCT FROM scopes._month {asked}
        """
    )
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE old_rows AS
        SELECT old.rowid AS _place, {_columns(shape, "old")}, _scope,
               row_number() OVER (PARTITION BY {same} ORDER BY _row) AS _nth
        FROM {shape.stored} AS old JOIN scopes USING (_customer)
        WHERE valid_to_utc IS NULL AND old._month IS NOT DISTINCT FROM scopes._month {asked}
        """
    )


def _pair(connection: DuckDBPyConnection, shape: Shape) -> None:
    """Find the rows that stayed as they were, and those that kept their id but not their content."""
    same = " AND ".join(f"new.{name} IS NOT DISTINCT FROM old.{name}" for name in _compared(shape))
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE stayed AS
        SELECT new._row AS _came_as, old._row, old._place FROM new_rows AS new JOIN old_rows AS old
        ON new._scope = old._scope AND new._nth = old._nth {"AND " if same else ""}{same}
        """
    )
    connection.execute("DELETE FROM new_rows WHERE _row IN (SELECT _came_as FROM stayed)")
    connection.execute("DELETE FROM old_rows WHERE _place IN (SELECT _place FROM stayed)")
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE {_kept(shape.name)} AS
        SELECT _came_as, _row FROM stayed UNION ALL
        SELECT new._row, coalesce(changed._row, new._row + coalesce(taken._shift, 0))
        FROM new_rows AS new LEFT JOIN ({_changed(shape)}) AS changed ON new._row = changed._came_as
        LEFT JOIN ({_taken(shape)}) AS taken ON new._load_id = taken._load_id
        """
    )


def _changed(shape: Shape) -> str:
    """SQL of the rows that have a documented id in common, where content differs."""
    key = [quoted(shape.columns[name.lower()].name) for name in shape.key if name.lower() in shape.columns]
    if not key or len(key) < len(shape.key):
        return "SELECT NULL::BIGINT AS _came_as, NULL::BIGINT AS _row WHERE false"
    whole = " AND ".join(f"{name} IS NOT NULL" for name in key)
    ranked = f"row_number() OVER (PARTITION BY _scope, {', '.join(key)} ORDER BY _row) AS _turn"
    same = " AND ".join(f"new.{name} = old.{name}" for name in ["_scope", "_turn", *key])
    return f"""
        SELECT new._row AS _came_as, old._row FROM
        (SELECT *, {ranked} FROM new_rows WHERE {whole}) AS new JOIN
        (SELECT *, {ranked} FROM old_rows WHERE {whole}) AS old ON {same}
    """


def _taken(shape: Shape) -> str:
    """SQL of how far to move rows of a load that was merged before, past the numbers it took then."""
    return f"""
        SELECT load._load_id, max(old._row) + 1 - any_value(load._first_row) AS _shift
        FROM (SELECT DISTINCT _load_id, _first_row FROM scopes WHERE _known) AS load
        JOIN {shape.stored} AS old
        ON old._row >= load._first_row AND old._row < load._first_row + {1 << 24} GROUP BY ALL
    """


def _close(connection: DuckDBPyConnection, shape: Shape, done: Merged) -> None:
    """End the rows that are no longer so."""
    connection.execute(
        f"""
        UPDATE {shape.stored} AS history SET valid_to_utc = ended._at_utc
        FROM (SELECT _place, _at_utc FROM old_rows JOIN scopes USING (_scope)) AS ended
        WHERE history.rowid = ended._place
        """
    )
    ended = "SELECT scopes._load_id, count(*) FROM old_rows JOIN scopes USING (_scope) GROUP BY ALL"
    done.closed.update(dict(connection.execute(ended).fetchall()))


def _open(connection: DuckDBPyConnection, shape: Shape, done: Merged) -> None:
    """Begin the rows that are so from now on."""
    ours = [quoted(name) for name in shape.ours]
    values = ["kept._row" if name == '"_row"' else f"new.{name}" for name in [*ours, *shape.content]]
    connection.execute(
        f"""
        INSERT INTO {shape.stored} ({", ".join([*ours, *shape.content])}, valid_from_utc)
        SELECT {", ".join(values)}, new._fetched_at_utc
        FROM new_rows AS new JOIN {_kept(shape.name)} AS kept ON new._row = kept._came_as ORDER BY new._row
        """
    )
    begun = "SELECT _load_id, count(*) FROM new_rows GROUP BY ALL"
    done.opened.update(dict(connection.execute(begun).fetchall()))


def _columns(shape: Shape, of: str = "") -> str:
    """What analysts see of a row, as a list in SQL."""
    names = [*map(quoted, shape.ours), *shape.content]
    return ", ".join(f"{of}.{name}" if of else name for name in names)


def _compared(shape: Shape) -> list[str]:
    """The columns in which two rows must agree to be the same row."""
    return [*(["_parent_row"] if shape.nested else []), *shape.content]


def _kept(name: str) -> str:
    """The temporary table that says under which number each row of a wave rests."""
    return quoted(f"kept {name.lower()}")
