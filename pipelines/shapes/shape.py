"""Shape of a report: where its tables and their columns are in its answers, as a tree of places."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.catalogue.model import Column, Report, Table, declared_columns
from pipelines.shapes.paths import ANY, NONE, ColumnPath, Hop, PathError, RowsPath, Step, rows_path

Keys = tuple[str, ...]
DOCUMENT_HOP = Hop((), Step("", ()), "")


@dataclass
class Place:
    """A place in a document where objects are: the document itself, or the elements that a hop leads to.

    `columns` are the declared columns read here, by path; `below` are the places reached from here. If the
    rows of a table are here, `sources` has the place and path of each column, and `from_parent` maps columns
    to those of the parent row.
    """

    hop: Hop = DOCUMENT_HOP
    path: str = ""
    columns: dict[ColumnPath, Column] = field(default_factory=dict)
    below: list[Place] = field(default_factory=list)
    table: Table | None = None
    sources: dict[str, tuple[Place, ColumnPath]] = field(default_factory=dict)
    from_parent: dict[str, str] = field(default_factory=dict)

    @property
    def declared(self) -> dict[Keys, Column]:
        """The columns of each object, by the simplified names on the way to their values.

        If the element itself is a column, its name is empty.
        """
        return {path.members or ("",): column for path, column in self.columns.items() if not path.is_key}

    @property
    def is_plain(self) -> bool:
        """Whether the element itself is a column, and so not an object."""
        return ("",) in self.declared

    @property
    def lists(self) -> set[Keys]:
        """The paths to the lists that are separate places; (*,) stands for any list of objects."""
        ways: set[Keys] = set()
        for hop in (place.hop for place in self.below):
            names = (ANY,) if hop.step.is_any else hop.step.names
            ways |= {(*hop.members, name) for name in names} or {hop.members}
        return ways


def shape_of(report: Report) -> Place:
    """The document at the root of a report, with all places below; raises PathError."""
    document = Place()
    ways: dict[str, tuple[Place, ...]] = {"": (document,)}
    for table in report.tables:
        if table.rows == NONE:
            continue
        rows = rows_path(table.rows)
        if rows.parent not in ways:
            raise PathError(
                f"{table.name}: its rows are below {rows.parent!r}, which is not an earlier table"
            )
        way = ways[table.name] = _walk(ways[rows.parent][-1:], rows)
        if way[-1].table:
            raise PathError(f"{table.name} and {way[-1].table.name} both have their rows at {rows.text!r}")
        way[-1].table = table
        for column in declared_columns(table):
            if text := column_path(table, column):
                try:
                    _add_column(way, rows.column(text), column)
                except PathError as error:
                    raise PathError(f"{table.name}.{column.name}: {error}") from None
    return document


def column_path(table: Table, column: Column) -> str:
    """The path of a column, from shapes.toml or else as declared; empty if its value is the request's."""
    if column.name in table.paths:
        return table.paths[column.name]
    if column in table.requested:
        return ""
    if not column.source:
        return NONE
    is_path = column.source.startswith((".", "@")) or "[" in column.source or "{" in column.source
    return column.source if is_path else f".{column.source}"


def _walk(way: tuple[Place, ...], rows: RowsPath) -> tuple[Place, ...]:
    """The places on the way to the rows; adds those that are new."""
    for hop in rows.hops:
        above = way[-1]
        place = next((place for place in above.below if place.hop == hop), None)
        if place is None:
            place = Place(hop, f"{above.path}.{hop.text}" if above.path else hop.text)
            above.below.append(place)
        way = (*way, place)
    return way


def _add_column(way: tuple[Place, ...], path: ColumnPath | None, column: Column) -> None:
    if path and path.parent:
        way[-1].from_parent[column.name] = path.members[0]
    elif path:
        source = way[path.level]
        source.columns.setdefault(path, column)
        way[-1].sources[column.name] = (source, path)
