"""The place of a declared list of rows: at its path, under its key, or where rows look alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from pipelines.normalize.document import Json
from pipelines.normalize.objects import holds_rows
from pipelines.normalize.row_paths import ROOT, Keys, ListPath, RowPath, as_written, name_of, simplified

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
class _Place:
    """A list, or an object or null under a key, that was met in a document."""

    path: ListPath
    elements: list[Json] | None  # None: it is no list


def locate_lists(pages: Sequence[Json], paths: Sequence[RowPath]) -> dict[Keys, ListPath]:
    """The way to each topmost list that is found, by its declared keys; no two claim the same list."""
    exact = {path.keys: (path.keys,) for path in paths if any(_is_there(page, path.keys) for page in pages)}
    found: dict[Keys, ListPath] = dict(exact)
    for is_named in (
        True,
        False,
    ):  # a list under its own name is never taken for another one that it resembles
        taken = frozenset((exact if is_named else found).values())
        for path in paths:
            if path.keys not in found:
                places = [one for one in _places(pages, THROUGH_LISTS) if one.path not in taken]
                way = _named(places, path)
                if way is None and not is_named:
                    way = _alike(places, path) or _wrapped(places, path)
                if way:
                    found[path.keys] = way
    claims = list(found.values())
    return {keys: way for keys, way in found.items() if claims.count(way) == 1}


def locate_in_rows(objects: Sequence[Json], path: RowPath) -> Keys | None:
    """The keys from these rows to a list of theirs, which may be in an object of the row."""
    if any(_is_there(one, path.keys) for one in objects):
        return path.keys
    way = _named(list(_places(objects, 1)), path)
    return way[0] if way else None


def paths_as_found(paths: Sequence[RowPath], found: Mapping[Keys, ListPath]) -> tuple[RowPath, ...]:
    """The declared lists at the places where they were found, lists on the way being levels of their own."""
    return tuple(_nested([(found[path.keys], path) for path in paths if path.keys in found]))


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
    for place in _through_objects(objects, ()):
        if place.elements and holds_rows(place.elements):
            yield place.path[0], place.elements


def path_of(way: ListPath) -> str:
    """A way as the catalogue would write it."""
    return ".".join(as_written(keys) for keys in way)


def says_nothing(page: Json, depth: int = 0) -> bool:
    """Whether a page holds no value, or only what an envelope says of its pages."""
    if type(page) is dict and depth < DEEPEST_NOTHING:
        return all(is_of_pages(key) or says_nothing(value, depth + 1) for key, value in page.items())
    return page is None or page == []


def is_an_error(page: Json) -> bool:
    """Whether a page is what services say when something went wrong, whatever its status said."""
    keys = {simplified(key) for key in page} if type(page) is dict else set()
    return bool(keys & _ERRORS) and keys <= _ERRORS | _BESIDE_ERRORS


def is_of_pages(key: str) -> bool:
    """Whether an envelope speaks of its pages under this key."""
    name = simplified(key)
    return any(word in name for word in _OF_PAGES)


def looks_like_rows(pages: Sequence[Json], paths: Sequence[RowPath]) -> bool:
    """Whether an object, wherever it is, has many keys of a declared row, or its id and its date."""
    wanted = []
    for path in paths:
        if len(path.expected) >= FEWEST_KEYS:
            table = path.first_table()
            certain = (
                keys[0] for keys, one in path.columns.items() if one.name in (*table.key, table.dated_by)
            )
            wanted.append(({simplified(key) for key in certain}, {simplified(key) for key in path.expected}))
    waiting = list(pages) if wanted else []
    while waiting:
        one = waiting.pop()
        if type(one) is dict:
            names = {simplified(key) for key in one}
            for sure, documented in wanted:
                if (len(sure) > 1 and sure <= names) or len(names & documented) >= ALIKE * len(documented):
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
                return _moved(path, way, path.table.rows, path.table.levels) if path.table else None
            further += [((*way, keys), elements, carried) for keys, elements in lists_in(rows)]
        nearest = further
    return None


def _moved(path: RowPath, way: ListPath, written: str, levels: Mapping[str, str]) -> RowPath:
    if not way:
        return path
    below = replace(path, keys=way[0], declared_keys=way[0])
    inner = _moved(below, way[1:], f"{written}.{as_written(way[0])}", levels)
    prefix = levels.get(written, name_of(path.declared_keys))
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


def _nested(ways: Sequence[tuple[ListPath, RowPath]]) -> Iterator[RowPath]:
    for first in dict.fromkeys(way[0] for way, _ in ways):
        here = next((path for way, path in ways if way == (first,)), None)
        below = tuple(_nested([(way[1:], path) for way, path in ways if way[0] == first and len(way) > 1]))
        if here:
            yield replace(here, keys=first, inner=(*here.inner, *below))
        else:
            yield RowPath(first, first, None, "" if first == (ROOT,) else name_of(first), {}, below)


def _is_there(one: Json, keys: Keys) -> bool:
    """Whether the list is there, or its key with nothing in it: then it is empty."""
    holder = value_at(one, keys[:-1])
    return type(holder) is dict and keys[-1] in holder and type(holder[keys[-1]]) in {list, type(None)}


def _named(places: Sequence[_Place], path: RowPath) -> ListPath | None:
    if path.keys == (ROOT,):
        return None
    name = simplified(path.keys[-1])
    found = [place for place in places if simplified(place.path[-1][-1]) == name]
    lists = [place.path for place in found if place.elements is not None]
    if lists or not found:
        return lists[0] if lists else None
    *above, last = found[0].path  # an object that wraps the list, with no other list between them
    inside = [
        place
        for place in places
        if place.elements is not None
        and place.path[:-1] == tuple(above)
        and place.path[-1][: len(last)] == last
    ]
    if len(inside) == 1:
        return inside[0].path
    return _alike(inside, path) or _wrapped(inside, path)


def _alike(places: Sequence[_Place], path: RowPath) -> ListPath | None:
    """The list whose objects have more of the documented keys than any other's."""
    expected = {simplified(key) for key in path.expected}
    scores = sorted(
        ((_likeness(place, expected), place.path) for place in places if place.elements),
        key=lambda score: score[0],
        reverse=True,
    )
    if not scores or scores[0][0] < ALIKE:
        return None
    is_clear = len(scores) == 1 or scores[0][0] - scores[1][0] >= CLEARLY
    return scores[0][1] if is_clear else None


def _likeness(place: _Place, expected: set[str]) -> float:
    looked_at = (one for one in islice(place.elements or (), LOOKED_AT) if type(one) is dict)
    keys = {simplified(key) for one in looked_at for key in one}
    return len(keys & expected) / len(expected) if expected else 0.0


def _wrapped(places: Sequence[_Place], path: RowPath) -> ListPath | None:
    """A list in an envelope, when it is the only one and its objects have any documented key at all.

    One of undocumented objects is known by the name of an envelope, or is the document itself.
    """
    if path.expected:
        expected = {simplified(key) for key in path.expected}
        held = [place for place in places if place.elements and holds_rows(place.elements)]
        is_envelope = len(held) == 1 and simplified(held[0].path[-1][-1]) in ENVELOPES
        return held[0].path if is_envelope and _likeness(held[0], expected) > 0 else None
    names = ENVELOPES | {simplified(path.first_table().name)}
    lists = [place.path for place in places if place.elements is not None and len(place.path) == 1]
    return next((way for way in lists if way == ((ROOT,),) or simplified(way[0][-1]) in names), None)


def _places(objects: Sequence[Json], hops: int, above: ListPath = ()) -> Iterator[_Place]:
    """Every list and object in these objects, the nearest first; then those in these lists."""
    here = sorted(_through_objects(objects, ()), key=lambda place: len(place.path[-1]))
    for place in here:
        yield _Place((*above, *place.path), place.elements)
    if hops > 1:
        for place in here:
            if place.elements and holds_rows(place.elements[:LOOKED_AT]):
                yield from _places(place.elements[:LOOKED_AT], hops - 1, (*above, *place.path))


def _through_objects(objects: Sequence[Json], above: Keys) -> Iterator[_Place]:
    names = dict.fromkeys(chain.from_iterable(one for one in objects if type(one) is dict))
    for name in names:
        values = [one[name] for one in objects if type(one) is dict and name in one]
        keys = (*above, name)
        if any(type(value) is list for value in values):
            yield _Place((keys,), list(chain.from_iterable(value for value in values if type(value) is list)))
        inside = [value for value in values if type(value) is dict]
        if inside:
            yield _Place((keys,), None)
        if inside and len(keys) < THROUGH_OBJECTS:
            yield from _through_objects(inside, keys)
