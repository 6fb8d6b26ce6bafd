"""How far down do rows carry a year and a month? Assumed of reports that do not document their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pipelines.normalize.locating import lists_in
from pipelines.normalize.names import name_of, simplified
from pipelines.normalize.shredding import Keys
from pipelines.normalize.spots import Spot, written
from pipelines.normalize.text import Json

DEEPEST_LEVEL = 4
WANTED = {"year", "month"}


def descended(objects: Sequence[Json], spot: Spot, path: str) -> Spot | None:
    """The spot of a table, moved down to where rows carry both; None when they do nowhere."""
    way = _way_down(objects)
    if way is None or spot.table is None:
        return None
    return _moved(spot, way, path, spot.table.levels)


def _moved(spot: Spot, way: tuple[Keys, ...], path: str, levels: Mapping[str, str]) -> Spot:
    if not way:
        return spot
    below = replace(spot, keys=way[0], step=way[0])
    prefix = levels.get(path, name_of(spot.step))
    inner = _moved(below, way[1:], f"{path}.{written(way[0])}", levels)
    return Spot(spot.keys, spot.step, None, prefix, {}, (inner,))


def _way_down(objects: Sequence[Json]) -> tuple[Keys, ...] | None:
    """The shortest way; lists at the same depth are looked at in the order they come."""
    nearest: list[tuple[tuple[Keys, ...], Sequence[Json], set[str]]] = [((), objects, set())]
    for _ in range(DEEPEST_LEVEL):
        further: list[tuple[tuple[Keys, ...], Sequence[Json], set[str]]] = []
        for way, rows, above in nearest:
            carried = above | (set(_numbers(rows)) & WANTED)
            if carried == WANTED:
                return way
            further += [((*way, keys), elements, carried) for keys, elements in lists_in(rows)]
        nearest = further
    return None


def _numbers(value: Json | Sequence[Json]) -> Iterator[str]:
    """The names under which these objects, or objects in them, hold whole numbers, or texts of them."""
    for one in value:
        if type(one) is not dict:
            continue
        for key, member in one.items():
            if type(member) is int or (type(member) is str and member.strip().isdigit()):
                yield simplified(key)
            elif type(member) is dict:
                yield from _numbers([member])
