"""Facts about one page of an answer, which show whether paging lost rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipelines.catalogue.model import Report
from pipelines.normalize.contents import EMPTY, Fields
from pipelines.normalize.document import Document, Json, Keys, to_json
from pipelines.normalize.rows import Level, ShapeMismatch, document_level, inner_level
from pipelines.shapes.paths import member_path
from pipelines.shapes.shape import shape_of

Id = tuple[str | None, ...]
"""The values of the columns that identify a row; if one of the values is null, the row has no id."""


@dataclass(frozen=True)
class PageFacts:
    """The rows and ids of one page, for each of its tables that is not nested in another table.

    If the page does not fit the shape of its report, `mismatch` is the reason, and there are no rows.
    """

    rows: Sequence[Sequence[Json]] = ()
    ids: Mapping[str, Sequence[Id]] = field(default_factory=dict)
    total: int | None = None  # the number of rows on all pages, as this page states it
    mismatch: str = ""

    @property
    def count(self) -> int:
        return sum(map(len, self.rows))

    @property
    def rows_hash(self) -> int:
        """A hash that differs for pages with different rows, even if the rows have no ids."""
        return hash(repr(self.rows))


def page_facts(report: Report, document: Document) -> PageFacts:
    """The facts of one page."""
    total = _total(document.value, member_path(report.total_rows))
    try:
        root = document_level(shape_of(report), [document.value], member_path(report.root))
        levels = _topmost_levels(root)
    except ShapeMismatch as error:
        return PageFacts(total=total, mismatch=str(error))
    ids = {table.name: _ids(level, table.key) for level in levels if (table := level.place.table)}
    return PageFacts([level.elements for level in levels], ids, total)


def _topmost_levels(level: Level) -> list[Level]:
    if level.place.table:
        return [level]
    return [top for place in level.place.below for top in _topmost_levels(inner_level(level, place))]


def _ids(level: Level, key: Sequence[str]) -> list[Id]:
    """The ids of the rows; an empty list if the table has no key."""
    paths = [level.place.sources[name] for name in key if name in level.place.sources]
    columns = [_values_at(level.objects, path.members) for source, path in paths if source is level.place]
    return [tuple(map(_as_text, values)) for values in zip(*columns, strict=True)]


def _values_at(objects: Sequence[Json], members: Keys) -> list[Json]:
    values: list[Json] = list(objects)
    for name in members:
        values = Fields([value if type(value) is dict else EMPTY for value in values]).values(name)
    return values


def _total(value: Json, members: Keys) -> int | None:
    [total] = _values_at([value], members)
    if type(total) is str and total.isascii() and total.isdigit() and len(total) < 19:
        total = int(total)
    return total if type(total) is int and total >= 0 else None


def _as_text(value: Json) -> str | None:
    return value if value is None or type(value) is str else to_json(value)
