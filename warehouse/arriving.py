"""Do arriving columns fit the table? Unknown ones are added, narrow ones widened, before a row is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from warehouse.entering import naive_utc
from warehouse.evolving import as_column, parent_of, stand
from warehouse.making import add, describe, note, retype
from warehouse.opening import quoted
from warehouse.shapes import Column, Shape
from warehouse.stacking import PLACES, Coming, Part, Stack
from warehouse.widening import EXACT, NOTHING, joined
from warehouse.window_result import ColumnLike, WindowResult

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass
class Arrival:
    """A column as it comes with a group of loads, and the rows it comes with in each type."""

    column: ColumnLike
    rows: dict[str, list[tuple[Stack, str]]] = field(default_factory=dict)  # by type, with its name there

    @property
    def types(self) -> list[str]:
        return list(self.rows)

    def loads(self, *, besides: str = NOTHING) -> Iterator[WindowResult]:
        """The loads in which it is first more than null, or else those that had it at all."""
        real = [rows for type_, rows in self.rows.items() if type_ not in (NOTHING, besides)]
        for stack, name in (pair for rows in real or self.rows.values() for pair in rows):
            if part := stack.first_with(name):
                yield part.entry.load

    def at_risk(self, types: Sequence[str]) -> bool:
        """Whether whole numbers that DOUBLE cannot hold meet fractional ones."""
        if not {"BIGINT", "DOUBLE"} <= set(types):
            return False
        values = [stack.frame[name] for stack, name in self.rows.get("BIGINT", ())]
        return any(not one.is_between(-EXACT, EXACT).all() for one in values)


def make_room(
    connection: DuckDBPyConnection, shapes: dict[str, Shape], standing: set[str], coming: Coming
) -> None:
    """Bring a table to what arrives for it."""
    shape = _shape(shapes, coming.parts)
    stand(connection, shape, standing)
    before = dict(shape.columns)
    for name, arrival in _arrivals(coming.stacks).items():
        shape.columns[name] = _fitted(connection, shape, shape.columns.get(name), arrival)
    if list(map(_meaning, shape.columns.values())) != list(map(_meaning, before.values())):
        describe(connection, [shape])
    elif shape.columns != before:  # seen for the first time: comments and views stay as they are
        note(connection, [shape])


def _meaning(column: Column) -> Column:
    """The column as its table's comments and views know it."""
    return replace(column, first_seen_utc=None, first_load_id=None)


def _shape(shapes: dict[str, Shape], parts: Sequence[Part]) -> Shape:
    """The table of these parts, known or new; refuses rows of another report or another kind."""
    table, load = parts[0].table, parts[0].entry.load
    nested = any("_parent_row" in part.table.frame.columns for part in parts)
    shape = shapes.get(table.name.lower())
    if shape is None:
        parent = parent_of(shapes, table.name)
        shape = Shape(table.name, load.report, parent, load.history, tuple(table.key), nested, "")
        shape.columns = {
            column.name.lower(): as_column(column) for column in table.columns if column.documented
        }
        shapes[table.name.lower()] = shape
    if nested and not shape.nested:
        raise ValueError(f"rows of {table.name} point to a parent, but the table was made without one")
    for part in parts:
        if (part.entry.load.report, part.entry.load.history) != (shape.report, shape.history):
            raise ValueError(f"{table.name} belongs to {shape.report}, and not to {part.entry.load.report}")
    return shape


def _arrivals(stacks: Sequence[Stack]) -> Mapping[str, Arrival]:
    arrivals: dict[str, Arrival] = {}
    for stack in stacks:
        known = {column.name for column in stack.columns}
        strange = set(stack.frame.columns) - known - PLACES - {"_part"}
        if strange or len({name.lower() for name in known}) < len(known):
            raise ValueError(
                f"the columns {sorted(known)} do not say what the frame holds: {sorted(strange)}"
            )
        for column in stack.columns:
            arrival = arrivals.setdefault(column.name.lower(), Arrival(column))
            arrival.rows.setdefault(stack.types[column.name], []).append((stack, column.name))
    return arrivals


def _fitted(connection: DuckDBPyConnection, shape: Shape, known: Column | None, arrival: Arrival) -> Column:
    """The column as it must be to hold what stands and what arrives."""
    if known is None:
        column = _seen(as_column(arrival.column), arrival)
        if not column.documented:
            risk = arrival.at_risk(arrival.types)
            column = replace(column, type=joined(arrival.types, digits_at_risk=risk))
        add(connection, shape, column)
        return column
    column = known if known.first_seen_utc else _seen(known, arrival)
    if known.documented or set(arrival.types) <= {known.type, NOTHING}:
        return column
    types = [known.type, *arrival.types]
    risk = arrival.at_risk(types) or (
        known.type == "BIGINT" and "DOUBLE" in types and _holds_large(connection, shape, known)
    )
    type_ = joined(types, digits_at_risk=risk)
    if type_ != known.type:
        load = next(arrival.loads(besides=known.type))
        retype(connection, shape, known, type_, load.load_id, naive_utc(load.fetched))
    return replace(column, type=type_)


def _seen(column: Column, arrival: Arrival) -> Column:
    load = next(arrival.loads(), None)
    if load is None:
        return column
    return replace(column, first_seen_utc=naive_utc(load.fetched), first_load_id=load.load_id)


def _holds_large(connection: DuckDBPyConnection, shape: Shape, column: Column) -> bool:
    value = quoted(column.name)
    found = connection.execute(
        f"SELECT 1 FROM {shape.stored} WHERE {value} NOT BETWEEN {-EXACT} AND {EXACT} LIMIT 1"
    )
    return bool(found.fetchall())
