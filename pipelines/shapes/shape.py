"""Shape of a report: a tree of the places in its answers where its tables and columns are."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.catalogue.model import Column, Report, Table, declared_columns
from pipelines.shapes.paths import ANY, NONE, ColumnPath, Hop, PathError, RowsPath, Step, rows_path

Keys = tuple[str, ...]
DOCUMENT_HOP = Hop((), Step("", ()), "")


@dataclass
class Place:
    """A place: the document itself, or the elements that the path `hop` leads to.

    `columns` are the declared columns that are read here, by path. `below` are the places nested directly in
    this one. If the rows of a `table` are here, `sources` has the place and path at which each of its columns
    is read. `from_parent` has the columns that are taken from the parent row, with their names in that row.
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
        """The columns by the simplified names that lead to their values; `("",)` is the element itself."""
        return {path.members or ("",): column for path, column in self.columns.items() if not path.is_key}

    @property
    def is_plain(self) -> bool:
        """Whether the elements are plain values of a column, not objects."""
        return ("",) in self.declared

    @property
    def lists(self) -> set[Keys]:
        """The paths to the lists (or objects) that are separate places; `("*",)` is any list of objects."""
        paths: set[Keys] = set()
        for hop in (place.hop for place in self.below):
            names = (ANY,) if hop.step.is_any else hop.step.names
            paths |= {(*hop.members, name) for name in names} or {hop.members}
        return paths


def shape_of(report: Report) -> Place:
    """The topmost place of a report's answers, with all places below it. Raises PathError for bad paths."""
    document = Place()
    places_to_rows: dict[str, tuple[Place, ...]] = {"": (document,)}
    for table in report.tables:
        if table.rows == NONE:
            continue
        rows = rows_path(table.rows)
        if rows.parent not in places_to_rows:
            raise PathError(f"{table.name}: its rows are below {rows.parent!r}, which is no earlier table")
        places = places_to_rows[table.name] = _walk(places_to_rows[rows.parent][-1:], rows)
        if other := places[-1].table:
            raise PathError(f"{table.name} and {other.name} both have their rows at {rows.text!r}")
        places[-1].table = table
        for column in declared_columns(table):
            if text := column_path(table, column):
                try:
                    _add_column(places, rows.column(text), column)
                except PathError as error:
                    raise PathError(f"{table.name}.{column.name}: {error}") from None
    return document


def column_path(table: Table, column: Column) -> str:
    """A column's path, from shapes.toml or as declared; `-` if none, empty if the value is in the request."""
    if column.name in table.paths:
        return table.paths[column.name]
    if column in table.requested:
        return ""
    if not column.source:
        return NONE
    is_path = column.source.startswith((".", "@")) or "[" in column.source or "{" in column.source
    return column.source if is_path else f".{column.source}"


def _walk(places: tuple[Place, ...], rows: RowsPath) -> tuple[Place, ...]:
    """`places`, followed by each place on the path to the rows; creates those that do not exist yet."""
    for hop in rows.hops:
        above = places[-1]
        place = next((place for place in above.below if place.hop == hop), None)
        if place is None:
            place = Place(hop, f"{above.path}.{hop.text}" if above.path else hop.text)
            above.below.append(place)
        places = (*places, place)
    return places


def _add_column(places: tuple[Place, ...], path: ColumnPath | None, column: Column) -> None:
    if path and path.parent:
        places[-1].from_parent[column.name] = path.members[0]
    elif path:
        source = places[path.level]
        source.columns.setdefault(path, column)
        places[-1].sources[column.name] = (source, path)
