"""Where in a document do its declared lists start? Found together, so that no two claim the same list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipelines.normalize.locating import Way, elements_at, located, named
from pipelines.normalize.names import name_of, simplified
from pipelines.normalize.shredding import Keys
from pipelines.normalize.spots import ROOT, Spot, written
from pipelines.normalize.text import Json

# What an envelope says of its pages: a page of nothing but that is an empty one.
_OF_PAGES = ("page", "index", "count", "total", "size", "number", "offset", "limit", "hasmore", "hasnext")

_ERRORS = frozenset(
    {
        "message",
        "error",
        "errors",
        "errormessage",
        "errordescription",
        "exceptionmessage",
        "detail",
        "title",
        "messagedetail",
    }
)
_BESIDE_ERRORS = frozenset(
    {
        "status",
        "statuscode",
        "code",
        "errorcode",
        "type",
        "instance",
        "traceid",
        "requestid",
        "correlationid",
        "exceptiontype",
        "stacktrace",
        "innerexception",
        "modelstate",
        "success",
        "timestamp",
        "path",
    }
)


def ways_of(objects: Sequence[Json], spots: Sequence[Spot]) -> dict[Keys, Way]:
    """The way to each spot that is found, by the keys the catalogue gives it."""
    exact: dict[Keys, Way] = {
        spot.keys: way for spot in spots if (way := located(objects, spot, is_topmost=False)) == (spot.keys,)
    }
    ways = dict(exact)
    for spot in spots:  # a list under its own name is never taken for another one that it resembles
        if spot.keys not in ways and (way := named(objects, spot, frozenset(exact.values()))):
            ways[spot.keys] = way
    taken = frozenset(ways.values())
    for spot in spots:
        if spot.keys not in ways:
            way = located(objects, spot, is_topmost=True, taken=taken)
            if way:
                ways[spot.keys] = way
    claims = list(ways.values())
    return {keys: way for keys, way in ways.items() if claims.count(way) == 1}


def joined(spots: Sequence[Spot], ways: dict[Keys, Way]) -> tuple[Spot, ...]:
    """The spots at the places where they were found, lists on the way being levels of their own."""
    return tuple(_joined([(ways[spot.keys], spot) for spot in spots if spot.keys in ways]))


def elements_along(objects: Sequence[Json], way: Way) -> list[Json]:
    """The elements of the lists at the end of a way."""
    for keys in way:
        objects = list(elements_at(objects, keys))
    return list(objects)


def path_of(way: Way) -> str:
    """A way as the catalogue would write it."""
    return ".".join(written(keys) for keys in way)


def says_nothing(page: Json) -> bool:
    """Whether a page holds no value, or only what an envelope says of its pages."""
    if type(page) is dict:
        return all(is_of_pages(key) or says_nothing(value) for key, value in page.items())
    return page is None or page == []


def is_an_error(page: Json) -> bool:
    """Whether a page is what services say when something went wrong, whatever its status said."""
    if type(page) is not dict or not page:
        return False
    keys = {simplified(key) for key in page}
    return bool(keys & _ERRORS) and keys <= _ERRORS | _BESIDE_ERRORS


def is_of_pages(key: str) -> bool:
    """Whether an envelope speaks of its pages under this key."""
    name = simplified(key)
    return any(word in name for word in _OF_PAGES)


def _joined(ways: Sequence[tuple[Way, Spot]]) -> Iterator[Spot]:
    for first in dict.fromkeys(way[0] for way, _ in ways):
        here = next((spot for way, spot in ways if way == (first,)), None)
        below = tuple(_joined([(way[1:], spot) for way, spot in ways if way[0] == first and len(way) > 1]))
        if here:
            yield replace(here, keys=first, inner=(*here.inner, *below))
        else:
            yield Spot(first, first, None, "" if first == (ROOT,) else name_of(first), {}, below)
