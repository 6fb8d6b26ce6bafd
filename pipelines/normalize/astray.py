"""Did an answer hold rows that were not found? Looked for only where no declared row came out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.normalize.locating import ALIKE
from pipelines.normalize.names import simplified
from pipelines.normalize.nodes import Harvest
from pipelines.normalize.spots import Spot
from pipelines.normalize.text import Json

FEWEST_KEYS = 3  # fewer documented keys than that tell nothing by being there


@dataclass(frozen=True)
class _Wanted:
    """By what the rows of a table would be known: many of its keys, or its id together with its date."""

    documented: frozenset[str]
    telling: frozenset[str]

    @classmethod
    def of(cls, spot: Spot) -> _Wanted:
        table = spot.first_table()
        telling = {
            simplified(keys[0])
            for keys, column in spot.columns.items()
            if column.name == table.dated_by or column.name in table.key
        }
        return cls(frozenset(simplified(key) for key in spot.expected), frozenset(telling))

    def is_like(self, keys: set[str]) -> bool:
        is_told = len(self.telling) > 1 and self.telling <= keys
        return is_told or len(keys & self.documented) >= ALIKE * len(self.documented)


def are_rows_elsewhere(harvest: Harvest, pages: Sequence[Json], top: Sequence[Spot]) -> bool:
    """Whether no declared row was found although objects that look like one stand somewhere."""
    spots = [spot.first_with_table() for spot in top]
    tables = (harvest.tables.get(spot.first_table().name) for spot in spots)
    if harvest.rejected or any(table is not None and table.frame.height for table in tables):
        return False
    wanted = [_Wanted.of(spot) for spot in spots if len(spot.expected) >= FEWEST_KEYS]
    found = any(one.is_like(keys) for page in pages for keys in _keys_in(page) for one in wanted)
    if found:
        harvest.notes.append("objects that look like its rows stand where nobody expects them")
    return found


def _keys_in(value: Json) -> Iterator[set[str]]:
    """The simplified keys of every object in a document."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if type(one) is dict:
            yield {simplified(key) for key in one}
            waiting.extend(one.values())
        elif type(one) is list:
            waiting.extend(one)
