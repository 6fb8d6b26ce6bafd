"""The shape of a report: where its tables and their columns are in its answers, as a tree of places."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.catalogue.model import Column, Report, Table, declared_columns
from pipelines.shapes.paths import (
    ANY,
    NONE,
    ColumnPath,
    Hop,
    PathError,
    RowsPath,
    member_path,
    rows_path,
)

Keys = tuple[str, ...]


@dataclass
class Place:
    """A place in a document where objects are: the document itself, or the elements that a hop leads to.

    `columns` are the declared columns that are read here, by their paths; `below` are the places that are
    reached from here. Where the rows of a table are, `way` leads there from the document (or from the rows
    that these are nested in), `sources` says at which place of it each column is, and `from_parent` which
    columns are those of the parent row.
    """

    hop: Hop | None = None
    path: str = ""
    columns: dict[ColumnPath, Column] = field(default_factory=dict)
    below: list[Place] = field(default_factory=list)
    table: Table | None = None
    way: tuple[Place, ...] = ()
    sources: dict[str, tuple[Place, ColumnPath]] = field(default_factory=dict)
    from_parent: dict[str, str] = field(default_factory=dict)

    @property
    def declared(self) -> dict[Keys, Column]:
        """The columns whose value is a member of each object, by the simplified names on the way to it."""
        return {path.members: column for path, column in self.columns.items() if path.members}

    @property
    def itself(self) -> Column | None:
        """The column that is the element itself, where rows are no objects."""
        return next((column for path, column in self.columns.items() if path.is_itself), None)

    @property
    def lists(self) -> set[Keys]:
        """The ways to the lists that are places of their own; (*,) stands for any list of objects."""
        ways: set[Keys] = set()
        for hop in (place.hop for place in self.below if place.hop):
            names = (ANY,) if hop.step.is_any else hop.step.names
            ways |= {(*hop.members, name) for name in names} or {hop.members}
        return ways


@dataclass(frozen=True)
class Shape:
    """Where everything of a report is: members that lead to the root of its data, places, and its totals."""

    root: Keys
    document: Place
    total_rows: Keys = ()


def shape_of(report: Report) -> Shape:
    """The shape of a report as it is declared; raises PathError with a sentence."""
    document = Place(path="the answer")
    ways: dict[str, tuple[Place, ...]] = {"": (document,)}
    for table in report.tables:
        if table.rows == NONE:
            continue
        rows = rows_path(table.rows)
        if rows.parent and rows.parent not in ways:
            raise PathError(f"{table.name}: its rows are below {rows.parent!r}, which is no table before it")
        way = _walk(ways[rows.parent][-1:] if rows.parent else ways[""], rows)
        place = way[-1]
        if place.table:
            raise PathError(f"{table.name} and {place.table.name} both have their rows at {rows.text!r}")
        place.table, place.way, ways[table.name] = table, way, way
        for column in declared_columns(table):
            if text := column_path(table, column):
                _add_column(place, rows, column, text)
    return Shape(member_path(report.root), document, member_path(report.total_rows))


def column_path(table: Table, column: Column) -> str:
    """The path of a column: as an operator wrote it, else as it is declared; empty for the request's own."""
    if column.name in table.paths:
        return table.paths[column.name]
    if column in table.requested:
        return ""
    if not column.source:
        return NONE
    is_path = column.source.startswith((".", "@")) or "[" in column.source or "{" in column.source
    return column.source if is_path else f".{column.source}"


def _walk(way: tuple[Place, ...], rows: RowsPath) -> tuple[Place, ...]:
    """The places on the way to the rows, made where they are new."""
    for hop in rows.hops:
        above = way[-1]
        place = next((place for place in above.below if place.hop == hop), None)
        if place is None:
            path = hop.text if above.hop is None else f"{above.path}.{hop.text}"
            place = Place(hop, path)
            above.below.append(place)
        way = (*way, place)
    return way


def _add_column(place: Place, rows: RowsPath, column: Column, text: str) -> None:
    try:
        path = rows.column(text)
    except PathError as error:
        raise PathError(f"{place.table.name if place.table else ''}.{column.name}: {error}") from None
    if path.parent:
        place.from_parent[column.name] = path.members[0]
    elif not path.is_none:
        source = place.way[path.level]
        source.columns.setdefault(path, column)
        place.sources[column.name] = (source, path)
