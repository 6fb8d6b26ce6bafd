"""Typed tables from the documents of one answer, in six steps.

1. The lists of rows that the catalogue declares are located, wherever the answer has them.
2. All lists at one place of the answer, over all pages and rows above, are one `_Level` of rows.
3. The objects of a level are taken apart: a column for every key, and the lists of rows in them.
4. Columns are converted: to documented types, or else to the narrowest type that holds the values.
5. Every row gets its month; a row that does not fit is rejected, a row that pages repeat is left out.
6. What stays is a table, or is carried down to the rows below; then come the levels below, from step 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import polars as pl

from pipelines.catalogue.model import Column, Report, Table, declared_columns, snake_case
from pipelines.months import Month
from pipelines.normalize.document import ROOT, Document, Json, Keys, Object
from pipelines.normalize.months_within import spread_over_months
from pipelines.normalize.row_locator import (
    ANY,
    UNDECLARED,
    ListPath,
    RowPath,
    as_written,
    elements_along,
    is_an_error,
    is_of_pages,
    locate_in_rows,
    locate_lists,
    looks_like_rows,
    moved_to_months,
    paths_as_found,
    row_paths,
    says_nothing,
)
from pipelines.normalize.tables import (
    DEEPEST,
    EMPTY_ROW,
    Contents,
    FilledColumn,
    Normalized,
    NormalizedTable,
    RejectedRow,
    arrange_columns,
    fill_columns,
    make_table,
    name_of,
    unique_names,
)
from pipelines.normalize.types import constant
from pipelines.normalize.validation import months_by_date, months_by_year_and_month, rejections

ENVELOPE = "envelope"
ASKED = "asked_"  # columns that say what we asked for go to every table


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

    `months` are those of the window. `asked` says for every document which user or estate it is about,
    `chosen` which of the report's choices it was asked with.
    The documents forget their values afterwards.
    """
    months = tuple(months) if report.has_months else ()
    asked, chosen = (one or [None] * len(documents) for one in (asked, chosen))
    answer = _Answer(report, documents, months, timezone)
    result = answer.normalized(asked, chosen)
    if answer.lacks_digits:
        for document in documents:
            document.read_all_digits()
        result = _Answer(report, documents, months, timezone).normalized(asked, chosen)
    for document in documents:
        document.forget()
    return result


@dataclass
class _Level:
    """The rows of all lists at one place of the answer; the topmost are its pages.

    They become the table `name`; without a name, their values are carried to the rows below them.
    `base`, a table, and `trail`, the keys from there, name the table of an undeclared list. A stranger
    is an element that is no object: an empty row takes its place until it is rejected.
    """

    path: RowPath
    name: str | None
    base: str
    objects: Sequence[Object]
    lists: pl.Series  # in which list each row is, counted over the rows above that are kept
    parents: pl.Series  # in which of the rows above that are kept
    starts: pl.Series  # the first row of each list
    above: _Level | None = None
    parent: str = ""  # the table whose rows these are nested in; the envelope is none
    keys_of_lists: Sequence[Keys] = ((),)  # by turns
    strangers: Mapping[int, Json] = field(default_factory=dict)
    way: ListPath = ()  # from the document, under the keys where the lists are
    trail: Keys = ()
    carried: Sequence[FilledColumn] = ()  # values from above
    # What became of the rows.
    columns: Sequence[FilledColumn] = ()
    months: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.Date))
    kept: Sequence[int] | None = None  # None: all

    def steps(self, row: int) -> list[str | int]:
        """The way to a row: its page, then keys and places in lists."""
        if self.above is None:
            return [row]
        number, parent = self.lists[row], self.parents[row]
        steps = self.above.steps(parent if self.above.kept is None else self.above.kept[parent])
        keys = self.keys_of_lists[number % len(self.keys_of_lists)]
        if not keys:
            return steps
        return [*steps, *(key for key in keys if key != ROOT), row - self.starts[number]]


@dataclass
class _Answer:
    """One answer that is being normalized, and all that has come of it so far (see Normalized).

    `window` is the months asked for, none for a report without months.
    """

    report: Report
    documents: Sequence[Document]
    window: tuple[Month, ...]
    timezone: str
    tables: dict[str, NormalizedTable] = field(default_factory=dict)
    rejected: list[RejectedRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    repeated_ids: int = 0
    year_and_month: bool | None = None
    undated: bool = False
    lacks_digits: bool = False  # values were read as floats although more of their digits are wanted

    def normalized(self, asked: Sequence[str | None], chosen: Sequence[str | None]) -> Normalized:
        """The whole answer; declared tables come first, also those without a row."""
        recognised = self._add_documents(asked, chosen)
        if self._is_within:
            spread = spread_over_months(list(self.tables.values()), [one.first_day for one in self.window])
            self.undated = spread is None
            self.tables = {one.name: one for one in spread or self.tables.values()}
        declared = {}
        for table in self.report.tables:
            nothing = arrange_columns(declared_columns(table), (), 0)
            parents = pl.Series(dtype=pl.Int64) if table.parent else None
            declared[table.name] = self.tables.get(table.name) or make_table(
                table.name, nothing, pl.Series(dtype=pl.Date), key=table.key, parent_rows=parents
            )
        return Normalized(
            tuple((declared | self.tables).values()),
            tuple(self.rejected),
            tuple(self.notes),
            recognised,
            self.year_and_month,
            self.repeated_ids,
            self.undated,
        )

    @property
    def _is_within(self) -> bool:
        """Whether rows of several months are assumed to be told apart by what is nested in them."""
        return self.report.month_of_row == "year and month within" and len(self.window) > 1

    def _add_documents(self, asked: Sequence[str | None], chosen: Sequence[str | None]) -> bool:
        """Add all tables; false when the documents hold something, but nothing that is declared."""
        report, paths = self.report, row_paths(self.report)
        numbers = pl.int_range(len(self.documents), eager=True)
        objects = [document.page for document in self.documents]
        pages = _Level(UNDECLARED, None, report.name, objects, numbers, numbers, numbers)
        if report.each:
            name = f"{ASKED}{snake_case(report.each)}"
            column = Column(name, "VARCHAR", True, "", "what we asked the service for")
            pages.carried = [FilledColumn(column, pl.Series(asked, dtype=pl.String))]
        if choices := report.choices:
            said = [choices.values.get(one) if one else None for one in chosen]
            pages.carried = [*pages.carried, FilledColumn(choices.column, pl.Series(said, dtype=pl.Boolean))]
        if any(is_an_error(page, paths) for page in objects):
            self.notes.append("it is an error message, although its status says that all is well")
            return False
        if paths[0].keys == ():
            self._add_documents_as_rows(pages, paths[0])
            return True
        found = locate_lists(objects, paths)
        self.notes += _notes_of_places(paths, found)
        is_empty = all(says_nothing(page) for page in objects)
        if report.month_of_row == "year and month" and not is_empty:
            paths, found = self._move_to_months(objects, paths[0], found.get(paths[0].keys, ()))
        if not found and not is_empty:
            path = paths[0].first_with_table()
            self._add_documents_as_rows(pages, path)
            return not path.first_table.columns  # of undocumented rows anything may be one
        pages.name = self._free_name(f"{report.name}__{ENVELOPE}")
        lists = paths_as_found([(found[path.keys], path) for path in paths if path.keys in found])
        pages.path = replace(UNDECLARED, inner=tuple(lists))
        self._add(pages)
        envelope = self.tables.get(pages.name)
        ours = [one.column.name for one in pages.carried]
        if (
            report.paged
            and envelope
            and all(is_of_pages(one.name) or one.name in ours for one in envelope.columns)
        ):
            del self.tables[pages.name]  # what an envelope says of its pages is no row
        return not self._is_elsewhere(objects, paths)

    def _add_documents_as_rows(self, pages: _Level, path: RowPath) -> None:
        """Add each document as rows of one table: its elements if it is a list, else itself unless empty."""
        keys = [(ROOT,) if ROOT in page else () for page in pages.objects]
        lists = [page[ROOT] or [] if ROOT in page else [page] if page else [] for page in pages.objects]
        rows = self._below(pages, path, (), lists, keys)
        rows.way = ()
        self._add(rows)

    def _move_to_months(
        self, pages: Sequence[Object], path: RowPath, way: ListPath
    ) -> tuple[tuple[RowPath, ...], dict[Keys, ListPath]]:
        """The path where rows carry a year and a month, in the declared list or, without one, anywhere."""
        rows = elements_along(pages, way)
        moved = moved_to_months(rows, path)
        self.year_and_month = moved is not None if rows else None
        if not way and moved:
            return moved.inner, {one.keys: (one.keys,) for one in moved.inner}
        return (moved or path,), {path.keys: way} if way else {}

    def _is_elsewhere(self, pages: Sequence[Object], paths: Sequence[RowPath]) -> bool:
        """Whether no declared row was found although there are objects that look like one."""
        tables = [self.tables.get(path.first_table.name) for path in paths]
        if self.rejected or any(table and table.frame.height for table in tables):
            return False
        is_elsewhere = looks_like_rows(pages, [path.first_with_table() for path in paths])
        if is_elsewhere:
            self.notes.append("objects that look like its rows stand where nobody expects them")
        return is_elsewhere

    def _free_name(self, name: str) -> str:
        return unique_names([name], [*(table.name for table in self.report.tables), *self.tables])[0]

    def _add(self, level: _Level) -> None:
        """Turn rows into a table, and every list of rows in them."""
        path, table, length = level.path, level.path.table, len(level.objects)
        paths = self._paths_in(level)
        lists = [keys for keys, inner in paths.items() if inner.holds_only_rows and keys != (ANY,)]
        contents = Contents(path.columns.keys(), frozenset(lists), len(level.way) < DEEPEST)
        contents.add(level.objects)
        source = "" if level.name else f"{as_written(*level.way)}."
        own = fill_columns(contents, path.columns, path.prefix, source, self.timezone, length)
        is_at_risk = any(one.may_lack_digits for one in own.values())
        self.lacks_digits |= is_at_risk and any(document.may_lack_digits for document in self.documents)
        self._note_missing(level, contents, own)
        level.columns = list(own.values())
        if level.name:
            declared = declared_columns(table) if table else ()
            level.columns = arrange_columns(declared, [*level.carried, *own.values()], length)
        self._keep_fitting(level)
        if level.name and (own or level.above):
            parents = level.parents if level.kept is None else level.parents.gather(level.kept)
            self.tables[level.name] = make_table(
                level.name,
                level.columns,
                level.months,
                key=table.key if table else (),
                parent=level.parent,
                parent_rows=parents if level.parent else None,
            )
        with_rows: set[int] = set()
        for child in self._levels_in(level, paths, contents.lists):
            if not level.name:
                with_rows.update(child.parents.unique())
            self._add(child)
        if not level.name:
            self._note_childless(level, with_rows)

    def _paths_in(self, level: _Level) -> dict[Keys, RowPath]:
        """The declared lists, by the keys under which these rows really have them."""
        found: dict[Keys, RowPath] = {}
        for path in level.path.inner if level.objects else ():
            if keys := locate_in_rows(level.objects, path):
                found[keys] = path
            else:
                self.notes.append(f"{path.first_table.name}: no row has the list {'.'.join(path.keys)}")
        return found

    def _note_missing(self, level: _Level, contents: Contents, own: Mapping[Keys, FilledColumn]) -> None:
        """Note the documented fields that no row has, though the object they belong to is there."""
        names = {one.column.name for one in own.values()}
        missing = [
            ".".join(keys)
            for keys, column in level.path.columns.items()
            if keys not in contents.found and keys[:-1] in contents.opened and column.name not in names
        ]
        if missing and len(level.objects) > len(level.strangers):
            self.notes.append(f"{level.path.first_table.name}: no row has {', '.join(missing)}")

    def _keep_fitting(self, level: _Level) -> None:
        """Give every row its month, and leave out rows that are rejected or repeated."""
        table, length = level.path.table, len(level.objects)
        level.months, dated_by = self._months_of(level)
        key = table.key if table else ()
        reasons = rejections(level.columns, key, level.months, dated_by, level.strangers)
        for row, (reason, column) in reasons.items():
            page, *steps = level.steps(row)
            raw = self.documents[int(page)].raw(steps)
            place = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
            if len(self.documents) > 1:
                place = f"page {int(page) + 1}: {place}"
            name = level.name or level.path.first_table.name
            self.rejected.append(RejectedRow(name, place, reason, column, level.months[row], raw))
        level.kept = [row for row in range(length) if row not in reasons] if reasons else None
        if self.report.paged and table and table.key and not table.parent:
            self._leave_out_repeated(level, table)
        if level.kept is not None:
            level.columns = [one.gather(level.kept) for one in level.columns]
            level.carried = [one.gather(level.kept) for one in level.carried]
            level.months = level.months.gather(level.kept)

    def _months_of(self, level: _Level) -> tuple[pl.Series, str]:
        """The first day of every row's month, null where it has none, and the column that says it, if any."""
        table, window, length = level.path.table, self.window, len(level.objects)
        inherited = constant(None, pl.Date(), length)
        if level.above and level.parent:  # a nested row is of the month of the row around it
            inherited = level.above.months.gather(level.parents)
            if not self._is_within or inherited.count():
                return inherited, ""
        if not level.name or not window:  # no rows of a table, or a report without months
            return constant(None, pl.Date(), length), ""
        if table and table.dated_by and self.report.month_of_row == "documented date":
            dates = next(one.values for one in level.columns if one.column.name == table.dated_by)
            return months_by_date(dates, window), table.dated_by
        found = months_by_year_and_month(level.columns, window)
        if self._is_within:  # rows without a month get theirs afterwards, of those nested in them
            return (inherited, "") if found is None else (found, "month")
        if found is None and level.above:
            self.undated = self.undated or (length > 0 and len(window) > 1)
        if found is not None and not table:  # nobody has said that these rows carry a month
            return found.fill_null(window[0].first_day), ""
        if found is not None and self.year_and_month:
            return found, "month"
        return constant(window[0].first_day, pl.Date(), length), ""

    def _leave_out_repeated(self, level: _Level, table: Table) -> None:
        """Leave out rows that pages repeat: only rows with a documented id, and only equal ones.

        Two rows of one id that say different things are both kept, unless one came with an earlier choice.
        """
        rows = pl.DataFrame([one.values.rename(one.column.name) for one in level.columns])
        if level.kept is not None:
            rows = rows.select(pl.all().gather(level.kept))
        if rows.select(table.key).is_duplicated().any():
            stays = rows.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_list()
            if choices := self.report.choices:
                ids, values = rows.select(table.key).rows(), rows[choices.column.name]
                last = dict(zip(ids, values, strict=True))  # of equal ids, what the last question says
                stays = [
                    is_first and last[one] == value
                    for is_first, one, value in zip(stays, ids, values, strict=True)
                ]
            self.repeated_ids += stays.count(False)
            kept = level.kept or range(len(stays))
            level.kept = [row for row, one_stays in zip(kept, stays, strict=True) if one_stays]

    def _levels_in(
        self, level: _Level, paths: Mapping[Keys, RowPath], lists: Mapping[Keys, list[Json]]
    ) -> Iterator[_Level]:
        """The levels below the rows that were kept, declared or not."""
        kept = level.kept
        lists = {
            keys: values if kept is None else [values[row] for row in kept] for keys, values in lists.items()
        }
        if (ANY,) in paths:
            together = {keys: lists.pop(keys) for keys in [*lists] if len(keys) == 1 and keys not in paths}
            if together:
                by_turns = list(chain.from_iterable(zip(*together.values(), strict=True)))
                yield self._below(level, paths[(ANY,)], (ANY,), by_turns, tuple(together))
        for keys, values in lists.items():
            yield self._below(level, paths.get(keys, UNDECLARED), keys, values, (keys,))

    def _below(
        self, above: _Level, path: RowPath, keys: Keys, lists: Sequence[Json], keys_of_lists: Sequence[Keys]
    ) -> _Level:
        """The elements of lists that rows have: for each row as many, under `keys_of_lists` by turns."""
        lengths = pl.Series([len(one) if one else 0 for one in lists], dtype=pl.Int64)
        filled = (lengths > 0).arg_true().cast(pl.Int64)  # an empty list would count as one row
        numbers = filled.repeat_by(lengths.gather(filled)).explode() if len(filled) else filled
        height = len(above.objects if above.kept is None else above.kept)
        elements = list(chain.from_iterable(one for one in lists if one))
        strangers = {}
        if set(map(type, elements)) - {dict}:
            if path.holds_only_rows or keys == ():  # elsewhere a null between objects is a row without values
                strangers = {place: one for place, one in enumerate(elements) if type(one) is not dict}
            elements = [one if type(one) is dict else EMPTY_ROW for one in elements]
        level = _Level(
            path,
            path.table.name if path.table else None,
            above.base,
            elements,
            lists=numbers,
            parents=numbers // (len(lists) // height) if height else numbers,
            starts=lengths.cum_sum() - lengths,
            above=above,
            parent=(above.name or "") if above.above else "",
            keys_of_lists=keys_of_lists,
            strangers=strangers,
            way=(*above.way, keys),
        )
        step = keys if path is UNDECLARED else path.declared_keys
        level.trail = above.trail if step == (ROOT,) else (*above.trail, *step)
        if path is UNDECLARED:
            level.name = self._free_name(f"{above.base}__{name_of(level.trail) or 'rows'}")
        if level.name:
            level.base, level.trail = level.name, ()
        level.carried = _carried(level, above)
        return level

    def _note_childless(self, level: _Level, with_rows: set[int]) -> None:
        """A level's values go to the rows below it; where there are none, say that they go nowhere."""
        alone = [row for row in range(len(level.months)) if row not in with_rows]
        unknown = [one for one in level.columns if not one.column.documented]
        names = sorted(one.column.source for one in unknown if one.values.gather(alone).count())
        if names:
            self.notes.append(
                "without a row below them there is no place for some values of "
                f"{', '.join(names)}; they are kept in landing"
            )


def _carried(level: _Level, above: _Level) -> list[FilledColumn]:
    """What rows have of those above: all that a level has, of a table's rows what is declared."""
    table, table_above = level.path.table, above.path.table
    if above.name:
        names = table_above.hands_down if table_above and table else {}
        inherited = {column.name: column for column in table.inherited} if table else {}
        given = []
        for one in above.columns:
            column = inherited.get(names.get(one.column.name, ""))
            if column:
                given.append(replace(one, column=column))
                continue
            is_of_question = one.column.name.startswith(ASKED) and one.column.documented
            if is_of_question or (above.above is None and one.column.name in inherited):
                given.append(one)
    else:
        given = [*above.carried, *above.columns]
    carried = [one.gather(level.parents) for one in given]
    if table and table.key_column and level.way[-1] == (ANY,):
        names_of_lists = pl.Series([keys[-1] for keys in level.keys_of_lists], dtype=pl.String)
        values = names_of_lists.gather(level.lists % len(level.keys_of_lists))
        carried.append(FilledColumn(Column(table.key_column, "VARCHAR", True, "", ""), values))
    return carried


def _notes_of_places(paths: Sequence[RowPath], found: Mapping[Keys, ListPath]) -> Iterator[str]:
    for path in paths:
        table, declared, way = path.first_table, as_written(path.keys), found.get(path.keys)
        if way is None:
            yield f"{table.name}: the answer has no list {declared}"
        elif way != (path.keys,) and not table.at_any_depth:
            yield f"{table.name}: the list {declared} was found at {as_written(*way)}"
