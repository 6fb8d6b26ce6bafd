"""Can a large tree be read a branch at a time? Each part has the stem, and some of its lists of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise

import polars as pl

from pipelines.catalogue.model import Report
from pipelines.normalize.cutting import Cut, Sliced, Uncuttable, cuts_of_list
from pipelines.normalize.proving import is_columnar, unpaired, without_texts
from pipelines.normalize.spots import ROOT, spots
from pipelines.normalize.text import parsed

STEM = 4
"""The stem comes with every part: it may be this part of one at most."""

_BRACKETS = re.compile(rb"[\[\]{}]")
_NEAR = 64 * 1024  # bytes in which what stands behind a list must show how it goes on
_LONGEST_START = 64  # bytes that a key and the bracket behind it take at most, beside the key itself
_LISTS = {"": pl.List(pl.List(pl.Struct({"": pl.String})))}


@dataclass(frozen=True)
class Branch:
    """A part of a tree: some of its lists are whole, or a piece of one is there; all others are empty."""

    key: str
    lists: Sequence[slice]
    whole: range
    piece: Cut | None = None

    def of(self, body: Sliced) -> bytes:
        """The part as a document of its own."""
        parts, at = [], 0
        for number, place in enumerate(self.lists):
            parts += [body[at : place.start], self._list(body, number)]
            at = place.stop
        return b"".join([*parts, body[at : len(body)]])

    def placed(self, place: str) -> str:
        """A place in the part as the place in the whole."""
        if self.piece is None:
            return place
        first, sought = self.piece.first, re.compile(rf"(\.{re.escape(self.key)}\[)(\d+)\]")
        return sought.sub(lambda found: f"{found[1]}{int(found[2]) + first}]", place, count=1)

    def _list(self, body: Sliced, number: int) -> bytes:
        if number not in self.whole:
            return b"[]"
        place = self.lists[number]
        return body[place] if self.piece is None else self.piece.of(_Stretch(body, place))


@dataclass(frozen=True)
class _Stretch:
    """Some bytes of a body as a body of their own."""

    body: Sliced
    place: slice

    def __len__(self) -> int:
        return int(self.place.stop - self.place.start)

    def __getitem__(self, part: slice, /) -> bytes:
        start, stop, _ = part.indices(len(self))
        return self.body[self.place.start + start : self.place.start + stop]


def stem_of(parts: Sequence[Cut] | Sequence[Branch]) -> Branch | None:
    """The part that has no list at all, of a tree: rows that it has would be in every other part as well."""
    first = parts[0] if parts else None
    return Branch(first.key, first.lists, range(0)) if isinstance(first, Branch) else None


def branches(body: Sliced, report: Report, size: int) -> tuple[Branch, ...]:
    """The parts of a tree, of about this size; nothing where it is not proven that they are the whole.

    The lists of rows are found by their key, and their ends by their brackets. Each is proven to be one
    list, and what remains without them to be a document: so together they are what was written.
    """
    key = _key_of_rows(report)
    if key is None or len(body) <= size or body[:1] != b"{":
        return ()
    try:
        lists = list(_lists(body, key, size))
        found = tuple(_branches(body, report, key, lists, size))
        if len(found) < 2 or len(body) - sum(one.stop - one.start for one in lists) > size // STEM:
            return ()
        parsed(Branch(key, lists, range(0)).of(body))
    except (Uncuttable, ValueError, pl.exceptions.PolarsError):
        return ()
    return found


def _key_of_rows(report: Report) -> str | None:
    """The key of the list of rows, where all that is declared above it is levels."""
    if not is_columnar(report) or report.paged:
        return None
    below = spots(report)
    while len(below) == 1 and below[0].table is None:
        below = below[0].inner
    is_alone = len(below) == 1 and len(below[0].keys) == 1 and below[0].keys != (ROOT,)
    return below[0].keys[0] if is_alone else None


def _lists(body: Sliced, key: str, size: int) -> Iterator[slice]:
    """Where the lists under this key begin and, by their brackets, end."""
    starts = list(_starts(body, re.compile(rb'(?<!\\)"' + re.escape(key.encode()) + rb'"\s*:\s*\['), size))
    for (start, _), (_, following) in pairwise([*starts, (len(body), len(body))]):
        yield slice(start, start + _end(body[start:following]))


def _starts(body: Sliced, sought: re.Pattern[bytes], size: int) -> Iterator[tuple[int, int]]:
    """Where each list begins, and where its key does."""
    beyond = _LONGEST_START + len(sought.pattern)
    for at in range(0, len(body), size):
        before = min(at, 1)
        for found in sought.finditer(body[at - before : at + size + beyond], before):
            if found.start() - before < size:
                yield at - before + found.end() - 1, at - before + found.start()


def _end(stretch: bytes) -> int:
    """The end of the list with which a stretch begins: what follows only closes or opens others."""
    near = stretch[-_NEAR:]
    ends = [found.end() for found in _BRACKETS.finditer(near)]
    others = len(unpaired(without_texts(stretch)))
    if others >= len(ends):
        raise Uncuttable
    return len(stretch) - len(near) + ends[-others - 1]


def _branches(body: Sliced, report: Report, key: str, lists: Sequence[slice], size: int) -> Iterator[Branch]:
    first, filled = 0, 0
    for number, place in enumerate(lists):
        length = place.stop - place.start
        if filled and filled + length > size:
            yield _whole(body, key, lists, range(first, number))
            first, filled = number, 0
        if length > size:
            for piece in cuts_of_list(_Stretch(body, place), report, size):
                yield Branch(key, lists, range(number, number + 1), piece)
            first = number + 1
        else:
            filled += length
    if filled:
        yield _whole(body, key, lists, range(first, len(lists)))


def _whole(body: Sliced, key: str, lists: Sequence[slice], which: range) -> Branch:
    """The part with these lists; raises a polars error where one of them is not just one list."""
    together = b",".join(body[lists[number]] for number in which)
    found = pl.read_json(BytesIO(b'{"":[' + together + b"]}"), schema=_LISTS)
    if len(found.item()) != len(which):
        raise Uncuttable
    return Branch(key, lists, which)
