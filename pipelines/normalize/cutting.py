"""Can a large list be read a part at a time? Only where every part is proven to end between two elements."""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipelines.catalogue.model import MonthOfRow, Report
from pipelines.normalize.proving import proven
from pipelines.normalize.spots import ANY, ROOT, Spot, spots
from pipelines.normalize.text import refused

LARGE = 4 * 1024 * 1024
"""Bytes of an answer beyond which it is read in parts of about this size."""

_FIRST_PLACE = re.compile(r"^\$\[(\d+)\]")
_SPACE = b" \t\r\n"
_BEHIND = 1000  # bytes behind an object in which the comma must come
_NEXT = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")
_ALL_SPACE = re.compile(r"[ \t\r\n]*")
_SCANNER = json.JSONDecoder(parse_constant=refused)


class Sliced(Protocol):
    """Bytes that can be taken a part at a time, wherever they are."""

    def __len__(self) -> int: ...
    def __getitem__(self, part: slice, /) -> bytes: ...


@dataclass(frozen=True)
class Cut:
    """Some elements of a list: where their bytes begin and end, and how many elements stand before them."""

    start: int
    stop: int
    first: int

    def of(self, body: Sliced) -> bytes:
        """The elements as a list of their own."""
        return b"[" + body[self.start : self.stop] + b"]"

    def placed(self, place: str) -> str:
        """A place in the part as the place in the whole."""
        return _FIRST_PLACE.sub(lambda found: f"$[{int(found[1]) + self.first}]", place)


class Uncuttable(Exception):
    """The body has to be read whole: it is no such list, or something in it is not understood."""


def cuts(body: Sliced, report: Report, size: int = LARGE) -> tuple[Cut, ...]:
    """Where to cut a list so that its parts, read one by one, are the whole; nothing where that is unproven.

    Every part begins behind the bracket or a comma and is a list of whole values by itself. So the
    values of the parts, one after the other, are those of the list, whatever is written in them.
    """
    if len(body) <= size or not _is_read_row_by_row(report):
        return ()
    try:
        return tuple(cuts_of_list(body, report, size))
    except (Uncuttable, ValueError, RecursionError):
        return ()


def _is_read_row_by_row(report: Report) -> bool:
    """Whether what becomes of an element depends on that element alone."""
    top = spots(report)
    is_list = len(top) == 1 and top[0].keys in ((), (ROOT,))
    return is_list and not _any_key(top) and not (
        report.paged or report.month_of_row is MonthOfRow.YEAR_AND_MONTH
    )  # fmt: skip


def _any_key(below: Sequence[Spot]) -> bool:
    return any(spot.keys == (ANY,) or _any_key(spot.inner) for spot in below)


def cuts_of_list(body: Sliced, report: Report, size: int) -> Iterator[Cut]:
    """The parts of a body that is one list; raises Uncuttable or a ValueError where it is none."""
    start, first = _behind_the_bracket(body), 0
    while True:
        window = body[start : start + size]
        stop, number = _proven(window, report) or _scanned(body, start, size)
        yield Cut(start, start + stop, first)
        following = body[start + stop : start + stop + _BEHIND].lstrip(_SPACE)
        if following[:1] != b",":
            break
        start, first = _behind(body, start + stop, b","), first + number
    end = _behind(body, start + stop, b"]")
    if any(body[at : at + size].strip(_SPACE) for at in range(end, len(body), size)):
        raise Uncuttable


def _behind(body: Sliced, place: int, sign: bytes) -> int:
    """The place behind a sign that only white space may stand before."""
    near = body[place : place + _BEHIND]
    if near.lstrip(_SPACE)[:1] != sign:
        raise Uncuttable
    return place + near.index(sign) + 1


def _behind_the_bracket(body: Sliced) -> int:
    return _behind(body, 0, b"[")


def _proven(window: bytes, report: Report) -> tuple[int, int] | None:
    """The last end of an object in a window up to which polars proves that nothing is lost; and its rows."""
    stop = len(window)
    while (stop := window.rfind(b"}", 0, stop)) >= 0:
        behind = window[stop + 1 : stop + _BEHIND].lstrip(_SPACE)
        if behind[:1] in (b",", b"]"):
            break
    column = proven(b"[" + window[: stop + 1] + b"]", report) if stop > 0 else None
    return (stop + 1, len(column.item())) if column is not None else None


def _scanned(body: Sliced, start: int, size: int) -> tuple[int, int]:
    """The end of the last element that fits into a window, found by reading one after the other."""
    while True:
        window = body[start : start + size]
        is_last = start + size >= len(body)
        text = getincrementaldecoder("utf-8")().decode(window, final=is_last)
        stop, number = _elements(text)
        if number:
            return len(text[:stop].encode()), number
        if is_last:
            raise Uncuttable
        size *= 2


def _elements(text: str) -> tuple[int, int]:
    """The end of the last whole element at the beginning of a text that is not cut off, and their number.

    An element at the very end may go on behind it, as a number does; it only counts with a sign behind.
    """
    place, stop, number = _space_from(text, 0), 0, 0
    while True:
        try:
            _, end = _SCANNER.raw_decode(text, place)
        except json.JSONDecodeError:
            return stop, number
        behind = _space_from(text, end)
        if text[behind : behind + 1] not in (",", "]"):
            return stop, number
        stop, number = end, number + 1
        following = _NEXT.match(text, end)
        if following is None:
            return stop, number
        place = following.end()


def _space_from(text: str, place: int) -> int:
    found = _ALL_SPACE.match(text, place)
    return found.end() if found else place
