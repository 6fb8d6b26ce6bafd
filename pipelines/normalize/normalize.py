"""Typed tables from the documents of one window, with nothing lost.

1. Every document is searched on its own for the lists of rows that the catalogue declares (`row_locator`):
   pages, halves of a window, choices and users may all come in envelopes of their own.
2. Documents that keep them in the same places are of one shape, and become tables together (`levels`).
3. The tables of all shapes are stacked, and rows that pages repeat are left out (`stacking`).
4. Rows of several months are taken apart where only what is nested in them says which (`months_within`).

A document that is not empty and gave no row is an error, and so is a row that does not say which of the
report's choices it came with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from pipelines.catalogue.model import Report, declared_columns
from pipelines.months import Month
from pipelines.normalize.columns.stacking import Tables, stacked, without_repeated
from pipelines.normalize.columns.tables import (
    Normalized,
    NormalizedTable,
    RejectedRow,
    arrange_columns,
    make_table,
)
from pipelines.normalize.document import Document, Keys, Object, value_at
from pipelines.normalize.envelopes import has_error_sign, is_an_error, is_hollow, says_nothing
from pipelines.normalize.levels import MOST_KEPT_REJECTED, Flattening, Names, Shape
from pipelines.normalize.months_within import spread_over_months
from pipelines.normalize.row_locator import Locator, locator_of
from pipelines.normalize.row_paths import ListPath, RowPath, as_written, expected_of


def normalize(
    report: Report,
    documents: Sequence[Document],
    *,
    months: Sequence[Month],
    timezone: str,
    asked: Sequence[str | None] | None = None,
    chosen: Sequence[str | None] | None = None,
    holds_no_sums: bool = False,
) -> Normalized:
    """Every table of the report, the rows that fit none, and what was noticed.

    `months` are those of the window. `asked` says for every document which user or estate it is about,
    `chosen` which of the report's choices it was asked with. `holds_no_sums` says that numbers beside rows of
    several months are known to be no sums over them. The documents forget their values afterwards.
    """
    months = tuple(months) if report.has_months else ()
    asked, chosen = (one or [None] * len(documents) for one in (asked, chosen))
    answer = _Answer(report, documents, months, timezone, holds_no_sums)
    result = answer.normalized(asked, chosen)
    if answer.lacks_digits:
        for document in documents:
            document.read_all_digits()
        result = replace(answer, notes=[], lacks_digits=False, is_recognised=True).normalized(asked, chosen)
    for document in documents:
        document.forget()
    return result


@dataclass
class _Answer:
    """The documents of one window that are being normalized; `window` is the months asked for."""

    report: Report
    documents: Sequence[Document]
    window: tuple[Month, ...]
    timezone: str
    holds_no_sums: bool
    notes: list[str] = field(default_factory=list)
    lacks_digits: bool = False
    is_recognised: bool = True

    def normalized(self, asked: Sequence[str | None], chosen: Sequence[str | None]) -> Normalized:
        """The whole answer; declared tables come first, also those without a row."""
        locator = locator_of(self.report)
        shapes, year_and_month = self._shapes(locator)
        names = Names([table.name for table in self.report.tables])
        groups: list[Tables] = []
        rejected: list[RejectedRow] = []
        undated = False
        for shape in shapes:
            one = Flattening(
                self.report, self.documents, self.window, self.timezone, names, locator.names, year_and_month
            )
            one.add(shape, asked, chosen)
            self.notes += one.notes
            self.lacks_digits |= one.lacks_digits
            self.is_recognised &= one.is_readable
            self._check_rows(locator, shape, one)
            groups.append(one.tables)
            rejected += _bounded(one)
            undated |= one.undated
        tables = stacked(groups) if groups else {}
        self._check_choices(tables, chosen)
        tables, repeated = without_repeated(tables, self.report)
        if self.report.month_of_row == "year and month within" and len(self.window) > 1:
            days = [one.first_day for one in self.window]
            spread = spread_over_months(list(tables.values()), days, holds_no_sums=self.holds_no_sums)
            undated = spread is None
            tables = {one.name: one for one in spread or tables.values()}
        return Normalized(
            tuple((self._declared(tables) | tables).values()),
            tuple(rejected),
            tuple(dict.fromkeys(self.notes)),
            self.is_recognised,
            year_and_month,
            repeated,
            undated,
        )

    def _declared(self, tables: Mapping[str, NormalizedTable]) -> Tables:
        """The declared tables in their order, empty ones too."""
        declared = {}
        for table in self.report.tables:
            nothing = arrange_columns(declared_columns(table), (), 0)
            parents = pl.Series(dtype=pl.Int64) if table.parent else None
            declared[table.name] = tables.get(table.name) or make_table(
                table.name, nothing, pl.Series(dtype=pl.Date), key=table.key, parent_rows=parents
            )
        return declared

    def _shapes(self, locator: Locator) -> tuple[list[Shape], bool | None]:
        """The documents by shape, and whether rows that may carry a year and a month do (None: no rows)."""
        pages = [locator.page_of(document.value) for document in self.documents]
        if any(is_an_error(page, expected_of(locator.paths)) for page in pages):
            self._refuse("it is an error message, although its status says that all is well")
            return [], None
        shapes: dict[object, Shape] = {}
        carry = set()
        for number, (page, found) in enumerate(zip(pages, self._located(locator, pages), strict=True)):
            paths = locator.paths
            if not found and (row := locator.as_only_row(page)):
                page, found = row, locator.locate(row)
            key: tuple[object, ...] = (*found.items(),)
            if self.report.month_of_row == "year and month" and not says_nothing(page):
                rows = locator.elements_along([page], found.get(paths[0].keys, ()))
                moved = locator.moved_to_months(rows, paths[0])
                if rows:
                    carry.add(moved is not None)
                if moved and (found or moved.inner):  # else the page is a row itself
                    paths = (moved,) if found else moved.inner
                    found = found or {one.keys: (one.keys,) for one in moved.inner}
                key = (*found.items(), _way_down(paths[0]))
            if not found and self._is_empty(locator, page):
                continue
            shape = shapes.setdefault(key, Shape(paths, found))
            shape.numbers.append(number)
            shape.pages.append(page)
        for shape in shapes.values():
            self.notes += _notes_of_places(locator.paths, shape)
        return list(shapes.values()), all(carry) if carry else None

    def _located(self, locator: Locator, pages: Sequence[Object]) -> Iterator[Mapping[Keys, ListPath]]:
        """Where the lists are in each page; what some show helps to find them in the others."""
        if locator.paths[0].keys == ():
            yield from ({} for _ in pages)
            return
        located = [locator.locate(page) for page in pages]
        for page, found in zip(pages, located, strict=True):
            for keys, way in found.items():
                if locator.elements_along([page], way):
                    locator.known.setdefault(keys, set()).add(way)
        for page, found in zip(pages, located, strict=True):
            is_whole = len(found) == len(locator.paths) or says_nothing(page)
            yield found if is_whole else locator.locate(page)

    def _is_empty(self, locator: Locator, page: Object) -> bool:
        """Whether a page without declared lists has no rows; an undocumented one may be a row itself."""
        (first, *_) = locator.paths
        if first.keys == ():
            return says_nothing(page, counts_are_values=True)
        if not first.first_with_table().columns:
            return says_nothing(page)
        is_hollow_page = is_hollow(page, locator.names) or locator.has_known_place(page)
        return says_nothing(page) or (is_hollow_page and not has_error_sign(page))

    def _check_rows(self, locator: Locator, shape: Shape, flat: Flattening) -> None:
        """Refuse a document without rows that says something failed, or holds what looks like rows."""
        tops = {path.keys: path.first_with_table() for path in locator.paths}
        if not shape.found:
            if any(has_error_sign(page) for page in shape.pages):
                self._refuse("it says that something went wrong, although its status says that all is well")
            elif locator.paths[0].keys and tops[locator.paths[0].keys].columns:
                self._refuse("")  # of undocumented rows anything may be one
            elif not locator.is_row_of_document(shape.pages):
                self._refuse("it has no documented field")
            return
        for number, page in zip(shape.numbers, shape.pages, strict=True):
            with_rows = [
                keys for keys, path in tops.items() if number in flat.with_rows.get(path.first_table.name, ())
            ]
            if len(with_rows) == len(tops):
                continue
            missing = [
                path
                for keys, path in tops.items()
                if keys not in with_rows and not (with_rows and _is_list(page, shape.found.get(keys)))
            ]
            without = [path for path in locator.paths if path.keys not in with_rows]
            if not with_rows and has_error_sign(page):
                self._refuse("it has no rows and says that something went wrong")
            elif other := next(locator.filled_otherwise(page, shape.found, without), None):
                name = as_written(other.keys)
                self._refuse(f"{other.first_table.name}: what stands in place of the list {name} is no row")
            elif locator.looks_like_rows(page, missing, [shape.found[keys] for keys in with_rows]):
                self._refuse("objects that look like its rows stand where nobody expects them")

    def _check_choices(self, tables: Tables, chosen: Sequence[str | None]) -> None:
        """Refuse rows that do not say which choice brought them, where every document was asked with one."""
        choices = self.report.endpoint.choices
        if choices is None or not all(one in choices.values for one in chosen):
            return
        for table in self.report.tables:
            held = tables.get(table.name)
            if held and not table.parent and held.frame[choices.column.name].null_count():
                self._refuse(f"{table.name}: rows do not say which {choices.parameter} brought them")

    def _refuse(self, note: str) -> None:
        self.is_recognised = False
        self.notes += [note] if note else []


def _is_list(page: Object, way: ListPath | None) -> bool:
    return way is not None and (len(way) > 1 or value_at(page, way[0]) is not None)


def _way_down(path: RowPath) -> ListPath:
    return (path.keys,) if path.table else (path.keys, *_way_down(path.inner[0]))


def _bounded(flat: Flattening) -> Iterator[RejectedRow]:
    """The rejected rows; of very many for one reason, the last that is kept stands for all further ones."""
    last = {(row.table, row.reason): row for row in flat.rejected}
    for row in flat.rejected:
        more = flat.rejected_by_reason[row.table, row.reason] - MOST_KEPT_REJECTED
        yield replace(row, count=1 + more) if more > 0 and last[row.table, row.reason] is row else row


def _notes_of_places(paths: Iterable[RowPath], shape: Shape) -> Iterator[str]:
    for path in paths if shape.found else ():
        table, declared, way = path.first_table, as_written(path.keys), shape.found.get(path.keys)
        if way is None:
            yield f"{table.name}: the answer has no list {declared}"
        elif way != (path.keys,) and not table.at_any_depth:
            yield f"{table.name}: the list {declared} was found at {as_written(*way)}"
