"""Where does a declared list really stand? At its path, under its key, or where rows look alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain, islice

from pipelines.normalize.names import simplified
from pipelines.normalize.shredding import Keys, holds_rows
from pipelines.normalize.spots import ROOT, Spot
from pipelines.normalize.text import Json

Way = tuple[Keys, ...]  # from the document to a list: through objects by keys, and into lists in between

THROUGH_OBJECTS = 4  # how deep an envelope may be nested
THROUGH_LISTS = 3
LOOKED_AT = 50  # objects of a list that its shape is judged by
ALIKE = 0.5  # the part of the documented keys that must be there
CLEARLY = 0.2  # by how much it must be more than in any other list
# How services call the list in an envelope when its own name says nothing.
ENVELOPES = frozenset(
    {"rows", "items", "data", "value", "values", "result", "results", "list", "content", "records", "entries"}
)


@dataclass(frozen=True)
class Place:
    """A list, or an object or null under a key, that was met in a document."""

    way: Way
    elements: list[Json] | None  # None: what stands here is no list


def located(
    objects: Sequence[Json], spot: Spot, is_topmost: bool, taken: Set[Way] = frozenset()
) -> Way | None:
    """The way from these objects to the lists of a spot; None when nothing in them fits.

    A topmost list may stand anywhere but at a way that is taken; one in a row stands in that row, if
    need be in an object of it.
    """
    if any(_is_there(one, spot.keys) for one in objects):
        return (spot.keys,)
    hops = THROUGH_LISTS if is_topmost else 1
    places = [place for place in _places(objects, hops) if place.way not in taken]
    return _named(places, spot) or (_alike(places, spot) or _wrapped(places, spot) if is_topmost else None)


def named(objects: Sequence[Json], spot: Spot, taken: Set[Way]) -> Way | None:
    """The way to the list that has a topmost spot's own name, wherever it stands."""
    return _named([place for place in _places(objects, THROUGH_LISTS) if place.way not in taken], spot)


def value_at(one: Json, keys: Keys) -> Json:
    """What stands in an object under these keys, None when nothing does."""
    for key in keys:
        one = one.get(key) if type(one) is dict else None
    return one


def elements_at(objects: Sequence[Json], keys: Keys) -> Iterator[Json]:
    """Every element of the lists that stand in the objects under these keys."""
    return chain.from_iterable(
        found for found in (value_at(one, keys) for one in objects) if type(found) is list
    )


def lists_in(objects: Sequence[Json]) -> Iterator[tuple[Keys, list[Json]]]:
    """Every list of objects that stands in these objects, through objects only."""
    for place in _through_objects(objects, ()):
        if holds_rows(place.elements):
            yield place.way[0], place.elements or []


def _is_there(one: Json, keys: Keys) -> bool:
    """Whether the list is there, or its key with nothing in it: then it is empty."""
    holder = value_at(one, keys[:-1])
    return type(holder) is dict and keys[-1] in holder and type(holder[keys[-1]]) in {list, type(None)}


def _named(places: list[Place], spot: Spot) -> Way | None:
    if spot.keys == (ROOT,):
        return None
    name = simplified(spot.keys[-1])
    found = [place for place in places if simplified(place.way[-1][-1]) == name]
    lists = [place.way for place in found if place.elements is not None]
    if lists or not found:
        return lists[0] if lists else None
    inside = [place for place in places if place.elements is not None and _is_inside(place, found[0])]
    if len(inside) == 1:
        return inside[0].way
    return _alike(inside, spot) or _wrapped(inside, spot)


def _is_inside(place: Place, wrapper: Place) -> bool:
    """Whether a list stands in an object that wraps it, with no other list between them."""
    *above, last = wrapper.way
    return place.way[:-1] == tuple(above) and place.way[-1][: len(last)] == last


def _alike(places: list[Place], spot: Spot) -> Way | None:
    expected = {simplified(key) for key in spot.expected}
    scores = sorted(
        ((_likeness(place, expected), place.way) for place in places if place.elements),
        key=lambda score: score[0],
        reverse=True,
    )
    if not scores or scores[0][0] < ALIKE:
        return None
    is_clear = len(scores) == 1 or scores[0][0] - scores[1][0] >= CLEARLY
    return scores[0][1] if is_clear else None


def _likeness(place: Place, expected: set[str]) -> float:
    looked_at = (one for one in islice(place.elements or (), LOOKED_AT) if type(one) is dict)
    keys = {simplified(key) for one in looked_at for key in one}
    return len(keys & expected) / len(expected) if expected else 0.0


def _wrapped(places: list[Place], spot: Spot) -> Way | None:
    """A list in an envelope, when it is the only one and its objects have any documented key at all.

    One of undocumented objects is known by the name of an envelope, or is the document itself.
    """
    if spot.expected:
        expected = {simplified(key) for key in spot.expected}
        held = [place for place in places if place.elements and holds_rows(place.elements)]
        is_envelope = len(held) == 1 and simplified(held[0].way[-1][-1]) in ENVELOPES
        return held[0].way if is_envelope and _likeness(held[0], expected) > 0 else None
    names = ENVELOPES | {simplified(spot.first_table().name)}
    lists = [place.way for place in places if place.elements is not None and len(place.way) == 1]
    return next((way for way in lists if way == ((ROOT,),) or simplified(way[0][-1]) in names), None)


def _places(objects: Sequence[Json], hops: int, above: Way = ()) -> Iterator[Place]:
    """Every list and object in these objects, the nearest first; then what stands in those lists."""
    here = sorted(_through_objects(objects, ()), key=lambda place: len(place.way[-1]))
    for place in here:
        yield Place((*above, *place.way), place.elements)
    if hops > 1:
        for place in here:
            if place.elements and holds_rows(place.elements[:LOOKED_AT]):
                yield from _places(place.elements[:LOOKED_AT], hops - 1, (*above, *place.way))


def _through_objects(objects: Sequence[Json], above: Keys) -> Iterator[Place]:
    names = dict.fromkeys(chain.from_iterable(one for one in objects if type(one) is dict))
    for name in names:
        values = [one[name] for one in objects if type(one) is dict and name in one]
        keys = (*above, name)
        if any(type(value) is list for value in values):
            yield Place((keys,), list(chain.from_iterable(value for value in values if type(value) is list)))
        inside = [value for value in values if type(value) is dict]
        if inside:
            yield Place((keys,), None)
        if inside and len(keys) < THROUGH_OBJECTS:
            yield from _through_objects(inside, keys)
