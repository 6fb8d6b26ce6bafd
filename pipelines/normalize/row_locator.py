"""The lists of rows of a report, found in a document.

A list is looked for at its path, then under its key, then where rows of other documents were, then where rows
look alike. Every document is searched on its own, and in every row the lists that are nested in it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice

from pipelines.catalogue.model import Report
from pipelines.normalize.columns.tables import FEWEST_KEYS, holds_rows, wrapper_of
from pipelines.normalize.columns.validation import NAMES_OF_WRITTEN, WRITTEN_MONTH
from pipelines.normalize.document import ROOT, Json, Keys, Object, value_at
from pipelines.normalize.envelopes import (
    ENVELOPES,
    is_hollow,
    is_nothing,
    says_nothing,
    simplified,
    unwrapped,
)
from pipelines.normalize.keyed_rows import KEPT_BY, keeps_rows, only_row, rows_in
from pipelines.normalize.row_paths import ListPath, RowPath, moved, names_of, row_paths

_Place = tuple[ListPath, list[Json] | None]  # a list, or (None) an object or null under a key

THROUGH_OBJECTS = 4  # how deep an envelope may be nested
THROUGH_LISTS = 3
LOOKED_AT = 50  # objects of a list that its shape is judged by
ALIKE = 0.5  # the part of the documented keys that must be there
CLEARLY = 0.2  # by how much it must be more than in any other list
DEEPEST_YEAR = 4  # lists that a year and a month may be nested in


def _names_of_numbers(objects: Sequence[Json]) -> set[str]:
    """The names under which these objects, or objects in them, hold whole numbers, or texts of them.

    A month that is written with its year holds both.
    """
    names: set[str] = set()
    waiting = [one for one in objects if type(one) is dict]
    while waiting:
        for key, member in waiting.pop().items():
            is_month = simplified(key) in NAMES_OF_WRITTEN and type(member) in {str, int}
            if is_month and re.match(WRITTEN_MONTH, str(member)):
                names |= {"year", "month"}
            elif type(member) is int or (type(member) is str and member.strip().isdigit()):
                names.add(key)
            elif type(member) is dict and simplified(key) not in KEPT_BY:
                waiting.append(member)
    return {simplified(name) for name in names}


@dataclass(frozen=True)
class Locator:
    """Finds the declared lists of a report; `known` are the ways to rows of other documents of its window."""

    paths: tuple[RowPath, ...]
    names: frozenset[str]
    is_one_of_lists: bool = False  # the document is one object, and every list in it holds rows
    known: dict[Keys, set[ListPath]] = field(default_factory=dict)

    def page_of(self, value: Json) -> Object:
        """A document as an object; one that holds rows itself is an object that holds just that."""
        if self.paths[0].keys == () and value:  # the document is rows itself, in whatever envelope
            value = unwrapped(value) if type(value) is dict else value
            return {ROOT: value} if rows_in(value, self.names) is not None else value
        if self.is_one_of_lists and type(value) is dict:
            return {ROOT: [unwrapped(value)]}
        is_envelope = type(value) is dict and not keeps_rows(value, self.names)
        page = value if is_envelope else {ROOT: value}
        wanted = [path for path in self.paths if type(value_at(page, path.keys)) is not list]
        paths = {simplified(path.keys[-1]): path for path in wanted if path.keys not in ((), (ROOT,))}
        return self._with_lists(page, paths) if paths else page

    def _with_lists(self, value: Json, paths: Mapping[str, RowPath], depth: int = 0) -> Json:
        """A copy with a list in place of each row that is there instead of a list under these names."""
        if depth > THROUGH_OBJECTS + THROUGH_LISTS:
            return value
        if type(value) is list:
            elements = [self._with_lists(one, paths, depth + 1) for one in value]
            return elements if any(map(operator.is_not, elements, value)) else value
        changed: Object = {}
        for key, member in value.items() if type(value) is dict else ():
            if not isinstance(member, dict | list):
                continue
            if simplified(key) not in self.names:
                changed[key] = self._with_lists(member, paths, depth + 1)
            elif (path := paths.get(simplified(key))) and rows_in(member, self.names) is None:
                row = only_row(member, path.expected, path.certain)
                changed[key] = member if row is None else [row]
        is_other = any(one is not value[key] for key, one in changed.items())
        return {**value, **changed} if is_other else value

    def locate(self, page: Object) -> dict[Keys, ListPath]:
        """The way to each topmost list that is found in a page, by its declared keys.

        A list with rows comes before an empty one, and a list under its own name is never taken for
        another one that it resembles: names come first. No two claim the same list.
        """
        exact: dict[Keys, ListPath] = {
            path.keys: way
            for path in self.paths
            if self._is_there(page, path.keys) and (way := self._down_to_rows(page, path))
        }
        rows = {keys: self.elements_along([page], way) for keys, way in exact.items()}
        wanted = [
            path
            for path in self.paths
            if path.keys not in exact
            or not (rows[path.keys] or (any(rows.values()) and value_at(page, path.keys) is not None))
        ]
        if not wanted:
            return exact
        places = list(self._places([page], THROUGH_LISTS))
        found = dict(exact)
        for by_name in (True, False):
            taken = frozenset((exact if by_name else found).values())
            free = [place for place in places if place[0] not in taken]
            for path in wanted:
                own = [place for place in free if not self._is_of_another(place[0], path)]
                if way := self._way_to(path, page, own, found, by_name=by_name):
                    found[path.keys] = way
        claims = list(found.values())
        around = {way[:hops] for way in claims for hops in range(1, len(way))}  # what holds lists, not rows
        return {keys: way for keys, way in found.items() if claims.count(way) == 1 and way not in around}

    def _is_of_another(self, way: ListPath, path: RowPath) -> bool:
        """Whether a list is under the name of another declared one, to which alone it belongs."""
        others = {simplified(one.keys[-1]) for one in self.paths if one is not path}
        return any(simplified(key) in others for keys in way for key in keys)

    def is_row_of_document(self, pages: Sequence[Object]) -> bool:
        """Whether documents that are rows themselves have any documented field, where there are such."""
        (path, *_) = self.paths
        rows = [
            row for one in pages for row in (self.elements_along([one], ((ROOT,),)) if ROOT in one else [one])
        ]
        return not path.expected or not rows or not path.expected.isdisjoint(_own_names(rows))

    def as_only_row(self, page: Object) -> Object | None:
        """A page that is a row where a list of rows is expected, as a list of it; else None."""
        (path, *others) = self.paths
        if others or path.keys != (ROOT,) or not path.expected or ROOT in page:
            return None
        row = unwrapped(page)
        names = _own_names([row])
        is_row = path.certain <= names and len(names & path.expected) >= ALIKE * len(path.expected)
        return {ROOT: [row]} if is_row else None

    def _down_to_rows(self, page: Object, path: RowPath) -> ListPath | None:
        """The declared way, and further to the lists that rows are in where its own objects are none.

        They are none where they lack what tells rows apart, and objects in lists in them have it and are as
        much alike to rows; not in lists of an object that has it. None where several lists are so.
        """
        way: ListPath = (path.keys,)
        for _ in range(THROUGH_LISTS if path.certain else 0):
            elements = self.elements_along([page], way)[:LOOKED_AT]
            if path.certain <= _names_in(elements, path.expected):
                break
            likeness = _likeness(elements, path.expected)
            inner = [
                keys
                for keys, rows in self.lists_in(elements)
                if path.certain <= _names_in(rows, path.expected)
                and _likeness(rows, path.expected) >= likeness
                and not any(
                    path.certain <= _names_in([value_at(one, keys[:hops]) for one in elements], path.expected)
                    for hops in range(1, len(keys))
                )
            ]
            if not inner:
                break
            if len(inner) > 1:
                return None
            way = (*way, inner[0])
        return way

    def _way_to(
        self,
        path: RowPath,
        page: Object,
        places: Sequence[_Place],
        found: Mapping[Keys, ListPath],
        *,
        by_name: bool,
    ) -> ListPath | None:
        if by_name:
            way = _named(places, path)
            is_empty = not any(elements for place, elements in places if place == way)
            return None if path.keys in found and is_empty else way
        if path.keys in found:
            return None
        way = self._known(places, path) or _alike(places, path)
        way = way or _wrapped(places, path, partial(self._is_envelope, page, path))
        return way or _only_list(page, places, path)

    def _is_envelope(self, page: Object, path: RowPath, way: ListPath) -> bool:
        """Whether the list at the end of a way has the name of an envelope, or is in one.

        So is, of a report with one list, any with documented keys beside which are only plain values.
        """
        values = (value_at(one, way[-1]) for one in self.elements_along([page], way[:-1]))
        if _is_named_as_envelope(way) or any(type(one) is dict for one in values):
            return True
        is_alone = way == (way[0][:1],) and not any(
            isinstance(value, dict | list) for key, value in page.items() if key != way[0][0]
        )
        known = _names_in(self.elements_along([page], way), path.expected) & path.expected
        return is_alone and len(self.paths) == 1 and len(known) >= FEWEST_KEYS

    def _known(self, places: Sequence[_Place], path: RowPath) -> ListPath | None:
        """The list where rows of other answers were, when it is empty or has any documented key."""
        for way, elements in places:
            if (
                way in self.known.get(path.keys, ())
                and elements is not None
                and (not elements or not path.expected or _likeness(elements, path.expected))
            ):
                return way
        return None

    def has_known_place(self, page: Object) -> bool:
        """Whether there is nothing where other answers have their rows."""
        ways = chain.from_iterable(self.known.values())
        return any(len(way) == 1 and self._is_there(page, way[0]) for way in ways)

    def elements_along(self, objects: Sequence[Json], way: ListPath) -> list[Json]:
        """The elements of the lists at the end of a way."""
        for keys in way:
            called = keys[-1] if keys else ""
            lists = (rows_in(value_at(one, keys), self.names, called) for one in objects)
            objects = list(chain.from_iterable(found for found in lists if found))
        return list(objects)

    def lists_in(self, objects: Sequence[Json]) -> Iterator[tuple[Keys, list[Json]]]:
        """Every list of objects in these objects, through objects only."""
        for keys, elements in self._through_objects(objects):
            if elements and holds_rows(elements):
                yield keys, elements

    def looks_like_rows(self, page: Json, paths: Sequence[RowPath], found: Collection[ListPath]) -> bool:
        """Whether an object outside the lists that were found looks like a declared row.

        It does by many of its keys, or by its id and date.
        """
        wanted = []
        for path in paths:
            if len(path.expected) >= FEWEST_KEYS:
                certain = (*path.first_table.key, path.first_table.dated_by)
                sure = {
                    simplified(keys[0]) for keys, column in path.columns.items() if column.name in certain
                }
                wanted.append((sure, path.expected))
        waiting = [page] if wanted else []
        claimed = {id(one) for way in found for one in self.elements_along([page], way)}
        while waiting:
            one = waiting.pop()
            if id(one) in claimed:
                continue
            if type(one) is dict:
                names = {simplified(key) for key in one}
                for sure, expected in wanted:
                    if (len(sure) > 1 and sure <= names) or len(names & expected) >= ALIKE * len(expected):
                        return True
                waiting.extend(one.values())
            elif type(one) is list:
                waiting.extend(one)
        return False

    def filled_otherwise(
        self, page: Object, found: Mapping[Keys, ListPath], paths: Iterable[RowPath]
    ) -> Iterator[RowPath]:
        """Those of these lists in whose place, beside the lists that were found, something else is."""
        ways = set(found.values())
        above = (self.elements_along([page], way[:-1]) for way in ways)
        beside = [value_at(one, way[-1][:-1]) for way, rows in zip(ways, above, strict=True) for one in rows]
        holders = {id(one): one for one in (page, *beside) if type(one) is dict}.values()
        for path in paths:
            name = simplified(path.keys[-1]) if path.keys not in ((), (ROOT,)) else None
            values = [one[key] for one in holders for key in one if simplified(key) == name]
            is_there = path.keys in found and self.elements_along([page], found[path.keys])
            if not is_there and any(map(self._is_something_else, values)):
                yield path

    def _is_something_else(self, value: Json) -> bool:
        return not (is_nothing(value) or says_nothing(value) or is_hollow(value, self.names)) and (
            rows_in(value, self.names) is None
        )

    def moved_to_months(self, objects: Sequence[Json], path: RowPath) -> RowPath | None:
        """The path of a table, moved down to where rows carry a year and a month; None when they do nowhere.

        The shortest way down; lists at the same depth are looked at in the order they come.
        """
        nearest: list[tuple[ListPath, Sequence[Json], set[str]]] = [((), objects, set())]
        for _ in range(DEEPEST_YEAR):
            further: list[tuple[ListPath, Sequence[Json], set[str]]] = []
            for way, rows, above in nearest:
                carried = above | (_names_of_numbers(rows) & {"year", "month"})
                if len(carried) == 2:
                    return moved(path, way, path.first_table.rows)
                further += [((*way, keys), elements, carried) for keys, elements in self.lists_in(rows)]
            nearest = further
        return None

    def _is_there(self, one: Json, keys: Keys) -> bool:
        """Whether the list is there, or its key with nothing in it: then it is empty."""
        holder = value_at(one, keys[:-1])
        if type(holder) is not dict or keys[-1] not in holder:
            return False
        value = holder[keys[-1]]
        return value is None or rows_in(value, self.names) is not None

    def _places(self, objects: Sequence[Json], hops: int, above: ListPath = ()) -> Iterator[_Place]:
        """Every list and object in these objects, the nearest first; then those in these lists."""
        here = sorted(self._through_objects(objects), key=lambda place: len(place[0]))
        for keys, elements in here:
            yield (*above, keys), elements
        if hops > 1:
            for keys, elements in here:
                if elements and holds_rows(elements[:LOOKED_AT]):
                    yield from self._places(elements[:LOOKED_AT], hops - 1, (*above, keys))

    def _through_objects(
        self, objects: Sequence[Json], above: Keys = ()
    ) -> Iterator[tuple[Keys, list[Json] | None]]:
        names = dict.fromkeys(chain.from_iterable(one for one in objects if type(one) is dict))
        for name in names:
            values = [one[name] for one in objects if type(one) is dict and name in one]
            keys = (*above, name)
            lists = [rows_in(value, self.names, name) for value in values]
            if any(one is not None for one in lists):
                yield keys, list(chain.from_iterable(one for one in lists if one is not None))
            inside = [
                value
                for value, rows in zip(values, lists, strict=True)
                if rows is None and type(value) is dict
            ]
            if inside:
                yield keys, None
            if inside and len(keys) < THROUGH_OBJECTS:
                yield from self._through_objects(inside, keys)


def locator_of(report: Report) -> Locator:
    """What finds the lists of a report."""
    paths = row_paths(report)
    return Locator(paths, names_of(paths), report.tables[0].rows.startswith("*[]"))


def lists_of_rows(path: RowPath, lists: Mapping[Keys, Sequence[Json]]) -> tuple[Keys, ...]:
    """The keys from rows to a list of theirs, its declared ones first: rows may keep it in different places.

    `lists` are all lists of rows in these rows, by the keys that lead to them.
    """
    declared = (path.keys,) if path.keys in lists else ()
    called = path.keys if path.declared_keys == (ROOT,) else path.declared_keys  # `rows` may be anybody's
    name = simplified(called[-1])
    others = [keys for keys in lists if keys != path.keys]
    own = [keys for keys in others if simplified(keys[-1]) == name]
    boxes = dict.fromkeys(
        keys[: place + 1]
        for keys in others
        for place, key in enumerate(keys[:-1])
        if simplified(key) == name and keys not in own
    )
    for box in boxes:
        inside: list[_Place] = [
            ((keys,), list(chain.from_iterable(one for one in lists[keys] if one)))
            for keys in others
            if keys[: len(box)] == box and keys not in own
        ]
        way = inside[0][0] if len(inside) == 1 else _alike(inside, path) or _wrapped(inside, path)
        own += way or ()
    return (*declared, *dict.fromkeys(own))


def lists_of_kinds(
    path: RowPath, lists: Mapping[Keys, Sequence[Json]], wrapper: str | None
) -> tuple[Keys, ...]:
    """The keys from rows to their lists of every kind, each kind being what `kind_of` says.

    Where their rows are documented a list of a kind has any of their keys. It may be in an object under its
    kind, if it is the only one there.
    """
    kinds: dict[str, list[Keys]] = {}
    for keys, rows in lists.items():
        elements = list(chain.from_iterable(one for one in rows if one))
        if _likeness(elements, path.expected) or not (path.expected or len(keys) > 1):
            kinds.setdefault(kind_of(keys, wrapper), []).append(keys)
    found: list[Keys] = []
    for own in kinds.values():
        plain = [keys for keys in own if len(keys) == 1]
        found += plain or (own if len(own) == 1 else [])
    return tuple(found)


def kind_of(keys: Keys, wrapper: str | None) -> str:
    """What a list is called: the first of its keys that does not only say that something is in it."""
    own = keys[1:] if len(keys) > 1 and keys[0] == wrapper else keys
    return next((key for key in own if simplified(key) not in ENVELOPES), own[0])


def _named(places: Sequence[_Place], path: RowPath) -> ListPath | None:
    """The list under the name of the declared one, or the list in an object of that name.

    Of several with rows, equally near, none: which of them counts is not for us to guess.
    """
    if path.keys == (ROOT,):
        return None
    name = simplified(path.keys[-1])
    found = [place for place in places if simplified(place[0][-1][-1]) == name]
    lists = [(way, elements) for way, elements in found if elements is not None]
    if filled := [way for way, elements in lists if elements]:
        nearest = [way for way in filled if _depth(way) == _depth(filled[0])]
        return nearest[0] if len(nearest) == 1 else None
    if lists or not found:
        return lists[0][0] if lists else None
    *above, last = found[0][0]
    inside = [
        (way, elements)
        for way, elements in places
        if elements is not None and way[:-1] == tuple(above) and way[-1][: len(last)] == last
    ]
    if len(inside) == 1:
        return inside[0][0]
    return _alike(inside, path) or _wrapped(inside, path)


def _depth(way: ListPath) -> tuple[int, int]:
    return len(way), sum(map(len, way))


def _alike(places: Sequence[_Place], path: RowPath) -> ListPath | None:
    """The list whose objects have more of the documented keys than any other's."""
    scored = [(_likeness(elements, path.expected), way) for way, elements in places if elements]
    scores = sorted(scored, key=lambda score: score[0], reverse=True)
    if not scores or scores[0][0] < ALIKE:
        return None
    is_clear = len(scores) == 1 or scores[0][0] - scores[1][0] >= CLEARLY
    return scores[0][1] if is_clear else None


def _names_in(elements: Sequence[Json], expected: set[str]) -> set[str]:
    """The simplified keys of objects, and of those that they wrap."""
    looked_at = [one for one in islice(elements, LOOKED_AT) if type(one) is dict]
    wrapper = wrapper_of(expected, looked_at)
    return _own_names(looked_at) | _own_names([one.get(wrapper) for one in looked_at] if wrapper else ())


def _own_names(elements: Iterable[Json]) -> set[str]:
    return {simplified(key) for one in elements if type(one) is dict for key in one}


def _likeness(elements: Sequence[Json], expected: set[str]) -> float:
    return len(_names_in(elements, expected) & expected) / len(expected) if expected else 0.0


def _is_named_as_envelope(way: ListPath) -> bool:
    return simplified(way[-1][-1]) in ENVELOPES


def _wrapped(
    places: Sequence[_Place],
    path: RowPath,
    is_envelope: Callable[[ListPath], bool] = _is_named_as_envelope,
) -> ListPath | None:
    """A list in an envelope, when it is the only one and its objects have any documented key at all.

    One of undocumented objects is known by the name of an envelope, or is the document itself.
    """
    held = {way: elements for way, elements in places if elements and holds_rows(elements)}
    if path.expected:
        outermost = [way for way in held if not any(way[:hops] in held for hops in range(1, len(way)))]
        if len(outermost) != 1:
            return None
        (way,) = outermost
        elements = held[way]
        return way if is_envelope(way) and _likeness(elements, path.expected) > 0 else None
    names = ENVELOPES | {simplified(path.first_table.name)}
    lists = [way for way, elements in places if elements is not None and len(way) == 1]
    return next((way for way in lists if way == ((ROOT,),) or simplified(way[0][-1]) in names), None)


def _only_list(page: Object, places: Sequence[_Place], path: RowPath) -> ListPath | None:
    """The list of undocumented objects that a page holds and nothing else, whatever its name."""
    held = [way for way, elements in places if len(way) == 1 and elements and holds_rows(elements)]
    if path.expected or path.keys != (ROOT,) or len(held) != 1:
        return None
    ((keys,),) = held
    return held[0] if says_nothing(page, beside=value_at(page, keys)) else None
