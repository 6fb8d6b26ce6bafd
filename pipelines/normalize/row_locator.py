"""The lists of rows of a report: declared by the catalogue as a tree of paths, and found in an answer.

A list is looked for at its path, then under its key, then where rows look alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice

from pipelines.catalogue.model import Column, Report, Table, columns_of_level
from pipelines.normalize.document import OURS, ROOT, Json, Keys, Object
from pipelines.normalize.tables import holds_rows, joined, name_of

ListPath = tuple[Keys, ...]  # the way from the document to a list, through the lists in between
_Place = tuple[ListPath, list[Json] | None]  # a list, or (None) an object or null under a key
ANY = f"{OURS}*"  # the key of every list of objects, whatever its own key

THROUGH_OBJECTS = 4  # how deep an envelope may be nested
THROUGH_LISTS = 3
LOOKED_AT = 50  # objects of a list that its shape is judged by
ALIKE = 0.5  # the part of the documented keys that must be there
CLEARLY = 0.2  # by how much it must be more than in any other list
FEWEST_KEYS = 3  # fewer documented keys than that say nothing by being there
DEEPEST_YEAR = 4  # lists that a year and a month may be nested in
DEEPEST_NOTHING = 50  # objects in objects that may all be empty
# How services call the list in an envelope when its own name says nothing.
ENVELOPES = frozenset(
    {"rows", "items", "data", "value", "values", "result", "results", "list", "content", "records", "entries"}
)
# What an envelope says of its pages: a page of nothing but that is an empty one.
_OF_PAGES = ("page", "index", "count", "total", "size", "number", "offset", "limit", "hasmore", "hasnext")
_ERRORS = frozenset(
    "message error errors errormessage errordescription exceptionmessage detail title messagedetail".split()
)
_BESIDE_ERRORS = frozenset(
    "status statuscode code errorcode type instance traceid requestid correlationid exceptiontype stacktrace "
    "innerexception modelstate success timestamp path".split()
)


@dataclass(frozen=True)
class RowPath:
    """A list that holds rows of a table, or (without a table) a level above them.

    `keys` lead to the list from the object that holds it; no keys mean the document itself.
    `declared_keys` are those of the catalogue, wherever the list was found. `columns` are the documented
    values of its objects by the keys that lead to them.
    """

    keys: Keys
    declared_keys: Keys
    table: Table | None
    prefix: str
    columns: Mapping[Keys, Column]
    inner: tuple[RowPath, ...] = ()

    @property
    def expected(self) -> set[str]:
        """The simplified keys that the objects of this list are documented to have."""
        inner = {path.keys[0] for path in self.inner if path.keys != (ANY,)}
        return {simplified(key) for key in {keys[0] for keys in self.columns} | inner}

    @property
    def holds_only_rows(self) -> bool:
        """Whether every element has to be an object; of an undocumented list nobody knows."""
        if self.table is None:
            return bool(self.inner)
        return bool(self.table.columns) or self.keys == (ROOT,)

    def first_with_table(self) -> RowPath:
        """The path that holds rows of a table: this one, or the first below."""
        return self if self.table else self.inner[0].first_with_table()

    @property
    def first_table(self) -> Table:
        """The table of this path, or of the first below."""
        return self.table or self.inner[0].first_table


UNDECLARED = RowPath((), (), None, "", {})


def row_paths(report: Report) -> tuple[RowPath, ...]:
    """The lists of the document itself, with all lists in them."""
    ours = {"": (ROOT,), "*": (ANY,)}
    branches = []
    for table in report.tables:
        steps = [part.lstrip(".") for part in table.rows.split("[]")[:-1]]
        way = tuple(ours.get(step) or tuple(step.split(".")) for step in steps)
        branches.append((way or ((),), table))
    return tuple(_row_paths(branches, ""))


def _row_paths(branches: Sequence[tuple[ListPath, Table]], above: str) -> Iterator[RowPath]:
    for step in dict.fromkeys(way[0] for way, _ in branches):
        below = [(way[1:], table) for way, table in branches if way[0] == step]
        path = f"{above}.{as_written(step)}".removeprefix(".")
        table = next((table for way, table in below if not way), None)
        prefixes = (one.levels[path] for _, one in below if path in one.levels)
        levels = (columns_of_level(one, path) for _, one in below if path in one.level_columns)
        columns, source = (table.columns, "") if table else (next(levels, ()), f"{path}.")
        yield RowPath(
            keys=step,
            declared_keys=step,
            table=table,
            prefix="" if table else next(prefixes, "" if step == (ROOT,) else name_of(step)),
            columns={tuple(one.source.removeprefix(source).split(".")): one for one in columns},
            inner=tuple(_row_paths([branch for branch in below if branch[0]], path)),
        )


def as_written(*way: Keys) -> str:
    """A way through lists as the catalogue writes it."""
    return ".".join(f"{joined(keys)}[]" for keys in way)


@lru_cache(maxsize=10_000)
def simplified(key: str) -> str:
    """A key without case and separators, so that `TotalRowCount` and `total_row_count` are one."""
    return re.sub(r"[\W_]+", "", key).lower()


def locate_lists(pages: Sequence[Json], paths: Sequence[RowPath]) -> dict[Keys, ListPath]:
    """The way to each topmost list that is found, by its declared keys; no two claim the same list.

    A list under its own name is never taken for another one that it resembles: names come first.
    """
    exact = {path.keys: (path.keys,) for path in paths if any(_is_there(page, path.keys) for page in pages)}
    found: dict[Keys, ListPath] = dict(exact)
    for by_name in (True, False):
        taken = frozenset((exact if by_name else found).values())
        for path in paths:
            if path.keys not in found:
                places = [place for place in _places(pages, THROUGH_LISTS) if place[0] not in taken]
                way = _named(places, path)
                if way is None and not by_name:
                    way = _alike(places, path) or _wrapped(places, path)
                if way:
                    found[path.keys] = way
    claims = list(found.values())
    return {keys: way for keys, way in found.items() if claims.count(way) == 1}


def locate_in_rows(objects: Sequence[Json], path: RowPath) -> Keys | None:
    """The keys from these rows to a list of theirs, which may be in an object of the row."""
    if path.keys == (ANY,) or any(_is_there(one, path.keys) for one in objects):
        return path.keys
    way = _named(list(_places(objects, 1)), path)
    return way[0] if way else None


def paths_as_found(ways: Sequence[tuple[ListPath, RowPath]]) -> Iterator[RowPath]:
    """The declared lists where they were found, lists on the way being levels of their own."""
    for first in dict.fromkeys(way[0] for way, _ in ways):
        here = next((path for way, path in ways if way == (first,)), None)
        below = tuple(paths_as_found([(way[1:], path) for way, path in ways if way[0] == first and way[1:]]))
        if here:
            yield replace(here, keys=first, inner=(*here.inner, *below))
        else:
            yield RowPath(first, first, None, "" if first == (ROOT,) else name_of(first), {}, below)


def elements_along(objects: Sequence[Json], way: ListPath) -> list[Json]:
    """The elements of the lists at the end of a way."""
    for keys in way:
        lists = (value_at(one, keys) for one in objects)
        objects = list(chain.from_iterable(found for found in lists if type(found) is list))
    return list(objects)


def value_at(one: Json, keys: Keys) -> Json:
    """The value in an object under these keys, None when there is nothing."""
    for key in keys:
        one = one.get(key) if type(one) is dict else None
    return one


def lists_in(objects: Sequence[Json]) -> Iterator[tuple[Keys, list[Json]]]:
    """Every list of objects in these objects, through objects only."""
    for keys, elements in _through_objects(objects):
        if elements and holds_rows(elements):
            yield keys, elements


def says_nothing(page: Json, depth: int = 0) -> bool:
    """Whether a page holds no value, or only what an envelope says of its pages."""
    if type(page) is dict and depth < DEEPEST_NOTHING:
        return all(is_of_pages(key) or says_nothing(value, depth + 1) for key, value in page.items())
    return page is None or page == []


def is_an_error(page: Object, paths: Sequence[RowPath]) -> bool:
    """Whether a page is what services say when something went wrong, whatever its status said.

    So is a list whose only row says that, and has nothing that these rows are documented to have.
    """
    rows = page.get(ROOT)
    only = rows[0] if type(rows) is list and len(rows) == 1 else None
    said, known = (page, set()) if type(only) is not dict else (only, _expected_of(paths))
    keys = {simplified(key) for key in said}
    return bool(keys & _ERRORS) and keys <= (_ERRORS | _BESIDE_ERRORS) - known


def _expected_of(paths: Sequence[RowPath]) -> set[str]:
    return {key for path in paths for key in path.expected | _expected_of(path.inner)}


def is_of_pages(key: str) -> bool:
    """Whether an envelope speaks of its pages under this key."""
    name = simplified(key)
    return any(word in name for word in _OF_PAGES)


def looks_like_rows(pages: Sequence[Json], paths: Sequence[RowPath]) -> bool:
    """Whether an object, wherever it is, has many keys of a declared row, or its id and its date."""
    wanted = []
    for path in paths:
        if len(path.expected) >= FEWEST_KEYS:
            certain = (*path.first_table.key, path.first_table.dated_by)
            sure = {simplified(keys[0]) for keys, column in path.columns.items() if column.name in certain}
            wanted.append((sure, path.expected))
    waiting = list(pages) if wanted else []
    while waiting:
        one = waiting.pop()
        if type(one) is dict:
            names = {simplified(key) for key in one}
            for sure, expected in wanted:
                if (len(sure) > 1 and sure <= names) or len(names & expected) >= ALIKE * len(expected):
                    return True
            waiting.extend(one.values())
        elif type(one) is list:
            waiting.extend(one)
    return False


def moved_to_months(objects: Sequence[Json], path: RowPath) -> RowPath | None:
    """The path of a table, moved down to where rows carry a year and a month; None when they do nowhere.

    The shortest way down; lists at the same depth are looked at in the order they come.
    """
    nearest: list[tuple[ListPath, Sequence[Json], set[str]]] = [((), objects, set())]
    for _ in range(DEEPEST_YEAR):
        further: list[tuple[ListPath, Sequence[Json], set[str]]] = []
        for way, rows, above in nearest:
            carried = above | (_names_of_numbers(rows) & {"year", "month"})
            if len(carried) == 2:
                return _moved(path, way, path.first_table.rows)
            further += [((*way, keys), elements, carried) for keys, elements in lists_in(rows)]
        nearest = further
    return None


def _moved(path: RowPath, way: ListPath, written: str) -> RowPath:
    if not way:
        return path
    below = replace(path, keys=way[0], declared_keys=way[0])
    inner = _moved(below, way[1:], f"{written}.{as_written(way[0])}")
    prefix = path.first_table.levels.get(written, name_of(path.declared_keys))
    return RowPath(path.keys, path.declared_keys, None, prefix, {}, (inner,))


def _names_of_numbers(objects: Sequence[Json]) -> set[str]:
    """The names under which these objects, or objects in them, hold whole numbers, or texts of them."""
    names: set[str] = set()
    waiting = [one for one in objects if type(one) is dict]
    while waiting:
        for key, member in waiting.pop().items():
            if type(member) is int or (type(member) is str and member.strip().isdigit()):
                names.add(key)
            elif type(member) is dict:
                waiting.append(member)
    return {simplified(name) for name in names}


def _is_there(one: Json, keys: Keys) -> bool:
    """Whether the list is there, or its key with nothing in it: then it is empty."""
    holder = value_at(one, keys[:-1])
    return type(holder) is dict and keys[-1] in holder and type(holder[keys[-1]]) in {list, type(None)}


def _named(places: Sequence[_Place], path: RowPath) -> ListPath | None:
    """The list under the name of the declared one, or the list in an object of that name."""
    if path.keys == (ROOT,):
        return None
    name = simplified(path.keys[-1])
    found = [place for place in places if simplified(place[0][-1][-1]) == name]
    lists = [way for way, elements in found if elements is not None]
    if lists or not found:
        return lists[0] if lists else None
    *above, last = found[0][0]
    inside = [
        (way, elements)
        for way, elements in places
        if elements is not None and way[:-1] == tuple(above) and way[-1][: len(last)] == last
    ]
    if len(inside) == 1:
        return inside[0][0]
    return _alike(inside, path) or _wrapped(inside, path)


def _alike(places: Sequence[_Place], path: RowPath) -> ListPath | None:
    """The list whose objects have more of the documented keys than any other's."""
    scored = [(_likeness(elements, path.expected), way) for way, elements in places if elements]
    scores = sorted(scored, key=lambda score: score[0], reverse=True)
    if not scores or scores[0][0] < ALIKE:
        return None
    is_clear = len(scores) == 1 or scores[0][0] - scores[1][0] >= CLEARLY
    return scores[0][1] if is_clear else None


def _likeness(elements: Sequence[Json], expected: set[str]) -> float:
    looked_at = (one for one in islice(elements, LOOKED_AT) if type(one) is dict)
    keys = {simplified(key) for one in looked_at for key in one}
    return len(keys & expected) / len(expected) if expected else 0.0


def _wrapped(places: Sequence[_Place], path: RowPath) -> ListPath | None:
    """A list in an envelope, when it is the only one and its objects have any documented key at all.

    One of undocumented objects is known by the name of an envelope, or is the document itself.
    """
    if path.expected:
        held = [(way, elements) for way, elements in places if elements and holds_rows(elements)]
        if len(held) != 1:
            return None
        ((way, elements),) = held
        is_envelope = simplified(way[-1][-1]) in ENVELOPES
        return way if is_envelope and _likeness(elements, path.expected) > 0 else None
    names = ENVELOPES | {simplified(path.first_table.name)}
    lists = [way for way, elements in places if elements is not None and len(way) == 1]
    return next((way for way in lists if way == ((ROOT,),) or simplified(way[0][-1]) in names), None)


def _places(objects: Sequence[Json], hops: int, above: ListPath = ()) -> Iterator[_Place]:
    """Every list and object in these objects, the nearest first; then those in these lists."""
    here = sorted(_through_objects(objects), key=lambda place: len(place[0]))
    for keys, elements in here:
        yield (*above, keys), elements
    if hops > 1:
        for keys, elements in here:
            if elements and holds_rows(elements[:LOOKED_AT]):
                yield from _places(elements[:LOOKED_AT], hops - 1, (*above, keys))


def _through_objects(objects: Sequence[Json], above: Keys = ()) -> Iterator[tuple[Keys, list[Json] | None]]:
    names = dict.fromkeys(chain.from_iterable(one for one in objects if type(one) is dict))
    for name in names:
        values = [one[name] for one in objects if type(one) is dict and name in one]
        keys = (*above, name)
        if any(type(value) is list for value in values):
            yield keys, list(chain.from_iterable(value for value in values if type(value) is list))
        inside = [value for value in values if type(value) is dict]
        if inside:
            yield keys, None
        if inside and len(keys) < THROUGH_OBJECTS:
            yield from _through_objects(inside, keys)
