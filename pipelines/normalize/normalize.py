"""Typed tables from the documents of one window, according to the shape of the report.

1. The objects at every `Place` of the shape are read, level by level, from all documents (rows.py).
2. Their fields become columns. An undeclared column gets the type of its values (contents.py).
3. Each row gets its month. Rows that do not fit are rejected, and rows of other windows are left out.
4. The remaining rows become a table. Then the lists in them are read; undeclared lists become tables as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from pipelines.catalogue.model import Column, Report, Table, declared_columns
from pipelines.foreign_text import tidy
from pipelines.months import Month
from pipelines.normalize.contents import (
    MAX_DEPTH,
    Contents,
    FilledColumn,
    column_name,
    empty_column,
    fill_columns,
)
from pipelines.normalize.document import Document, Json, Keys, to_json
from pipelines.normalize.rows import (
    Level,
    ShapeMismatch,
    columns_along_path,
    describe_misfit,
    document_level,
    inner_level,
    undeclared_level,
)
from pipelines.normalize.tables import (
    Normalized,
    NormalizedTable,
    RejectedRow,
    arrange_columns,
    drop_repeated_rows,
    empty_table,
    make_table,
    unique_names,
)
from pipelines.normalize.validation import (
    NO_DECLARED_COLUMN,
    NOT_AN_OBJECT,
    Months,
    months_of,
    named_months,
    rejections,
    undatable_rows,
)
from pipelines.shapes.paths import NONE, member_path, simplified
from pipelines.shapes.proposal import measure_fields
from pipelines.shapes.shape import Place, shape_of


def normalize(
    report: Report,
    documents: Sequence[Document],
    *,
    months: Sequence[Month],
    timezone: str,
    requested_ids: Sequence[str | None] | None = None,
    choices: Sequence[str | None] | None = None,
) -> Normalized:
    """Read the documents of a window into the tables of their report.

    `months` are the months of the window. `requested_ids` has the requested id of each document. `choices`
    has, for each document, the requested value of the parameter in `Endpoint.choices`. Frees the memory of
    the parsed documents. Raises ShapeMismatch if a document does not fit.
    """
    no_values: list[str | None] = [None] * len(documents)
    request = _request_columns(report, requested_ids or no_values, choices or no_values)
    window = tuple(months) if report.has_months else ()
    try:
        values = [document.value for document in documents]
        return _Normalizer(report, values, request, window, timezone).normalize()
    finally:
        for document in documents:
            document.forget()


def _request_columns(
    report: Report, requested_ids: Sequence[str | None], choices: Sequence[str | None]
) -> list[FilledColumn]:
    """The columns that come from the requests, with a value for each document."""
    columns = []
    if by_id := report.endpoint.by_id:
        parts = [by_id.parts(requested_id) for requested_id in requested_ids]
        for index, name in enumerate(by_id.columns):
            values = pl.Series([ids[index] for ids in parts], dtype=pl.String)
            columns.append(FilledColumn(Column(name, "VARCHAR", "", "the requested id"), values))
    if parameter := report.endpoint.choices:
        values = pl.Series([parameter.values.get(choice or "") for choice in choices], dtype=pl.Boolean)
        columns.append(FilledColumn(parameter.column, values))
    return columns


@dataclass
class _Normalizer:
    report: Report
    values: Sequence[Json]
    requested: Sequence[FilledColumn]
    window: tuple[Month, ...]
    timezone: str
    tables: dict[str, NormalizedTable] = field(default_factory=dict)
    rejected: list[RejectedRow] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    undated: bool = False

    def normalize(self) -> Normalized:
        root = member_path(self.report.root)
        self._read_level(document_level(shape_of(self.report), self.values, root), None)
        empty = {table.name: empty_table(table) for table in self.report.tables}
        tables = drop_repeated_rows({**empty, **self.tables}, self.report)
        return Normalized(tuple(tables.values()), tuple(self.rejected), tuple(self.missing), self.undated)

    def _read_level(self, level: Level, parent: NormalizedTable | None) -> None:
        """Read a level, whose rows are nested in rows of `parent` if it is given, and the levels below."""
        place, table = level.place, level.place.table
        takes_lists = table is not None and table.name.count("__") < MAX_DEPTH
        contents = Contents(place.declared, place.lists, table is not None, takes_lists)
        contents.add(level.fields)
        contents.declared = self._unambiguous_columns(place, contents)
        filled = fill_columns(contents, self.timezone, len(level.elements), self.report.decimal)
        for path, column in place.columns.items():
            if path.is_key:
                names = pl.Series([*map(tidy, level.names)], dtype=pl.String)
                level.columns[path] = FilledColumn(column, names)
            elif (keys := path.members or ("",)) in contents.declared and keys in contents.spelled_keys:
                level.columns[path] = filled.pop(keys, empty_column(column, len(level.elements)))
        if table and not (filled or table.columns or contents.undeclared_lists):
            return
        if table:
            parent, kept = self._add_table(level, table, filled.values(), parent)
            level = level.select(kept)
        for inner in place.below:
            self._read_level(inner_level(level, inner), parent)
        if table and parent:
            for keys, lists in contents.undeclared_lists.items():
                inner_table = self._undeclared_table(parent, contents.spelled_keys[keys])
                self._read_level(undeclared_level(level, inner_table, [lists[row] for row in kept]), parent)

    def _unambiguous_columns(self, place: Place, contents: Contents) -> dict[Keys, Column]:
        """Declared columns. A budget measure that several fields match counts only if in shapes.toml."""
        if not (self.report.is_assumed and place.table):
            return place.declared
        names = [".".join(keys) for keys in contents.spelled_keys.values()]
        return {
            keys: column
            for keys, column in place.declared.items()
            if column.name in place.table.paths or len(measure_fields(column.name, names)) < 2
        }

    def _add_table(
        self, level: Level, table: Table, undeclared: Collection[FilledColumn], parent: NormalizedTable | None
    ) -> tuple[NormalizedTable, list[int]]:
        """Add the table of a level; returns the table and the indexes of the rows that it keeps."""
        length = len(level.elements)
        declared = {
            column.name: replace(column, source=table.paths.get(column.name, column.source))
            for column in declared_columns(table)
        }
        columns = columns_along_path(level)
        if parent:
            columns |= {
                name: FilledColumn(declared[name], parent.frame[parent_name].gather(level.rows_above))
                for name, parent_name in level.place.from_parent.items()
            }
        columns |= {
            filled.column.name: filled.gather(level.documents)
            for filled in self.requested
            if filled.column.name in declared
        }
        self.missing += [
            f"{table.name}.{column.name}"
            for column in declared.values()
            if length and column.needed and column.name not in columns and column.source != NONE
        ]
        arranged = arrange_columns(list(declared.values()), columns, undeclared, length)
        by_name = {filled.column.name: filled for filled in arranged}
        if parent:
            months = Months(parent.frame["_month"].gather(level.rows_above))
        else:
            months = months_of(self.report, table, by_name, self.window, length)
            self.undated |= months.are_unknown
        rejected = self._reject_rows(level, table, by_name, months)
        kept = [row for row in range(length) if row not in rejected and row not in months.left_out]
        first_days, rows_above = months.first_days, level.rows_above
        if len(kept) < length:
            arranged = [filled.gather(kept) for filled in arranged]
            first_days, rows_above = first_days.gather(kept), rows_above.gather(kept)
        normalized = self.tables[table.name] = make_table(table, arranged, first_days, rows_above)
        return normalized, kept

    def _undeclared_table(self, parent: NormalizedTable, keys: Keys) -> Table:
        by_id = self.report.endpoint.by_id
        ids = [filled.column for filled in self.requested if by_id and filled.column.name in by_id.columns]
        [name] = unique_names([f"{parent.name}__{column_name(keys)}"], self.tables)
        return Table(name, "", "", parent=parent.name, requested=tuple(ids))

    def _reject_rows(
        self, level: Level, table: Table, columns: Mapping[str, FilledColumn], months: Months
    ) -> Collection[int]:
        """Record the rows that do not fit, and return their indexes; raises ShapeMismatch for too many."""
        rejected = dict.fromkeys(self._rows_without_columns(level), NO_DECLARED_COLUMN)
        rejected |= dict.fromkeys(level.non_objects, NOT_AN_OBJECT)
        reasons = rejections(table, columns, months, rejected)
        if not reasons:
            return ()
        self._check_documents(level, table, reasons, months.left_out)
        undatable = undatable_rows(table, columns, months)
        stated_months = named_months(columns) if months.dated_by else None
        requested_days = {month.first_day for month in self.window}
        where = f"{level.place.path or 'the answer'}, element"
        for row, (reason, column) in reasons.items():
            month = months.first_days[row] or (stated_months[row] if stated_months is not None else None)
            is_undatable = month is None and row in undatable
            month = month if month in requested_days else None
            raw = to_json(level.elements[row])
            self.rejected.append(
                RejectedRow(table.name, f"{where} {row + 1}", reason, column, month, raw, is_undatable)
            )
        return reasons.keys()

    def _rows_without_columns(self, level: Level) -> list[int]:
        """The indexes of the objects that have none of the declared columns."""
        names = {keys[0] for keys in level.place.declared}
        undeclared = {keys for keys in level.fields.key_tuples if names.isdisjoint(map(simplified, keys))}
        rows = enumerate(level.elements) if names and undeclared else ()
        return [row for row, element in rows if type(element) is dict and tuple(element) in undeclared]

    def _check_documents(
        self, level: Level, table: Table, reasons: Mapping[int, tuple[str, str | None]], left_out: set[int]
    ) -> None:
        """Raise ShapeMismatch if too many rows of a topmost table are rejected.

        Two or more are too many if they are at least half of the rows that are not left out. So are all rows
        of one document, unless the document has only one row, and this row has a declared column.
        """
        if table.parent:
            return
        row_counts = Counter(level.documents)
        wanted = len(level.elements) - len(left_out)
        rejected_counts = Counter(level.documents.gather(list(reasons)))
        is_half = len(reasons) >= max(2, wanted / 2)
        for row, (reason, _) in reasons.items():
            document = level.documents[row]
            is_suspect = reason in (NO_DECLARED_COLUMN, NOT_AN_OBJECT) or row_counts[document] > 1
            if is_half or (is_suspect and rejected_counts[document] == row_counts[document]):
                found = describe_misfit(level.elements[row], [level.roots[document]])
                raise ShapeMismatch(
                    f"expected rows of {table.name} at {level.place.path or 'the answer'}, but "
                    f"{wanted - len(reasons)} of {wanted} fit; one does not, because {reason}; {found}"
                )
