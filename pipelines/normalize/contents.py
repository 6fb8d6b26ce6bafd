"""The columns and undeclared lists of the JSON objects at one path."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import polars as pl

from pipelines.catalogue.model import Column, snake_case
from pipelines.normalize.document import Json, Keys, Object
from pipelines.normalize.times import local_months
from pipelines.normalize.types import UNSET_ID, Kinds, convert_values, infer_type, kinds_of
from pipelines.shapes.paths import simplified

MAX_DEPTH = 8  # objects and lists of objects nested deeper stay JSON
MAX_COLUMNS = 250  # with more, the undeclared fields of an object become one JSON column
MORE_FIELDS = "more fields"  # the key of that JSON column, which is named `more_fields`
MAX_NAME_LENGTH = 120  # characters of a column's name; a field's name can have any length
EMPTY: Object = {}


@dataclass(frozen=True)
class FilledColumn:
    """A column and its values.

    `misfits` has, for each kind of JSON value, a mask of the values that do not fit the column's type.
    """

    column: Column
    values: pl.Series
    misfits: Mapping[str, pl.Series] = field(default_factory=dict)

    def gather(self, rows: Sequence[int] | pl.Series) -> FilledColumn:
        misfits = {kind: mask.gather(rows) for kind, mask in self.misfits.items()}
        return replace(self, values=self.values.gather(rows), misfits=misfits)


class Fields:
    """The members of objects by simplified name, because the service may spell one field in several ways."""

    def __init__(self, objects: Sequence[Object]) -> None:
        self.objects = objects
        have_same_keys = set(map(len, objects)) == {len(set().union(*objects))}
        self.key_tuples = {tuple(objects[0]): None} if have_same_keys else dict.fromkeys(map(tuple, objects))
        self.spellings: dict[str, list[str]] = {}  # simplified name -> keys in the objects
        self.apart: dict[str, list[str]] = {}  # simplified name -> keys that are fields of their own
        for key in dict.fromkeys(chain.from_iterable(self.key_tuples)):
            name = simplified(key)
            spellings = self.spellings.setdefault(name, [])
            filled = (element for element in objects if element.get(key) is not None) if spellings else ()
            if any(element.get(other) is not None for element in filled for other in spellings):
                self.apart.setdefault(name, []).append(key)  # one object has a value under both
                self.spellings[f"{name} {key}"] = [key]
            else:
                spellings.append(key)

    def values(self, name: str) -> list[Json]:
        """The value of each object under a name or, in an object without it, under a key that is `apart`."""
        keys = self.spellings.get(name, [name])
        first, apart = self.spellings.get(simplified(keys[0]), keys), self.apart.get(simplified(keys[0]), [])
        if len(first) + len(apart) == 1:
            return [element.get(keys[0]) for element in self.objects]

        def used(element: Object) -> str:
            own = [key for key in first if key in element] or [key for key in apart if key in element]
            return next((key for key in own if element[key] is not None), (own or keys)[0])

        if keys == first:
            return [element.get(used(element)) for element in self.objects]
        return [None if used(element) == keys[0] else element.get(keys[0]) for element in self.objects]

    def key_tuples_without(self, name: str) -> set[tuple[str, ...]]:
        """The tuples of keys (`key_tuples`) that occur in objects without a member of this name."""
        keys = {*self.spellings.get(name, ()), *self.apart.get(name, ())}
        return {key_tuple for key_tuple in self.key_tuples if keys.isdisjoint(key_tuple)}


@dataclass
class Contents:
    """The columns and undeclared lists in the objects at one place; nested objects are flattened.

    Example: {"sale": {"price": 5}, "bids": [{"id": 1}]} has the column `sale_price` and the list `bids`.
    `declared` are the columns to read. `lists` are declared lists, which are not read here. If `takes_all`,
    undeclared fields become columns too. If not `takes_lists`, undeclared lists stay JSON.
    """

    declared: Mapping[Keys, Column]
    lists: Collection[Keys]
    takes_all: bool
    takes_lists: bool = True
    columns: dict[Keys, Kinds] = field(default_factory=dict)
    spelled_keys: dict[Keys, Keys] = field(default_factory=dict)  # simplified keys -> keys in the answer
    undeclared_lists: dict[Keys, list[Json]] = field(default_factory=dict)

    def add(self, fields: Fields, prefix: Keys = (), spelled_prefix: Keys = ()) -> None:
        """Add the members of objects. If the objects are nested, the names in `prefix` lead to them."""
        paths = (keys for keys in (*self.declared, *self.lists) if keys[: len(prefix)] == prefix)
        declared = {keys[len(prefix)] for keys in paths if len(keys) > len(prefix)}
        names = [
            name
            for name in fields.spellings
            if (*prefix, name) not in self.lists and (self.takes_all or name in declared)
        ]
        if len(self.columns) + len(names) > MAX_COLUMNS + len(declared):
            undeclared = {key for name in names if name not in declared for key in fields.spellings[name]}
            more = [{key: element[key] for key in element if key in undeclared} for element in fields.objects]
            if kinds := kinds_of([members or None for members in more]):
                self.columns[(*prefix, MORE_FIELDS)] = kinds
            self.spelled_keys[(*prefix, MORE_FIELDS)] = (*prefix, MORE_FIELDS)
            names = [name for name in names if name in declared]
        for name in names:
            keys = (*prefix, name)
            self.spelled_keys[keys] = (*spelled_prefix, fields.spellings[name][0])
            values = fields.values(name)
            if keys not in self.declared:
                values = self._flatten_values(values, keys)
            if kinds := kinds_of(values):
                self.columns[keys] = kinds

    def _flatten_values(self, values: list[Json], keys: Keys) -> list[Json]:
        """Store lists of objects as undeclared lists, and flatten objects; returns the other values."""
        types = set(map(type, values))
        if list in types:
            if self.takes_lists and any(map(has_objects, values)):
                self.undeclared_lists[keys] = [
                    [element for element in value if element is not None] if has_objects(value) else None
                    for value in values
                ]
                values = [None if has_objects(value) else value for value in values]
            values = [None if value == [] else value for value in values]
        if dict in types and len(keys) < MAX_DEPTH:
            is_mixed = len(types) > 1
            inner = [value if type(value) is dict else EMPTY for value in values] if is_mixed else values
            self.add(Fields(inner), keys, self.spelled_keys[keys])
            values = [None if type(value) is dict else value for value in values] if is_mixed else []
        return values


def is_nothing(value: Json) -> bool:
    """Whether a value states that there are no rows: null, an empty list or an empty object."""
    return value is None or value in ([], {})


def has_objects(value: Json) -> bool:
    """Whether a value is a list of objects, possibly with nulls among them."""
    types = set(map(type, value)) if type(value) is list else set()
    return dict in types and types <= {dict, type(None)}


def fill_columns(contents: Contents, zone: str, length: int, decimal: str) -> dict[Keys, FilledColumn]:
    """The columns with values: declared ones in their type, others in the narrowest type that fits."""
    columns = {}
    for keys, kinds in contents.columns.items():
        column = contents.declared.get(keys)
        if column:
            values, misfits = convert_values(
                kinds, column.type, zone, length, is_day=column.is_day, decimal=decimal
            )
            if column.is_id:  # an id that is blank or only zeros identifies nothing
                values = values.set(values.str.contains(UNSET_ID), None)
            if column.name == "month" and values.dtype == pl.String:
                values = local_months(values, zone)
            columns[keys] = FilledColumn(column, values, misfits)
        else:
            values, type_ = infer_type(kinds)
            spelled = contents.spelled_keys[keys]
            undeclared = Column(column_name(spelled), type_, ".".join(spelled), "", documented=False)
            columns[keys] = FilledColumn(undeclared, values)
    return columns


def empty_column(column: Column, length: int) -> FilledColumn:
    """A column of nulls."""
    return FilledColumn(column, convert_values({}, column.type, "", length)[0])


def column_name(keys: Keys) -> str:
    """The column name for keys: their words in lower case, joined by `_` and cut to MAX_NAME_LENGTH."""
    words = (re.sub(r"\W+", "_", snake_case(key[:MAX_NAME_LENGTH])).strip("_") for key in keys)
    return "_".join(word or "unnamed" for word in words)[:MAX_NAME_LENGTH]
