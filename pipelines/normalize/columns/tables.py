"""The tables that an answer becomes, what else comes of it, and the columns that objects become."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property, lru_cache
from itertools import chain
from operator import itemgetter

import polars as pl

from pipelines.catalogue.model import Column, Table, prefixed, snake_case
from pipelines.normalize.columns.types import (
    DTYPES,
    NO_ID,
    Kinds,
    constant,
    converted,
    discovered,
    kinds_of,
    may_lack_digits,
    with_decimal_commas,
)
from pipelines.normalize.document import OURS, Json, Keys, Object, value_at
from pipelines.normalize.envelopes import is_nothing, says_nothing, simplified
from pipelines.normalize.keyed_rows import KEY, may_hold_envelopes, rows_in

DEEPEST = 8  # objects nested deeper stay JSON, and so do lists of objects
MOST_COLUMNS = 1_500  # what goes beyond stays JSON, in one column
MOST_LISTS = 50  # lists of objects beyond that stay JSON as well
MORE = f"{OURS}more fields"  # the key of that column
FEWEST_KEYS = 3  # fewer documented keys than that say nothing by being there
SPELLED_ALIKE = 50  # objects of a list that its spelling is judged by
LONGEST_NAME = 120  # characters of a name; a key can be of any length
OUR_COLUMNS = (
    "_customer",
    "_month",
    "_load_id",
    "_fetched_at_utc",
    "_row",
    "_parent_row",
    "valid_from_utc",
    "valid_to_utc",
    "rowid",  # how DuckDB calls the place of a row
)
EMPTY_ROW: Object = {}


@dataclass(frozen=True)
class NormalizedTable:
    """Rows of one table in document order.

    The frame holds `_row` (0, 1, 2 ... within this answer and table), `_parent_row` (the `_row` of the
    parent; only where there is one), `_month` (its first day; null for a report without months) and
    one column for each of `columns`.
    """

    name: str
    columns: tuple[Column, ...]
    frame: pl.DataFrame
    key: tuple[str, ...]
    parent: str = ""  # the table that `_parent_row` points into


@dataclass(frozen=True)
class RejectedRow:
    """A row that did not fit its table, whole and with everything nested in it.

    `place` is a JSON path; `reason` never holds a value of the row, so that reasons can be counted
    and published; `month` is a first day, if it is known, and `is_undatable` says that its date is
    missing or cannot be read, so that it may be of any month asked for. `count` is more than one for the last
    that is kept of very many: how many it stands for.
    """

    table: str
    place: str
    reason: str
    column: str | None
    month: date | None
    raw: str
    count: int = 1
    is_undatable: bool = False


@dataclass(frozen=True)
class Normalized:
    """A whole answer, normalized, and what was noticed; every table of the report is here, also an empty one.

    `recognised` is false when an answer held something, but not what the catalogue declares: its
    rows must not be taken for an empty month. `year_and_month` says whether rows that are assumed to
    carry their month did (None: there were no rows, or it is not assumed). `undated` says that rows
    without a date came for several months at once, and were all counted to the first.
    """

    tables: tuple[NormalizedTable, ...]
    rejected: tuple[RejectedRow, ...]
    notes: tuple[str, ...]
    recognised: bool
    year_and_month: bool | None
    repeated_ids: int
    undated: bool


@dataclass(frozen=True)
class FilledColumn:
    """A column with its values, and by kind of value which of them do not fit it."""

    column: Column
    values: pl.Series
    misfits: Mapping[str, pl.Series] = field(default_factory=dict)
    may_lack_digits: bool = False

    def gather(self, rows: Sequence[int] | pl.Series) -> FilledColumn:
        """The column of these rows, of which no value is a misfit."""
        return replace(self, values=self.values.gather(rows), misfits={})


@dataclass
class Contents:
    """What objects consist of: values by key, lists whose elements are rows, and which keys there are.

    The catalogue says which keys are `documented` values, where anything else is a misfit, and which are
    `declared` lists, whose elements are rows whatever they are. Where a list is expected, `names` has the
    keys that an object which keeps rows by key does not have. `finds_lists` says whether any other list of
    objects holds rows, too; `only_row` gives the row that an object under these keys is, in place of a list.
    """

    documented: Collection[Keys]
    declared: Collection[Keys]
    names: Mapping[Keys, Collection[str]]
    finds_lists: bool
    only_row: Callable[[Keys, Object], Object | None] = lambda _keys, _value: None
    columns: dict[Keys, Kinds] = field(default_factory=dict)
    lists: dict[Keys, list[Json]] = field(default_factory=dict)  # per object, its list or None
    found: set[Keys] = field(default_factory=set)  # every key, even where its value is always null
    opened: set[Keys] = field(default_factory=lambda: {()})  # where at least one object was

    @cached_property
    def _documented_objects(self) -> set[Keys]:
        return {keys[:length] for keys in self.documented for length in range(1, len(keys))}

    def add(self, objects: Sequence[Object], above: Keys = ()) -> None:
        """Take apart objects, which are nested under the keys `above`."""
        are_alike = set(map(len, objects)) == {len(set().union(*objects))}
        names = list(objects[0] if are_alike else dict.fromkeys(chain.from_iterable(objects)))
        room = max(MOST_COLUMNS - len(self.columns), 0)
        if len(names) > room:
            depth = len(above)
            wanted = {
                keys[depth]
                for keys in (*self.documented, *self.declared)
                if len(keys) > depth and keys[:depth] == above
            }
            with_lists = {name for one in objects for name, value in one.items() if type(value) is list}
            names.sort(
                key=lambda name: (not name.startswith(OURS), name not in wanted, name not in with_lists)
            )
            rest = set(names[room:])
            more = [{key: value for key, value in one.items() if key in rest} or None for one in objects]
            self.columns[(*above, MORE)] = kinds_of(more)
        for name in names[:room]:
            keys = (*above, name)
            self.found.add(keys)
            values = list(map(itemgetter(name), objects)) if are_alike else [one.get(name) for one in objects]
            if keys not in self.documented:
                values = self._scalars(values, keys)
            if kinds := kinds_of(values):
                self.columns[keys] = kinds

    def _scalars(self, values: list[Json], keys: Keys) -> list[Json]:
        """The values that are left when lists of rows are set apart and objects are opened."""
        types = set(map(type, values))
        is_declared = keys in self.declared
        are_rows = self.finds_lists and len(self.lists) < MOST_LISTS
        may_be_kept = dict in types or (list in types and may_hold_envelopes(values))
        if may_be_kept and keys not in self._documented_objects and (is_declared or are_rows):
            values = [self._rows_in(one, keys) if type(one) in (dict, list) else one for one in values]
            types = set(map(type, values))
        if is_declared and types - {list, type(None)}:  # what is no row is rejected as one
            values = [[one] if _is_no_list(one) else one for one in values]
            types = set(map(type, values))
        if list in types:
            lists = [
                one if type(one) is list and (is_declared or (are_rows and holds_rows(one))) else None
                for one in values
            ]
            if is_declared or any(lists):
                self.lists[keys] = lists
            values = [
                None if one == [] or rows is not None else one
                for one, rows in zip(values, lists, strict=True)
            ]
        if dict in types and len(keys) < DEEPEST and len(self.columns) < MOST_COLUMNS:
            self.opened.add(keys)
            is_other = len(types) > 1
            self.add(
                [one if type(one) is dict else EMPTY_ROW for one in values] if is_other else values, keys
            )
            values = [None if type(one) is dict else one for one in values] if is_other else []
        return values

    def _rows_in(self, value: Json, keys: Keys) -> Json:
        """The rows that a list or an object is, or holds; else the value itself."""
        rows = rows_in(value, self.names.get(keys), keys[-1])
        if rows is None and type(value) is dict and (row := self.only_row(keys, value)) is not None:
            rows = [row]
        return value if rows is None else rows


def _is_no_list(value: Json) -> bool:
    """Whether a value is neither a list, nor nothing, nor an object that may hold a list."""
    if type(value) is dict:
        return not says_nothing(value) and not any(isinstance(one, dict | list) for one in value.values())
    return type(value) is not list and not is_nothing(value)


def holds_rows(value: Json) -> bool:
    """Whether a value is a list of objects, nulls between them allowed."""
    types = set(map(type, value)) if type(value) is list else set()
    return dict in types and types <= {dict, type(None)}


def spelled_as_found(columns: Mapping[Keys, Column], objects: Sequence[Json]) -> dict[Keys, Column]:
    """Documented columns by the keys that objects have, which may write the documented ones otherwise."""
    looked_at = [one for one in objects[:SPELLED_ALIKE] if type(one) is dict]
    names = dict.fromkeys(chain.from_iterable(looked_at))
    found: dict[Keys, Column] = {}
    for first in dict.fromkeys(keys[0] for keys in columns):
        alike = [] if first in names else [one for one in names if simplified(one) == simplified(first)]
        name = alike[0] if len(alike) == 1 else first
        below = {keys[1:]: column for keys, column in columns.items() if keys[0] == first}
        if () in below:
            found[(name,)] = below.pop(())
        inner = spelled_as_found(below, [one.get(name) for one in looked_at]) if below else {}
        found |= {(name, *keys): column for keys, column in inner.items()}
    return found


def wrapper_of(names: Collection[str], objects: Sequence[Json]) -> str | None:
    """The key under which rows are wrapped in an object of their own: `[{"sale": {"id": 1}, "links": []}]`.

    It is none of the documented names (simplified ones), and the only such key whose objects have more of
    them than are beside it, and not too few to say anything; of rows with that key alone any one says it.
    """
    looked_at = [one for one in objects[:SPELLED_ALIKE] if type(one) is dict] if names else []
    around = {simplified(key) for one in looked_at for key in one}
    inside: dict[str, set[str]] = {}
    for one in looked_at:
        for key, member in one.items():
            if type(member) is dict and simplified(key) not in names:
                inside.setdefault(key, set()).update(map(simplified, member))
    fewest = 1 if len(around) == 1 else max(len(around & set(names)) + 1, min(FEWEST_KEYS, len(names)))
    found = [key for key, within in inside.items() if len(within & set(names)) >= fewest]
    return found[0] if len(found) == 1 else None


def as_wrapped(
    columns: Mapping[Keys, Column], objects: Sequence[Json], name: str | None
) -> Mapping[Keys, Column]:
    """Documented columns by their keys in rows that may be wrapped under a name; others are called by it too.

    A field that is beside the wrapper and never in it is read there.
    """
    if name is None:
        return columns
    looked_at = [one for one in objects[:SPELLED_ALIKE] if type(one) is dict]
    beside = {simplified(key) for one in looked_at for key in one}
    beside -= {simplified(key) for one in looked_at for key in one.get(name) or ()}
    return {
        keys if simplified(keys[0]) in beside else (name, *keys): column for keys, column in columns.items()
    }


def with_id_of_key(
    columns: Mapping[Keys, Column], table: Table | None, objects: Sequence[Json]
) -> Mapping[Keys, Column]:
    """Documented columns where objects that are kept by key say their documented id nowhere: the key is it.

    The id is the only column of the table's key, or of what is no table its only id. Keys that only count the
    objects are none.
    """
    ids = [
        keys
        for keys, column in columns.items()
        if (column.is_id and column.name in table.key if table else column.is_id)
    ]
    kept_by = {one[KEY] for one in objects if KEY in one} if len(ids) == 1 else set()
    counted = {str(number) for number in range(len(kept_by) + 1)}
    if kept_by <= counted or any(value_at(one, ids[0]) is not None for one in objects):
        return columns
    return {(KEY,) if keys == ids[0] else keys: column for keys, column in columns.items()}


def fill_columns(
    contents: Contents, documented: Mapping[Keys, Column], prefix: str, source: str, zone: str, length: int
) -> dict[Keys, FilledColumn]:
    """Every value of the rows as a column; a documented one is known by its keys, else by its name.

    By its name only where the object that it is documented in is not there at all, not even as null. What is
    written otherwise than documented is something else if fewer of its values fit than do not.

    `prefix` begins the names of the others, `source` the paths that they are read from.
    """
    missing = {
        column.name: column
        for keys, column in documented.items()
        if not any(keys[:length] in contents.found for length in range(1, len(keys) + 1))
    }
    numbers = [
        keys
        for keys in contents.columns
        if (column := documented.get(keys) or missing.get(prefixed(prefix, name_of(keys))))
        and DTYPES[column.type].is_numeric()
    ]
    with_points = with_decimal_commas([contents.columns[keys] for keys in numbers])
    columns = {}
    for keys, kinds in {**contents.columns, **dict(zip(numbers, with_points, strict=True))}.items():
        name = prefixed(prefix, name_of(keys))
        column = documented.get(keys) or missing.get(name)
        values, misfits = (
            converted(kinds, column.type, zone, length, is_day=column.is_day) if column else (None, {})
        )
        is_exact = column is not None and column.source.endswith(joined(keys))
        if column and values is not None and (is_exact or mostly_fit(values, misfits)):
            missing.pop(name, None)
            if column.is_id:  # one that is blank or zeros alone is of nothing
                values = values.set(values.str.contains(NO_ID), None)
            columns[keys] = FilledColumn(column, values, misfits, may_lack_digits(kinds, column.type))
        else:
            values, type_ = discovered(kinds)
            column = Column(name, type_, False, f"{source}{joined(keys)}", "")
            columns[keys] = FilledColumn(column, values, {}, may_lack_digits(kinds, None))
    return columns


def mostly_fit(values: pl.Series, misfits: Mapping[str, pl.Series]) -> bool:
    """Whether as many values became a column's type as do not fit, or more."""
    return sum(int(one.sum()) for one in misfits.values()) <= values.count()


def arrange_columns(
    declared: Sequence[Column], columns: Sequence[FilledColumn], length: int
) -> list[FilledColumn]:
    """Declared columns in their order, empty where nothing came, then all others under names of their own.

    Names that collide are numbered by the order of their sources, whatever order they came in.
    """
    by_name = {one.column.name: one for one in columns if one.column.documented}
    first = []
    placed = set()
    for column in declared:
        one = by_name.get(column.name) or FilledColumn(column, constant(None, DTYPES[column.type], length))
        first.append(replace(one, column=column))
        placed.add(id(one))
    others = [one for one in columns if id(one) not in placed]
    by_source = sorted(others, key=lambda one: (not one.column.documented, one.column.source))
    taken = (*OUR_COLUMNS, *(column.name for column in declared))
    unique = unique_names((one.column.name for one in by_source), taken)
    names = {id(one): name for one, name in zip(by_source, unique, strict=True)}
    return [*first, *(replace(one, column=replace(one.column, name=names[id(one)])) for one in others)]


def make_table(
    name: str,
    columns: Sequence[FilledColumn],
    months: pl.Series,
    *,
    key: tuple[str, ...] = (),
    parent: str = "",
    parent_rows: pl.Series | None = None,
) -> NormalizedTable:
    """A table of these columns, with the columns that are ours before them."""
    row = pl.int_range(len(months), dtype=pl.Int64, eager=True).alias("_row")
    above = [] if parent_rows is None else [parent_rows.rename("_parent_row")]
    own = [one.values.rename(one.column.name) for one in columns]
    frame = pl.DataFrame([row, *above, months.rename("_month"), *own])
    return NormalizedTable(name, tuple(one.column for one in columns), frame, key, parent)


def joined(keys: Keys) -> str:
    """Keys as the catalogue writes them; the list that a document itself is has no name."""
    return ".".join(keys).replace(OURS, "")


@lru_cache(maxsize=10_000)
def name_of(keys: Keys) -> str:
    """The column of a value under these keys: letters and digits of any script; none begins with `_`."""
    words = (re.sub(r"\W+", "_", snake_case(key[:LONGEST_NAME])).strip("_") for key in keys)
    return "_".join(word or "unnamed" for word in words)[:LONGEST_NAME]


def unique_names(names: Iterable[str], taken: Iterable[str] = OUR_COLUMNS) -> list[str]:
    """The names in their order, a repeated or taken one with `_2`, `_3`; SQL ignores case."""
    used = {name.lower() for name in taken}
    unique = []
    for name in names:
        free, number = name, 2
        while free.lower() in used:
            free, number = f"{name}_{number}", number + 1
        used.add(free.lower())
        unique.append(free)
    return unique
