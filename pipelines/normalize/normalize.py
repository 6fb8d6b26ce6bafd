"""Typed tables from the documents of one answer: rows are located, taken apart, converted and validated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from pipelines.catalogue.model import Column, MonthOfRow, Report, Table, declared_columns, snake_case
from pipelines.months import Month
from pipelines.normalize.document import Document, Json
from pipelines.normalize.objects import (
    DEEPEST,
    Contents,
    Declared,
    Rows,
    rows_in,
    rows_of_documents,
    rows_of_pages,
    take_apart,
)
from pipelines.normalize.row_locator import (
    elements_along,
    is_an_error,
    is_of_pages,
    locate_in_rows,
    locate_lists,
    looks_like_rows,
    moved_to_months,
    path_of,
    paths_as_found,
    says_nothing,
)
from pipelines.normalize.row_paths import (
    ANY,
    ROOT,
    Keys,
    ListPath,
    RowPath,
    as_written,
    name_of,
    row_paths,
    unique_names,
)
from pipelines.normalize.tables import (
    FilledColumn,
    Findings,
    Normalized,
    NormalizedTable,
    RejectedRow,
    arrange_columns,
    fill_columns,
    make_table,
)
from pipelines.normalize.types import may_lack_digits
from pipelines.normalize.validation import (
    RowMonths,
    months_by_date,
    months_by_year_and_month,
    months_of_window,
    reject_rows,
)

ENVELOPE = "envelope"
ASKED = "asked_"  # columns that say what we asked for go to every table


def normalize(
    report: Report,
    documents: Sequence[Document],
    *,
    months: Sequence[Month],
    timezone: str,
    asked: Sequence[str | None] | None = None,
) -> Normalized:
    """Every table of the report, the rows that fit none, and what was noticed.

    `months` are those of the window, `asked` says for every document which user or estate it is about.
    The documents forget their values afterwards.
    """
    asked = asked or [None] * len(documents)
    try:
        result = _normalized(_Progress(report, documents, tuple(months), timezone), asked)
    except _DigitsMissing:
        for document in documents:
            document.read_all_digits()
        result = _normalized(_Progress(report, documents, tuple(months), timezone), asked)
    for document in documents:
        document.forget()
    return result


class _DigitsMissing(Exception):
    """Values were read as floats although more of their digits are wanted."""


@dataclass
class _Progress:
    """One answer that is being normalized, and all that has come of it so far."""

    report: Report
    documents: Sequence[Document]
    months: tuple[Month, ...]
    timezone: str
    tables: dict[str, NormalizedTable] = field(default_factory=dict)
    rejected: list[RejectedRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    repeated_ids: int = 0
    year_and_month: bool | None = None
    undated: bool = False

    def free_name(self, name: str) -> str:
        """A name that no table of the report has."""
        return unique_names([name], [*(table.name for table in self.report.tables), *self.tables])[0]


@dataclass(frozen=True)
class _Level:
    """Rows that become a table or, without a name, hand their values to the rows below.

    `written` is their path as the catalogue would write it; `base`, the table above, and `trail`, the way
    from there, name the table of an undeclared list. `depth` counts the lists that it is nested in.
    `carried` are values from above; `months` those of the rows above, when these are rows of a table.
    """

    rows: Rows
    base: str
    written: str = ""
    trail: Keys = ()
    depth: int = 0
    path: RowPath | None = None
    name: str | None = None
    carried: tuple[FilledColumn, ...] = ()
    months: pl.Series | None = None
    is_envelope: bool = False
    parent: str = ""  # the table whose rows these are nested in

    @property
    def table(self) -> Table | None:
        return self.path.table if self.path else None

    @property
    def documented(self) -> Mapping[Keys, Column]:
        return self.path.columns if self.path else {}


@dataclass(frozen=True)
class _Filled:
    """A level whose rows are typed and validated; of `kept` None means all."""

    level: _Level
    columns: Sequence[FilledColumn]
    lists: Mapping[Keys, Sequence[Json]]
    months: pl.Series
    kept: Sequence[int] | None


def _normalized(run: _Progress, asked: Sequence[str | None]) -> Normalized:
    recognised = _add_documents(run, asked)
    declared = {table.name: _empty_table(table) for table in run.report.tables}
    findings = Findings(tuple(run.notes), recognised, run.year_and_month, run.repeated_ids, run.undated)
    return Normalized(tuple((declared | run.tables).values()), tuple(run.rejected), findings)


def _empty_table(table: Table) -> NormalizedTable:
    parent = pl.Series(dtype=pl.Int64) if table.parent else None
    columns = arrange_columns(declared_columns(table), (), 0)
    return make_table(table.name, columns, pl.Series(dtype=pl.Date), key=table.key, parent_rows=parent)


def _add_documents(run: _Progress, asked: Sequence[str | None]) -> bool:
    """Add all tables; false when the documents hold something, but nothing that is declared."""
    report = run.report
    pages = rows_of_pages([document.value for document in run.documents])
    paths = row_paths(report)
    carried = _asked_column(report, asked)
    if any(is_an_error(page) for page in pages.objects):
        run.notes.append("it is an error message, although its status says that all is well")
        return False
    if paths[0].keys == ():
        _add_rows(run, _level_of_documents(pages, paths[0], carried))
        return True
    found = locate_lists(pages.objects, paths)
    run.notes += _notes_of_places(paths, found)
    is_empty = all(says_nothing(page) for page in pages.objects)
    if report.month_of_row is MonthOfRow.YEAR_AND_MONTH and not is_empty:
        paths, found = _move_to_months(run, pages, paths[0], found.get(paths[0].keys, ()))
    if not found and not is_empty:
        path = paths[0].first_with_table()
        _add_rows(run, _level_of_documents(pages, path, carried))
        return not path.first_table().columns  # of undocumented rows anything may be one
    _add_envelope(run, pages, paths_as_found(paths, found), carried)
    return not _is_elsewhere(run, pages, paths)


def _add_envelope(
    run: _Progress, pages: Rows, paths: tuple[RowPath, ...], carried: tuple[FilledColumn, ...]
) -> None:
    """Add the lists of the pages, and the values beside them as a table of its own."""
    name = run.free_name(f"{run.report.name}__{ENVELOPE}")
    path = RowPath((), (), None, "", {}, paths)
    _add_rows(run, _Level(pages, run.report.name, path=path, name=name, carried=carried, is_envelope=True))
    table = run.tables.get(name)
    if run.report.paged and table is not None and all(is_of_pages(one.name) for one in table.columns):
        del run.tables[name]  # what an envelope says of its pages is no row


def _level_of_documents(pages: Rows, path: RowPath, carried: tuple[FilledColumn, ...]) -> _Level:
    """Every document as rows of one table."""
    rows = rows_of_documents(pages)
    name = path.first_table().name
    handed = tuple(replace(one, values=one.values.gather(rows.above)) for one in carried)
    return _Level(rows, name, path=path, name=name, carried=handed)


def _move_to_months(
    run: _Progress, pages: Rows, path: RowPath, way: ListPath
) -> tuple[tuple[RowPath, ...], dict[Keys, ListPath]]:
    """The path where rows carry a year and a month, in the declared list or, without one, anywhere."""
    rows = elements_along(pages.objects, way)
    moved = moved_to_months(rows, path)
    run.year_and_month = moved is not None if rows else None
    if not way and moved:
        return moved.inner, {one.keys: (one.keys,) for one in moved.inner}
    return (moved or path,), {path.keys: way} if way else {}


def _notes_of_places(paths: Sequence[RowPath], found: Mapping[Keys, ListPath]) -> Iterator[str]:
    for path in paths:
        table, declared, way = path.first_table(), path_of((path.keys,)), found.get(path.keys)
        if way is None:
            yield f"{table.name}: the answer has no list {declared}"
        elif way != (path.keys,) and not table.at_any_depth:
            yield f"{table.name}: the list {declared} was found at {path_of(way)}"


def _is_elsewhere(run: _Progress, pages: Rows, paths: Sequence[RowPath]) -> bool:
    """Whether no declared row was found although there are objects that look like one."""
    with_tables = [path.first_with_table() for path in paths]
    tables = (run.tables.get(path.first_table().name) for path in with_tables)
    if run.rejected or any(table is not None and table.frame.height for table in tables):
        return False
    found = looks_like_rows(pages.objects, with_tables)
    if found:
        run.notes.append("objects that look like its rows stand where nobody expects them")
    return found


def _asked_column(report: Report, asked: Sequence[str | None]) -> tuple[FilledColumn, ...]:
    if report.each is None:
        return ()
    name = f"{ASKED}{snake_case(report.each.value)}"
    column = Column(name, "VARCHAR", True, "", "what we asked the service for")
    return (FilledColumn(column, pl.Series(asked, dtype=pl.String)),)


def _add_rows(run: _Progress, level: _Level) -> None:
    """Turn rows into a table, and every list of rows in them."""
    paths = _paths_in(run, level)
    lists = frozenset(keys for keys, path in paths.items() if path.holds_only_rows and keys != (ANY,))
    declared = Declared(frozenset(level.documented), lists, undeclared_lists=level.depth < DEEPEST)
    contents = take_apart(level.rows.objects, declared)
    filled, has_own = _fill(run, level, contents)
    if level.name and (has_own or level.rows.parent):
        run.tables[level.name] = _table_of(filled)
    with_rows: set[int] = set()
    for child in _children(run, filled, paths):
        if level.name is None:
            with_rows.update(child.rows.above.unique())
        _add_rows(run, child)
    if level.name is None:
        _note_childless(run, filled, with_rows)


def _paths_in(run: _Progress, level: _Level) -> Mapping[Keys, RowPath]:
    """The declared lists, by the keys under which these rows really have them."""
    found: dict[Keys, RowPath] = {}
    for path in level.path.inner if level.path and len(level.rows) else ():
        keys = path.keys if path.keys == (ANY,) else locate_in_rows(level.rows.objects, path)
        if keys:
            found[keys] = path
        else:
            run.notes.append(f"{path.first_table().name}: no row has the list {'.'.join(path.keys)}")
    return found


def _fill(run: _Progress, level: _Level, contents: Contents) -> tuple[_Filled, bool]:
    """The columns and months of rows, the rows that stay, and whether any value is the rows' own."""
    rows, table, length = level.rows, level.table, len(level.rows)
    prefix = level.path.prefix if level.path else ""
    own = fill_columns(contents, level.documented, prefix, run.timezone, length)
    _refuse_missing_digits(run, contents, own)
    _note_missing(run, level, contents, own)
    if level.name is None:
        columns: Sequence[FilledColumn] = [_with_path(one, level.written) for one in own.values()]
        months = months_of_window((), length)
    else:
        declared = declared_columns(table) if table else ()
        columns = arrange_columns(declared, [*level.carried, *own.values()], length)
        months = _months_of(run, level, columns)
    name = level.name or (level.path.first_table().name if level.path else level.base)
    rejected = reject_rows(rows, name, columns, table.key if table else (), months, run.documents)
    run.rejected += (row for _, row in rejected)
    away = {position for position, _ in rejected}
    fitting = [row for row in range(length) if row not in away] if away else None
    kept = _without_repeated(run, level, columns, fitting)
    return _Filled(level, columns, contents.lists, months.values, kept), bool(own)


def _refuse_missing_digits(run: _Progress, contents: Contents, own: Mapping[Keys, FilledColumn]) -> None:
    """Raise where a column would keep more digits than floats have, and the answer may hold such numbers."""
    types = {keys: one.column.type if one.column.documented else None for keys, one in own.items()}
    is_at_risk = any(may_lack_digits(contents.columns[keys], type_) for keys, type_ in types.items())
    if is_at_risk and any(document.may_lack_digits for document in run.documents):
        raise _DigitsMissing


def _with_path(one: FilledColumn, path: str) -> FilledColumn:
    """The source of an undocumented value of a level, with the path of the level."""
    column = one.column
    return (
        one if column.documented else replace(one, column=replace(column, source=f"{path}.{column.source}"))
    )


def _note_missing(
    run: _Progress, level: _Level, contents: Contents, own: Mapping[Keys, FilledColumn]
) -> None:
    """Note the documented fields that no row has, though the object they belong to is there."""
    if level.path and len(level.rows) > len(level.rows.strangers):
        names = {one.column.name for one in own.values()}
        missing = [
            ".".join(keys)
            for keys, column in level.documented.items()
            if keys not in contents.found and keys[:-1] in contents.opened and column.name not in names
        ]
        if missing:
            run.notes.append(f"{level.path.first_table().name}: no row has {', '.join(missing)}")


def _note_childless(run: _Progress, filled: _Filled, with_rows: set[int]) -> None:
    """A level's values go to the rows below it; where there are none, say that they go nowhere."""
    kept = range(len(filled.level.rows)) if filled.kept is None else filled.kept
    alone = [row for row in kept if row not in with_rows]
    unknown = [one for one in filled.columns if not one.column.documented]
    names = sorted(one.column.source for one in unknown if one.values.gather(alone).count())
    if names:
        run.notes.append(
            "without a row below them there is no place for some values of "
            f"{', '.join(names)}; they are kept in landing"
        )


def _months_of(run: _Progress, level: _Level, columns: Sequence[FilledColumn]) -> RowMonths:
    report, table, length = run.report, level.table, len(level.rows)
    months = run.months if report.has_months else ()
    if level.months is not None:
        return RowMonths(level.months)
    if months and table and table.dated_by and report.month_of_row is MonthOfRow.DOCUMENTED_DATE:
        return months_by_date(next(one for one in columns if one.column.name == table.dated_by), months)
    found = months_by_year_and_month(columns, months) if months else None
    if not found and not level.is_envelope:
        run.undated = run.undated or (length > 0 and len(months) > 1)
    if found and table is None:
        return RowMonths(found.values.fill_null(months[0].first_day))
    return found if found and run.year_and_month else months_of_window(months, length)


def _without_repeated(
    run: _Progress, level: _Level, columns: Sequence[FilledColumn], kept: Sequence[int] | None
) -> Sequence[int] | None:
    """Without the rows that pages repeat: only of rows with a documented id, and only equal ones.

    Two rows of one id that say different things are both kept.
    """
    table = level.table
    if not (run.report.paged and table and table.key and table.parent is None):
        return kept
    rows = pl.DataFrame([one.values.rename(one.column.name) for one in columns])
    if kept is not None:
        rows = rows.select(pl.all().gather(list(kept)))
    if not rows.select(table.key).is_duplicated().any():
        return kept
    is_first = rows.select(pl.struct(pl.all()).is_first_distinct()).to_series()
    run.repeated_ids += len(is_first) - int(is_first.sum())
    return [row for row, first in zip(kept or range(len(is_first)), is_first, strict=True) if first]


def _table_of(filled: _Filled) -> NormalizedTable:
    level, kept, columns, months = filled.level, filled.kept, filled.columns, filled.months
    parent_rows = level.rows.lists // len(level.rows.keys)
    if kept is not None:
        columns = [replace(one, values=one.values.gather(kept)) for one in columns]
        months, parent_rows = months.gather(kept), parent_rows.gather(kept)
    key = level.table.key if level.table else ()
    if level.months is None:
        return make_table(level.name or "", columns, months, key=key)
    return make_table(
        level.name or "", columns, months, key=key, parent=level.parent, parent_rows=parent_rows
    )


def _children(run: _Progress, filled: _Filled, paths: Mapping[Keys, RowPath]) -> Iterator[_Level]:
    """Every list of rows in the rows that were kept, declared or not."""
    rows, lists = filled.level.rows, dict(filled.lists)
    if (ANY,) in paths:
        together: dict[Keys, Sequence[Json]] = {
            keys: lists.pop(keys) for keys in list(lists) if len(keys) == 1 and keys not in paths
        }
        if together:
            yield _child(run, filled, paths[(ANY,)], (ANY,), rows_in(rows, filled.kept, together))
    for keys, values in lists.items():
        yield _child(run, filled, paths.get(keys), keys, rows_in(rows, filled.kept, {keys: values}))


def _child(run: _Progress, filled: _Filled, path: RowPath | None, keys: Keys, rows: Rows) -> _Level:
    above = filled.level
    step = path.declared_keys if path else keys
    trail = above.trail if step == (ROOT,) else (*above.trail, *step)
    if path is None or not path.holds_only_rows:
        rows = replace(rows, strangers={})  # a null between objects is a row without values
    child = _Level(
        rows,
        above.base,
        written=f"{above.written}.{as_written(keys)}".removeprefix("."),
        trail=trail,
        depth=above.depth + 1,
        path=path,
        carried=tuple(_carried(filled, path, rows)),
        parent=above.base,
    )
    if above.name is not None and above.rows.parent is not None:
        child = replace(child, months=filled.months.gather(rows.above))
    if path and not path.table:
        return child
    name = (
        path.table.name if path and path.table else run.free_name(f"{above.base}__{name_of(trail) or 'rows'}")
    )
    return replace(child, name=name, base=name, trail=())


def _carried(filled: _Filled, path: RowPath | None, rows: Rows) -> Iterator[FilledColumn]:
    """What the rows have of those above: all that a level has, of a table's rows what is declared."""
    above, table = filled.level, path.table if path else None
    if above.name is None:
        given = [replace(one, misfits=()) for one in (*above.carried, *filled.columns)]
    else:
        given = list(_handed_down(filled, table))
    for one in given:
        yield replace(one, values=one.values.gather(rows.above))
    if table and table.key_column:
        names = pl.Series([keys[-1] for keys in rows.keys], dtype=pl.String)
        values = names.gather(rows.lists % len(rows.keys))
        yield FilledColumn(Column(table.key_column, "VARCHAR", True, "", ""), values)


def _handed_down(filled: _Filled, table: Table | None) -> Iterator[FilledColumn]:
    above = filled.level.table
    names = above.hands_down if above and table else {}
    declared = {column.name: column for column in table.inherited} if table else {}
    for one in filled.columns:
        column = declared.get(names.get(one.column.name, ""))
        if column:
            yield FilledColumn(column, one.values)
        elif one.column.name.startswith(ASKED) and one.column.documented:
            yield one
