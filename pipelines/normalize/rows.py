"""Which objects stand in which lists, and at what place of the document? Rows before they are typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from pipelines.normalize.held import Unlike, elements, example
from pipelines.normalize.shredding import Keys
from pipelines.normalize.spots import ROOT
from pipelines.normalize.text import Json

Places = Sequence[int] | pl.Series


@dataclass(frozen=True)
class Rows:
    """Objects that stand in lists at one place.

    `above` says in which of the kept rows above each stands, `order` at which place of its list.
    The topmost rows are the pages of an answer. A stranger is an element that is no object: an empty
    row stands in for it until it is turned away. Where polars holds the objects, they are `column`, and
    `objects` is one example of them; `keys` is the order in which the answer has its keys.
    """

    objects: Sequence[dict[str, Json]]
    above: Places
    order: Places
    hop: Keys = ()
    hops: Sequence[Keys] = ()  # per row, where rows of lists under several keys are together
    strangers: Mapping[int, Json] = field(default_factory=dict)
    standing: Standing | None = None  # what they stand in
    column: pl.Series | None = None
    keys: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.above)

    def steps(self, row: int) -> list[str | int]:
        """The way to a row: its page, then keys and places in lists."""
        if self.standing is None:
            return [row]
        above = self.standing.rows.steps(self.standing.kept[self.above[row]])
        hop = self.hops[row] if self.hops else self.hop
        return [*above, *(key for key in hop if key != ROOT), self.order[row]] if hop else above


@dataclass(frozen=True)
class Standing:
    """Rows of which some are kept: what is nested in the others stays with them."""

    rows: Rows
    kept: Sequence[int]


def pages_as_rows(documents: Sequence[Json]) -> Rows:
    """The pages of an answer; a page that is a list, or nothing, is an object that holds just that."""
    objects: list[dict[str, Json]] = [value if type(value) is dict else {ROOT: value} for value in documents]
    return Rows(objects, range(len(objects)), [0] * len(objects))


def rows_in(standing: Standing, lists: Mapping[Keys, Sequence[Json] | pl.Series]) -> Rows:
    """The elements of these lists, in the order of the rows above."""
    if standing.rows.column is not None:
        return _rows_of_column(standing, lists)
    objects: list[dict[str, Json]] = []
    above: list[int] = []
    order: list[int] = []
    hops: list[Keys] = []
    strangers: dict[int, Json] = {}
    for number, row in enumerate(standing.kept):
        for keys, values in lists.items():
            elements = values[row] or ()
            if set(map(type, elements)) - {dict}:
                first = len(objects)
                strangers |= {first + n: one for n, one in enumerate(elements) if type(one) is not dict}
                elements = [one if type(one) is dict else {} for one in elements]
            objects.extend(elements)
            above.extend([number] * len(elements))
            order.extend(range(len(elements)))
            if len(lists) > 1:
                hops.extend([keys] * len(elements))
    return Rows(objects, above, order, next(iter(lists), ()), hops, strangers, standing)


def documents_as_rows(standing: Standing) -> Rows:
    """Each page as rows of its own: its elements when it is a list, else itself unless it is empty."""
    pages = [page.get(ROOT) if ROOT in page else [page] if page else [] for page in standing.rows.objects]
    rows = rows_in(standing, {(): pages})
    hops: list[Keys] = [(ROOT,) if ROOT in page else () for page in standing.rows.objects]
    return replace(rows, hops=[hops[standing.kept[above]] for above in rows.above])


def _rows_of_column(standing: Standing, lists: Mapping[Keys, Sequence[Json] | pl.Series]) -> Rows:
    [(keys, values)] = lists.items()
    if not isinstance(values, pl.Series):
        raise Unlike
    found = elements(values, standing.kept)
    objects = [example(found.objects.dtype)] if len(found.objects) else []
    place = Rows(objects, found.above, found.order, keys, standing=standing)
    return replace(place, column=found.objects, keys=standing.rows.keys)
