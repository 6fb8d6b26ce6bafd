"""Typed tables from the documents of one window, as the shape of the report declares them.

1. The objects at every place of the shape are found, level by level, over all documents (`rows`).
2. Their fields become columns: declared ones by their type, others by their values (`contents`).
3. Every row gets its month; a row that does not fit is rejected, one of another month left out.
4. What stays is a table; then come the lists in its rows, undeclared ones as tables of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from pipelines.catalogue.model import Column, Report, Table, declared_columns
from pipelines.months import Month
from pipelines.normalize.contents import (
    DEEPEST,
    Contents,
    FilledColumn,
    empty_column,
    fill_columns,
    name_of,
)
from pipelines.normalize.document import Document, Json, Keys, to_json
from pipelines.normalize.rows import (
    Level,
    ShapeMismatch,
    below,
    below_undeclared,
    columns_on_the_way,
    document_level,
    what_is_there,
)
from pipelines.normalize.tables import (
    Normalized,
    NormalizedTable,
    RejectedRow,
    arrange_columns,
    empty_table,
    make_table,
    unique_names,
    without_repeated,
)
from pipelines.normalize.types import tidied
from pipelines.normalize.validation import (
    NO_OBJECT,
    UNLIKE,
    Months,
    months_of,
    named_months,
    rejections,
    undatable,
)
from pipelines.shapes.paths import NONE, member_path, simplified
from pipelines.shapes.proposal import measure_fields
from pipelines.shapes.shape import Place, shape_of

__all__ = ["ShapeMismatch", "normalize"]

FEWEST_OF_HALF = 10
"""An answer fails if at least so many rows, and half of all, are rejected; fewer go to quarantine."""


def normalize(
    report: Report,
    documents: Sequence[Document],
    *,
    months: Sequence[Month],
    timezone: str,
    asked: Sequence[str | None] | None = None,
    chosen: Sequence[str | None] | None = None,
) -> Normalized:
    """Every table of the report, the rows that fit none, and what was noticed.

    `months` are those of the window. `asked` is the id that each document was requested for, `chosen` the
    choice. The documents forget their values afterwards. Raises ShapeMismatch with a sentence.
    """
    nothing: list[str | None] = [None] * len(documents)
    request = _request_columns(report, asked or nothing, chosen or nothing)
    window = tuple(months) if report.has_months else ()
    try:
        values = [document.value for document in documents]
        return _Answer(report, values, request, window, timezone).normalized()
    finally:
        for document in documents:
            document.forget()


def _request_columns(
    report: Report, asked: Sequence[str | None], chosen: Sequence[str | None]
) -> list[FilledColumn]:
    """What each document was requested with, as columns: the parts of an id, and the choice."""
    columns = []
    if each := report.endpoint.each:
        parts = [each.parts(asked_id) for asked_id in asked]
        for number, name in enumerate(each.columns):
            values = pl.Series([ids[number] for ids in parts], dtype=pl.String)
            columns.append(FilledColumn(Column(name, "VARCHAR", "", "the id requested"), values))
    if choices := report.endpoint.choices:
        values = pl.Series([choices.values.get(choice or "") for choice in chosen], dtype=pl.Boolean)
        columns.append(FilledColumn(choices.column, values))
    return columns


@dataclass
class _Answer:
    """The documents of one window that are being normalized, and all that has come of it so far."""

    report: Report
    values: Sequence[Json]
    request: Sequence[FilledColumn]
    window: tuple[Month, ...]
    timezone: str
    tables: dict[str, NormalizedTable] = field(default_factory=dict)
    rejected: list[RejectedRow] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    undated: bool = False

    def normalized(self) -> Normalized:
        """The whole answer; every declared table is there, also one without a row."""
        root = member_path(self.report.root)
        self._read(document_level(shape_of(self.report), self.values, root), None)
        empty = {table.name: empty_table(table) for table in self.report.tables}
        tables = without_repeated({**empty, **self.tables}, self.report)
        return Normalized(tuple(tables.values()), tuple(self.rejected), tuple(self.missing), self.undated)

    def _read(self, level: Level, parent: NormalizedTable | None) -> None:
        """Read the columns of a level, make its table if it has one, then go to the places below.

        `parent` is the table that the objects are nested in.
        """
        place, table = level.place, level.place.table
        takes_lists = table is not None and table.name.count("__") < DEEPEST
        contents = Contents(place.declared, place.lists, table is not None, takes_lists)
        contents.add(level.fields)
        contents.declared = self._without_doubtful(place, contents)
        own = fill_columns(contents, self.timezone, len(level.elements), self.report.decimal)
        for path, column in place.columns.items():
            if path.is_key:
                level.columns[path] = FilledColumn(column, pl.Series(tidied(level.names), dtype=pl.String))
            elif (keys := path.members or ("",)) in contents.declared and keys in contents.spelled:
                level.columns[path] = own.pop(keys, empty_column(column, len(level.elements)))
        if table and not (own or table.columns or contents.undeclared_lists):
            return
        if table:
            parent, kept = self._add_table(level, table, own.values(), parent)
            level = level.only(kept)
        for inner in place.below:
            self._read(below(level, inner), parent)
        if table and parent:
            for keys, lists in contents.undeclared_lists.items():
                inner_table = self._undeclared_table(parent, contents.spelled[keys])
                left = [lists[row] for row in kept]
                self._read(below_undeclared(level, inner_table, left), parent)

    def _without_doubtful(self, place: Place, contents: Contents) -> dict[Keys, Column]:
        """The declared columns, without measures that two fields may be and the operator has not chosen."""
        if not (self.report.is_assumed and place.table):
            return place.declared
        names = [".".join(keys) for keys in contents.spelled.values()]
        return {
            keys: column
            for keys, column in place.declared.items()
            if column.name in place.table.paths or len(measure_fields(column.name, names)) < 2
        }

    def _add_table(
        self, level: Level, table: Table, others: Collection[FilledColumn], parent: NormalizedTable | None
    ) -> tuple[NormalizedTable, list[int]]:
        """Add the table of a level, without the rows that are rejected or of other months; which are left."""
        length = len(level.elements)
        declared = {
            column.name: replace(column, source=table.paths.get(column.name, column.source))
            for column in declared_columns(table)
        }
        columns = columns_on_the_way(level)
        if parent:
            columns |= {
                name: FilledColumn(declared[name], parent.frame[above].gather(level.rows_above))
                for name, above in level.place.from_parent.items()
            }
        columns |= {
            column.column.name: column.gather(level.documents)
            for column in self.request
            if column.column.name in declared
        }
        self.missing += [
            f"{table.name}.{column.name}"
            for column in declared.values()
            if length and column.needed and column.name not in columns and column.source != NONE
        ]
        arranged = arrange_columns(list(declared.values()), columns, others, length)
        by_name = {column.column.name: column for column in arranged}
        if parent:
            months = Months(parent.frame["_month"].gather(level.rows_above))
        else:
            months = months_of(self.report, table, by_name, self.window, length)
            self.undated |= months.undated
        rejected = self._rejected(level, table, by_name, months)
        kept = [row for row in range(length) if row not in rejected and row not in months.left_out]
        of_rows, above = months.of_rows, level.rows_above
        if len(kept) < length:
            arranged = [column.gather(kept) for column in arranged]
            of_rows, above = of_rows.gather(kept), above.gather(kept)
        made = self.tables[table.name] = make_table(table, arranged, of_rows, above)
        return made, kept

    def _undeclared_table(self, parent: NormalizedTable, keys: Keys) -> Table:
        """The table of an undeclared list, named after the way to it; its rows have the ids requested."""
        each = self.report.endpoint.each
        ids = [column.column for column in self.request if each and column.column.name in each.columns]
        [name] = unique_names([f"{parent.name}__{name_of(keys)}"], self.tables)
        return Table(name, "", "", parent=parent.name, requested=tuple(ids))

    def _rejected(
        self, level: Level, table: Table, columns: Mapping[str, FilledColumn], months: Months
    ) -> Collection[int]:
        """The rows that do not fit, which are noted with their place and all that is nested in them."""
        strangers = dict.fromkeys(self._unlike(level), UNLIKE) | dict.fromkeys(level.strangers, NO_OBJECT)
        reasons = rejections(table, columns, months, strangers)
        if not reasons:
            return ()
        self._check_documents(level, table, reasons)
        undated = undatable(table, columns, months)
        named = named_months(columns) if months.dated_by else None
        requested = {month.first_day for month in self.window}
        where = f"{level.place.path or 'the answer'}, element"
        for row, (reason, column) in reasons.items():
            month = months.of_rows[row] or (named[row] if named is not None else None)
            is_undatable = month is None and row in undated
            month = month if month in requested else None
            raw = to_json(level.elements[row])
            self.rejected.append(
                RejectedRow(table.name, f"{where} {row + 1}", reason, column, month, raw, is_undatable)
            )
        return reasons.keys()

    def _unlike(self, level: Level) -> list[int]:
        """The objects that have none of the columns that are declared of them."""
        names = {keys[0] for keys in level.place.declared}
        unlike = {keys for keys in level.fields.tuples if names.isdisjoint(map(simplified, keys))}
        rows = enumerate(level.elements) if names and unlike else ()
        return [row for row, element in rows if type(element) is dict and tuple(element) in unlike]

    def _check_documents(
        self, level: Level, table: Table, reasons: Mapping[int, tuple[str, str | None]]
    ) -> None:
        """Raise ShapeMismatch for an answer of which half is rejected, or a document of which no row fits."""
        if table.parent:
            return
        count = Counter(level.documents)
        rejected = Counter(level.documents.gather(list(reasons)))
        is_half = len(reasons) >= FEWEST_OF_HALF and 2 * len(reasons) >= len(level.elements)
        for row, (reason, _) in reasons.items():
            number = level.documents[row]
            is_whole = rejected[number] == count[number]
            if is_half or (is_whole and (reason in (UNLIKE, NO_OBJECT) or count[number] > 1)):
                fitting = len(level.elements) - len(reasons)
                there = what_is_there(level.elements[row], [level.roots[number]])
                raise ShapeMismatch(
                    f"expected rows of {table.name} at {level.place.path or 'the answer'}, of which "
                    f"{fitting} of {len(level.elements)} fit, the first does not because {reason}; {there}"
                )
