"""Documents of one shape, taken apart level by level into tables.

1. All lists at one place of the documents, over all pages and rows above, are one `_Level` of rows.
2. The objects of a level are taken apart: a column for every key, and the lists of rows in them.
3. Columns are converted: to documented types, or else to the narrowest type that holds the values.
4. Every row gets its month; a row that does not fit is rejected, one of a neighbouring month left out.
5. What stays is a table, or is carried down to the rows below; then come the levels below, from step 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain

import polars as pl

from pipelines.catalogue.model import Column, Report, declared_columns
from pipelines.months import Month
from pipelines.normalize.columns.tables import (
    DEEPEST,
    EMPTY_ROW,
    Contents,
    FilledColumn,
    NormalizedTable,
    RejectedRow,
    arrange_columns,
    as_wrapped,
    fill_columns,
    joined,
    make_table,
    name_of,
    spelled_as_found,
    unique_names,
    with_id_of_key,
    wrapper_of,
)
from pipelines.normalize.columns.types import constant
from pipelines.normalize.columns.validation import (
    filed_months,
    is_total,
    months_by_date,
    months_by_year_and_month,
    rejections,
    rows_of_neighbours,
    rows_without_key,
    undatable,
)
from pipelines.normalize.document import ROOT, Document, Json, Keys, Object
from pipelines.normalize.envelopes import is_of_pages, simplified
from pipelines.normalize.keyed_rows import names_in, only_row, raw_row, rows_in
from pipelines.normalize.row_locator import ALIKE, kind_of, lists_of_kinds, lists_of_rows
from pipelines.normalize.row_paths import ANY, UNDECLARED, ListPath, RowPath, as_written, paths_as_found

ENVELOPE = "envelope"
ASKED = "asked_"  # columns that say what we asked for go to every table
MOST_KEPT_REJECTED = (
    1_000  # rejected rows of a table and reason that are kept one by one; the others are counted
)
MOSTLY = 0.5  # where more elements of a list than that are no objects, it is no list of rows


@dataclass
class _Level:
    """The rows of all lists at one place of the answer; the topmost are its pages.

    They become the table `name`; without a name, their values are carried to the rows below them.
    `base`, a table, and `trail`, the keys from there, name the table of an undeclared list. A stranger
    is an element that is no object: an empty row takes its place until it is rejected. `numbers` are those of
    the documents, of the topmost level.
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
    numbers: Sequence[int] = ()
    # What became of the rows.
    columns: Sequence[FilledColumn] = ()
    months: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.Date))
    kept: Sequence[int] | None = None  # None: all
    wrapper: str | None = None  # the key of the object that each row is in

    def steps(self, row: int) -> list[str | int]:
        """The way to a row: its page, then keys and places in lists."""
        if self.above is None:
            return [self.numbers[row]]
        number, parent = self.lists[row], self.parents[row]
        steps = self.above.steps(parent if self.above.kept is None else self.above.kept[parent])
        keys = self.keys_of_lists[number % len(self.keys_of_lists)]
        if not keys:
            return steps
        return [*steps, *(key for key in keys if key != ROOT), row - self.starts[number]]

    @cached_property
    def documents(self) -> pl.Series:
        """In which document each row is."""
        if self.above is None:
            return pl.Series(self.numbers, dtype=pl.Int64)
        above = self.above.documents
        return (above if self.above.kept is None else above.gather(self.above.kept)).gather(self.parents)


@dataclass
class Shape:
    """Documents of an answer that keep the declared lists in the same places.

    `numbers` are their places among all documents, `pages` the documents as objects. The lists are at the
    end of the ways in `found`; without any, each document is rows itself.
    """

    paths: tuple[RowPath, ...]
    found: Mapping[Keys, ListPath]
    numbers: list[int] = field(default_factory=list)
    pages: list[Object] = field(default_factory=list)


@dataclass
class Names:
    """The names of the tables of undeclared lists: equal ones for lists in equal places of the same table."""

    taken: list[str]
    by_place: dict[tuple[str, str, Keys], str] = field(default_factory=dict)

    def of(self, base: str, trail: Keys, parent: str = "") -> str:
        """The name of a list below the table `base`, whose rows are nested in those of `parent`, if any.

        A list beside the rows of a table and one in them are two, though both may be named after the table.
        """
        place = base, parent, trail
        if place not in self.by_place:
            name = unique_names([f"{base}__{name_of(trail) or 'rows'}"], self.taken)[0]
            self.taken.append(name)
            self.by_place[place] = name
        return self.by_place[place]


@dataclass
class Flattening:
    """The documents of one shape that are being made into tables, and all that has come of it so far.

    `window` is the months asked for, none for a report without months. `with_rows` says by declared table
    which documents gave it rows, rejected ones too. `is_readable` is false where a list of rows holds mostly
    something else.
    """

    report: Report
    documents: Sequence[Document]
    window: tuple[Month, ...]
    timezone: str
    names: Names
    declared_names: frozenset[str]  # the simplified keys of declared lists
    year_and_month: bool | None
    tables: dict[str, NormalizedTable] = field(default_factory=dict)
    rejected: list[RejectedRow] = field(default_factory=list)
    rejected_by_reason: Counter[tuple[str, str]] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    with_rows: dict[str, set[int]] = field(default_factory=dict)
    undated: bool = False
    is_readable: bool = True
    lacks_digits: bool = False  # values were read as floats although more of their digits are wanted

    def add(self, shape: Shape, asked: Sequence[str | None], chosen: Sequence[str | None]) -> None:
        """Make tables of the documents; `asked` and `chosen` say of every document what it was asked with."""
        report, places = self.report, pl.int_range(len(shape.pages), eager=True)
        pages = _Level(
            UNDECLARED, None, report.name, shape.pages, places, places, places, numbers=shape.numbers
        )
        if each := report.endpoint.each:
            ids = [each.parts(asked[number]) for number in shape.numbers]
            pages.carried = [
                FilledColumn(
                    Column(name, "VARCHAR", True, "", "what we asked the service for"),
                    pl.Series([parts[place] for parts in ids], dtype=pl.String),
                )
                for place, name in enumerate(each.columns)
            ]
        if choices := report.endpoint.choices:
            said = [choices.values.get(chosen[number] or "") for number in shape.numbers]
            pages.carried = [*pages.carried, FilledColumn(choices.column, pl.Series(said, dtype=pl.Boolean))]
        if not shape.found:
            self._add_documents_as_rows(pages, shape.paths[0].first_with_table())
            return
        pages.name = self.names.of(report.name, (ENVELOPE,))
        ways = [(shape.found[path.keys], path) for path in shape.paths if path.keys in shape.found]
        pages.path = replace(UNDECLARED, inner=tuple(paths_as_found(ways)))
        self._add(pages)
        envelope = self.tables.get(pages.name)
        ours = [one.column.name for one in pages.carried]
        if (
            report.endpoint.paged
            and envelope
            and all(is_of_pages(one.name) or one.name in ours for one in envelope.columns)
        ):
            del self.tables[pages.name]  # what an envelope says of its pages is no row

    @property
    def _is_within(self) -> bool:
        """Whether rows of several months are assumed to be told apart by what is nested in them."""
        return self.report.month_of_row == "year and month within" and len(self.window) > 1

    def _add_documents_as_rows(self, pages: _Level, path: RowPath) -> None:
        """Add each document as rows of one table: its elements if it is a list, else itself unless empty."""
        keys = [(ROOT,) if ROOT in page else () for page in pages.objects]
        lists = [
            (rows_in(page[ROOT], self.declared_names) or []) if ROOT in page else [page] if page else []
            for page in pages.objects
        ]
        rows = self._below(pages, path, (), lists, keys)
        rows.way = ()
        self._add(rows)

    def _add(self, level: _Level) -> None:
        """Turn rows into a table, and every list of rows in them."""
        level.wrapper = wrapper_of(level.path.names, level.objects)
        documented = as_wrapped(level.path.columns, level.objects, level.wrapper)
        documented = spelled_as_found(documented, level.objects)
        documented = with_id_of_key(documented, level.path.table, level.objects)
        level.path = path = replace(level.path, columns=documented)
        table, length = path.table, len(level.objects)
        lists = [inner.keys for inner in path.inner if inner.holds_only_rows and inner.keys != (ANY,)]
        named = {inner.keys: self.declared_names for inner in path.inner}
        row_of = partial(_row_of, path.inner if level.above else ())
        contents = Contents(path.columns.keys(), frozenset(lists), named, len(level.way) < DEEPEST, row_of)
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
        if table and not table.parent:
            self.with_rows.setdefault(table.name, set()).update(level.documents)
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
        for child in self._levels_in(level, contents.lists):
            if not level.name:
                with_rows.update(child.parents.unique())
            self._add(child)
        if not level.name:
            self._note_childless(level, with_rows)

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
        key, old_keys = (table.key, table.old_keys) if table else ((), {})
        near = rows_of_neighbours(level.columns, dated_by, self.window, self.report.margin)
        reasons = rejections(level.columns, key, old_keys, level.months, dated_by, level.strangers)
        reasons = {row: reason for row, reason in reasons.items() if row not in near}
        unnamed = rows_without_key(level.columns, key, old_keys).intersection(reasons) - {*level.strangers}
        totals = self._totals(level, unnamed, reasons, near)
        reasons = {row: reason for row, reason in reasons.items() if row not in totals}
        months = filed_months(level.columns, dated_by, level.months, self.window)
        undated = undatable(level.columns, dated_by, key).difference(level.strangers)
        name = level.name or level.path.first_table.name
        for row, (reason, column) in reasons.items():
            self.rejected_by_reason[name, reason] += 1
            if self.rejected_by_reason[name, reason] > MOST_KEPT_REJECTED:
                continue
            page, *steps = level.steps(row)
            raw = raw_row(self.documents[int(page)], steps, self.declared_names)
            place = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
            if len(self.documents) > 1:
                place = f"page {int(page) + 1}: {place}"
            is_undated = row in undated
            self.rejected.append(
                RejectedRow(name, place, reason, column, months[row], raw, is_undatable=is_undated)
            )
        self._check_documents(level, reasons)
        left_out = near.union(reasons, totals)
        level.kept = [row for row in range(length) if row not in left_out] if left_out else None
        if level.kept is not None:
            level.columns = [one.gather(level.kept) for one in level.columns]
            level.carried = [one.gather(level.kept) for one in level.carried]
            level.months = level.months.gather(level.kept)

    def _totals(
        self, level: _Level, unnamed: Collection[int], rejected: Collection[int], near: Collection[int]
    ) -> set[int]:
        """The rows without an id that are the total of all others of their list and month, one in each."""
        in_list = Counter((level.lists[row], level.months[row]) for row in unnamed)
        totals = set()
        for row in unnamed:
            number, month = level.lists[row], level.months[row]
            end = level.starts[number + 1] if number + 1 < len(level.starts) else len(level.objects)
            if in_list[number, month] == 1:
                others = [
                    other
                    for other in range(level.starts[number], end)
                    if level.months[other] == month and other not in rejected and other not in near
                ]
                if others and is_total(level.columns, row, others):
                    totals.add(row)
        if totals:
            self.notes.append(f"{level.path.first_table.name}: the sum of the other rows is left out")
        return totals

    def _check_documents(self, level: _Level, reasons: Mapping[int, tuple[str, str | None]]) -> None:
        """Refuse a document whose rows are all rejected, if it is not for what a single one says.

        It has several for one reason, or none that has any of the fields that every row has: then these are
        other objects, or rows written or wrapped as nobody expects, and nothing would be loaded of them.
        """
        table, certain = level.path.table, level.path.certain
        if not reasons or table is None or table.parent:
            return
        documents = level.documents.to_list()
        fitting = {number for row, number in enumerate(documents) if row not in reasons}
        left = Counter(
            (number, reasons[row][0]) for row, number in enumerate(documents) if number not in fitting
        )
        named = {documents[row] for row in reasons if row in level.strangers or not certain}
        named |= {documents[row] for row in reasons if certain & set(map(simplified, level.objects[row]))}
        for (number, reason), count in left.items():
            if number not in named or count == documents.count(number) > 1:
                self.is_readable = False
                self.notes.append(f"{table.name}: of no row of a document anything fits: {reason}")

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
        around = _carried_dates(level) if self._is_within else []
        found = months_by_year_and_month([*around, *level.columns], window)
        if self._is_within:  # rows without a month get theirs afterwards, of those nested in them
            return (inherited, "") if found is None else (found, "month")
        if found is None and level.above:
            self.undated = self.undated or (length > 0 and len(window) > 1)
        if found is not None and not table:  # nobody has said that these rows carry a month
            return found.fill_null(window[0].first_day), ""
        if found is not None and self.year_and_month:
            return found, "month"
        return constant(window[0].first_day, pl.Date(), length), ""

    def _levels_in(self, level: _Level, lists: Mapping[Keys, Sequence[Json]]) -> Iterator[_Level]:
        """The levels below the rows that were kept, declared or not."""
        kept = level.kept
        left = {
            keys: list(values) if kept is None else [values[row] for row in kept]
            for keys, values in lists.items()
        }
        together = None
        for path in level.path.inner:
            if path.keys == (ANY,):
                together = path
            elif keys := lists_of_rows(path, left):
                yield self._below(level, path, keys[0], _by_turns(left, keys), keys)
            elif level.objects and path.keys != (ROOT,):
                self.notes.append(f"{path.first_table.name}: no row has the list {joined(path.keys)}")
        if together and (keys := lists_of_kinds(together, left, level.wrapper)):
            by_turns = list(chain.from_iterable(zip(*(left.pop(one) for one in keys), strict=True)))
            yield self._below(level, together, (ANY,), by_turns, keys)
        for one, values in left.items():
            yield self._below(level, UNDECLARED, one, values, (one,))

    def _below(
        self, above: _Level, path: RowPath, keys: Keys, lists: Sequence[Json], keys_of_lists: Sequence[Keys]
    ) -> _Level:
        """The elements of lists that rows have: for each row as many, under `keys_of_lists` by turns."""
        lists = self._readable(lists, path, keys)
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
            level.name = self.names.of(above.base, level.trail, level.parent)
        if level.name:
            level.base, level.trail = level.name, ()
        level.carried = _carried(level, above)
        return level

    def _readable(self, lists: Sequence[Json], path: RowPath, keys: Keys) -> Sequence[Json]:
        """The lists, empty where very many elements are no objects, most of them: they are something else."""
        if not (path.holds_only_rows or keys == ()):
            return lists
        kinds = Counter(map(type, chain.from_iterable(filter(None, lists))))
        count = kinds.total()
        if (count - kinds[dict]) <= count * MOSTLY:
            return lists
        self.is_readable = False
        self.notes.append(
            f"{path.first_table.name}: {count - kinds[dict]} of {count} elements are no objects"
        )
        return lists if count <= MOST_KEPT_REJECTED else [[] for _ in lists]

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


def _row_of(lists: Sequence[RowPath], keys: Keys, value: Object) -> Object | None:
    """The only row of one of these lists, which the object under these keys is; None where it is none.

    Where a list may have any name an object is its row by its id and date, or by its id and most fields.
    """
    for path in lists:
        if path.keys == (ANY,):
            fields = names_in(value, path.expected)
            is_alike = len(path.certain) > 1 or len(fields) >= ALIKE * len(path.expected)
            if path.certain and path.certain <= fields and is_alike:
                return value
        elif simplified(path.keys[-1]) == simplified(keys[-1]):
            return only_row(value, path.expected, path.certain)
    return None


def _carried_dates(level: _Level) -> list[FilledColumn]:
    """The years and months of the rows around these, the outermost first."""
    if level.above is None or not level.parent:
        return []
    around = [*_carried_dates(level.above), *level.above.columns]
    dates = [one for one in around if simplified(one.column.source.rpartition(".")[2]) in {"year", "month"}]
    return [one.gather(level.parents) for one in dates]


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
            is_of_request = above.above is None and (not level.name or one.column.name in inherited)
            if one.column.documented and (is_of_question or is_of_request):
                given.append(one)
    else:
        given = [*above.carried, *above.columns]
    carried = [one.gather(level.parents) for one in given]
    if table and table.key_column and level.way[-1] == (ANY,):
        names_of_lists = pl.Series(
            [kind_of(keys, above.wrapper) for keys in level.keys_of_lists], dtype=pl.String
        )
        values = names_of_lists.gather(level.lists % len(level.keys_of_lists))
        carried.append(FilledColumn(Column(table.key_column, "VARCHAR", True, "", ""), values))
    return carried


def _by_turns(lists: dict[Keys, list[Json]], keys: tuple[Keys, ...]) -> list[Json]:
    """The one list of every row under any of these keys, null under the others; the rest stays in `lists`.

    A list at the first of the keys counts, also an empty one, then the first that holds rows.
    """
    if len(keys) == 1:
        return lists.pop(keys[0])
    turns: list[Json] = []
    for row in range(len(lists[keys[0]])):
        values = [lists[one][row] for one in keys]
        filled = next((place for place, value in enumerate(values) if value), 0)
        chosen = filled if values[0] is None else 0
        turns += [value if place == chosen else None for place, value in enumerate(values)]
        lists[keys[chosen]][row] = None
    for one in keys:
        if not any(lists[one]):
            del lists[one]
    return turns
