"""Columns of the published file as Delta tables have them: names, values and types that every reader knows.

Types are those of reader version 1. A moment is an instant there, and cannot be a clock on a wall: times of
ours are in UTC, and times of the service, which are the brokerage's clock, are converted by its time zone.
A type that Delta lacks (a time of day, an interval) is text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warehouse.store.duckdb_file import literal, quoted

if TYPE_CHECKING:
    from warehouse.publishing.table_export import PublishedTable, TableExport

SHARD = "_shard"
IN_STATISTICS = ("date",)
"""Types of the columns whose smallest and largest values the log keeps."""
OURS_UTC = frozenset(("_fetched_at_utc", "valid_from_utc", "valid_to_utc"))
"""Moments of ours in tables of bi; all others there are the service's, whatever they are called."""
TEXT, DOUBLE, MOMENT, TEXTS = "string", "double", "timestamp", "array"
_WHOLE = {"byte": "TINYINT", "short": "SMALLINT", "integer": "INTEGER", "long": "BIGINT"}
"""Whole numbers, each wider than the one before, and what SQL calls them."""
_TYPES = {
    "BOOLEAN": "boolean",
    "TINYINT": "byte",
    "UTINYINT": "short",
    "SMALLINT": "short",
    "USMALLINT": "integer",
    "INTEGER": "integer",
    "UINTEGER": "long",
    "BIGINT": "long",
    "UBIGINT": "decimal(20,0)",
    "HUGEINT": "decimal(38,0)",
    "UHUGEINT": "decimal(38,0)",
    "FLOAT": DOUBLE,
    "DOUBLE": DOUBLE,
    "DATE": "date",
    "BLOB": "binary",
    "VARCHAR[]": TEXTS,
    "TIMESTAMP WITH TIME ZONE": MOMENT,
}
_CLOCK = re.compile(r"TIMESTAMP(_S|_MS|_NS)?")
_DECIMAL = re.compile(r"decimal\((\d+),\s?(\d+)\)", re.IGNORECASE)
_NESTED = re.compile(r"(STRUCT|MAP|UNION)\(.*|.*\]")
_NO_TYPE = '"NULL"'
"""Of a column in which nobody has seen a value yet: it comes with the first one."""
_NOT_IN_NAMES = re.compile(r"[ ,;{}()\n\t=/\\?#%*:|\"<>]")


@dataclass(frozen=True)
class LakeColumn:
    """A column of a Delta table: the SQL of its values, its type, and whether the log tells its bounds."""

    name: str
    sql: str
    type: str
    in_statistics: bool = False

    @property
    def select(self) -> str:
        return f"{self.sql} AS {quoted(self.name)}"

    def cast(self, type_: str) -> LakeColumn:
        """The same column as another type."""
        if type_ == self.type:
            return self
        return replace(self, sql=_cast(self.sql, self.type, type_), type=type_, in_statistics=False)


def lake_columns(
    table: PublishedTable, timezone: str, is_personal: Callable[[str, str], bool]
) -> list[LakeColumn]:
    """The columns of a published table as Delta tables have them."""
    found: list[LakeColumn] = []
    for one in table.columns:
        if one.type == _NO_TYPE:
            continue
        name, number = readable_name(one.name), 1
        while name.lower() in (other.name.lower() for other in found):
            number += 1
            name = f"{readable_name(one.name)}_{number}"
        of_utc = one.name in OURS_UTC if table.schema == "bi" else one.name.endswith("_utc")
        sql, type_ = _value(quoted(one.name), one.type, "UTC" if of_utc else timezone)
        tells = type_ in IN_STATISTICS and name.isidentifier() and not is_personal(table.table, one.name)
        found.append(LakeColumn(name, sql, type_, tells))
    return found


def readable_name(name: str) -> str:
    """A name of a column or table as every engine takes it."""
    return _NOT_IN_NAMES.sub("_", name)


def agreed(one: str, other: str) -> str:
    """The narrowest type that holds the values of both; text holds everything."""
    if one == other:
        return one
    whole = list(_WHOLE)
    if one in whole and other in whole:
        return whole[max(whole.index(one), whole.index(other))]
    decimals = [_DECIMAL.fullmatch(type_) for type_ in (one, other)]
    if all(decimals):
        scale = max(int(found[2]) for found in decimals if found)
        digits = max(int(found[1]) - int(found[2]) for found in decimals if found) + scale
        return f"decimal({digits},{scale})" if digits <= 38 else DOUBLE
    are_numbers = all(
        type_ in (*whole, DOUBLE) or found for type_, found in zip((one, other), decimals, strict=True)
    )
    return DOUBLE if are_numbers else TEXT


def as_type(name: str, before: str, after: str) -> str:
    """SQL of the values of a column of the lake as another type."""
    return quoted(name) if before == after else _cast(quoted(name), before, after)


def _cast(sql: str, before: str, after: str) -> str:
    if before == TEXTS:
        return f"array_to_string({sql}, ', ')"
    type_ = {TEXT: "VARCHAR", DOUBLE: "DOUBLE", **_WHOLE}.get(after, after)
    return f"CAST({sql} AS {type_})"


def _value(sql: str, type_: str, timezone: str) -> tuple[str, str]:
    """The SQL of a column's values, and its Delta type."""
    if type_ in ("VARCHAR", "JSON"):
        return f"{sql}::VARCHAR", TEXT
    if _CLOCK.fullmatch(type_):
        return f"({sql}::TIMESTAMP AT TIME ZONE {literal(timezone)})", MOMENT
    if decimal := _DECIMAL.fullmatch(type_):
        return sql, f"decimal({decimal[1]},{decimal[2]})"
    if found := _TYPES.get(type_):
        casts = {"FLOAT": "DOUBLE", "UBIGINT": "DECIMAL(20, 0)", "HUGEINT": "DECIMAL(38, 0)"}
        casts |= {"UHUGEINT": "DECIMAL(38, 0)"} | {
            name: _WHOLE[found] for name in ("UTINYINT", "USMALLINT", "UINTEGER") if name == type_
        }
        return (f"{sql}::{casts[type_]}" if type_ in casts else sql), found
    return (f"to_json({sql})::VARCHAR" if _NESTED.fullmatch(type_) else f"{sql}::VARCHAR"), TEXT


def lake_path(table: PublishedTable) -> str:
    """Where a table is below the lake: what no file system or address takes is another sign there."""
    return f"{table.schema}/{readable_name(table.table)}"


def content_number(
    source: TableExport, table: PublishedTable, columns: Sequence[LakeColumn], select: str
) -> int:
    """A number that is the same for the same rows, in whatever order, under the same columns."""
    [(rows, total)] = source.connection.execute(
        f"SELECT count(*), sum(hash(found)::HUGEINT) FROM (SELECT {select} FROM {table.source}) AS found"
    ).fetchall()
    whole = f"{[(one.name, one.type) for one in columns]} {rows} {total}"
    return int.from_bytes(hashlib.sha256(whole.encode()).digest()[:8]) >> 1
