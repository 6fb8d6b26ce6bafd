"""Do arriving columns fit the table? Unknown ones are added, narrow ones widened, before a row is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from warehouse.entering import naive_utc
from warehouse.evolving import as_column, new_shape, stand
from warehouse.loads import ColumnLike
from warehouse.making import add, describe, retype
from warehouse.opening import quoted
from warehouse.shapes import Column, Shape
from warehouse.stacking import PLACES, Part
from warehouse.widening import EXACT, NOTHING, joined

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass
class Arrival:
    """A column as it comes with the loads of a group: in which types, and with which load first."""

    column: ColumnLike
    types: dict[str, Part] = field(default_factory=dict)  # each type with the first part that brought it
    wholes: list[Part] = field(default_factory=list)  # the parts in which it is a whole number

    def note(self, part: Part) -> None:
        """Take in one more load's values."""
        type_ = part.types[self.column.name]
        self.types.setdefault(type_, part)
        if type_ == "BIGINT":
            self.wholes.append(part)

    @property
    def first(self) -> Part | None:
        """The first load in which it is more than null, or else the first that had it at all."""
        real = [part for type_, part in self.types.items() if type_ != NOTHING]
        had = [part for part in self.types.values() if part.table.frame.height and self.had_by(part)]
        return next(iter(real or had), None)

    def had_by(self, part: Part) -> bool:
        return self.column.name in part.table.frame.columns


def make_room(
    connection: DuckDBPyConnection, shapes: dict[str, Shape], standing: set[str], parts: Sequence[Part]
) -> None:
    """Bring the tables of these parts to what arrives; all parts are of one table."""
    first = parts[0]
    name = first.table.name
    nested = any("_parent_row" in part.table.frame.columns for part in parts)
    shape = shapes.get(name.lower())
    if shape is None:
        load = first.entry.load
        shape = new_shape(
            shapes, name, load.report, history=load.history, key=tuple(first.table.key), nested=nested
        )
        shapes[name.lower()] = shape
    if nested and not shape.nested:
        raise ValueError(f"rows of {name} point to a parent, but the table was made without one")
    if shape.report != first.entry.load.report or shape.history != first.entry.load.history:
        raise ValueError(f"{name} is a table of {shape.report}, and not of {first.entry.load.report}")
    stand(connection, shape, standing)
    before = dict(shape.columns)
    for key, arrival in _arrivals(parts).items():
        shape.columns[key] = _fitted(connection, shape, shape.columns.get(key), arrival)
    if shape.columns != before:
        describe(connection, shape)


def _arrivals(parts: Sequence[Part]) -> Mapping[str, Arrival]:
    arrivals: dict[str, Arrival] = {}
    for part in parts:
        known = {column.name for column in part.table.columns}
        strange = [name for name in part.table.frame.columns if name not in known and name not in PLACES]
        if strange or len({name.lower() for name in known}) < len(known):
            raise ValueError(
                f"the columns of {part.table.name} do not say what its frame holds: {strange or known}"
            )
        for column in part.table.columns:
            arrivals.setdefault(column.name.lower(), Arrival(column)).note(part)
    return arrivals


def _fitted(connection: DuckDBPyConnection, shape: Shape, known: Column | None, arrival: Arrival) -> Column:
    """The column as it must be to hold what stands and what arrives."""
    if known is None:
        column = _seen(as_column(arrival.column), arrival)
        if not column.documented:
            types = list(arrival.types)
            column = replace(column, type=joined(types, digits_at_risk=_at_risk(types, arrival)))
        add(connection, shape, column)
        return column
    column = known if known.first_seen_utc else _seen(known, arrival)
    if known.documented or set(arrival.types) <= {known.type, NOTHING}:
        return column
    types = [known.type, *arrival.types]
    at_risk = _at_risk(types, arrival) or (
        known.type == "BIGINT" and "DOUBLE" in types and _holds_large(connection, shape, known)
    )
    type_ = joined(types, digits_at_risk=at_risk)
    if type_ != known.type:
        load = next(
            part.entry.load for kind, part in arrival.types.items() if kind not in (known.type, NOTHING)
        )
        retype(connection, shape, known, type_, load.load_id, naive_utc(load.fetched_at_utc))
    return replace(column, type=type_)


def _seen(column: Column, arrival: Arrival) -> Column:
    part = arrival.first
    if part is None:
        return column
    load = part.entry.load
    return replace(column, first_seen_utc=naive_utc(load.fetched_at_utc), first_load_id=load.load_id)


def _at_risk(types: Sequence[str], arrival: Arrival) -> bool:
    """Whether whole numbers that DOUBLE cannot hold meet fractional ones."""
    if not {"BIGINT", "DOUBLE"} <= set(types):
        return False
    values = [part.table.frame[arrival.column.name] for part in arrival.wholes]
    return any(not one.is_between(-EXACT, EXACT).all() for one in values)


def _holds_large(connection: DuckDBPyConnection, shape: Shape, column: Column) -> bool:
    value = quoted(column.name)
    found = connection.execute(
        f"SELECT 1 FROM {shape.stored} WHERE {value} NOT BETWEEN {-EXACT} AND {EXACT} LIMIT 1"
    )
    return bool(found.fetchall())
