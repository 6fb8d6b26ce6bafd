"""Where in a document do its declared lists start? Found together, so that no two claim the same list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipelines.flattening.locating import Way, elements_at, located
from pipelines.flattening.names import name_of, simplified
from pipelines.flattening.shredding import Keys
from pipelines.flattening.spots import ROOT, Spot, written
from pipelines.flattening.text import Json

# What an envelope says of its pages: a page of nothing but that is an empty one.
_OF_PAGES = ("page", "index", "count", "total", "size", "number", "offset", "limit", "hasmore", "hasnext")


def ways_of(objects: Sequence[Json], spots: Sequence[Spot]) -> dict[Keys, Way]:
    """The way to each spot that is found, by the keys the catalogue gives it."""
    exact: dict[Keys, Way] = {
        spot.keys: way for spot in spots if (way := located(objects, spot, is_topmost=False)) == (spot.keys,)
    }
    ways = dict(exact)
    for spot in spots:
        if spot.keys not in ways:
            way = located(objects, spot, is_topmost=True, taken=frozenset(exact.values()))
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
        return all(_is_of_pages(key) or says_nothing(value) for key, value in page.items())
    return page is None or page == []


def _is_of_pages(key: str) -> bool:
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
