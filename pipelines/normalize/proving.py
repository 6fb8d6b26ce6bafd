"""May polars read this body? Only with proof that no key, value or kind of it was lost or bent."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO

import polars as pl

from pipelines.catalogue.model import Column, MonthOfRow, Report, row_columns
from pipelines.normalize.conversions import EXACT_WHOLE
from pipelines.normalize.held import inside, largest
from pipelines.normalize.spots import ANY, Spot, spots

# How polars is told to read a documented column; a fraction in a whole column would be cut, so none is read.
_READ_AS: Mapping[str, pl.DataType] = {
    "VARCHAR": pl.String(),
    "TIMESTAMP": pl.String(),
    "DECIMAL(18,4)": pl.Float64(),
    "DECIMAL(18,8)": pl.Float64(),
}
_NULLS = (":null", ": null")  # with the colon of its key: a key that has the word in it is no null
_SIGNS = re.compile(r"[\[{:]")
_TRUTHS = ("true", "false")
_BETWEEN = "\0"  # stands in no text that polars may read: it would have to be escaped

# What an escape may not stand for: a sign that is counted, or half of a pair.
_ESCAPES = re.compile(rb"\\u(?:00(?:00|3[aA]|[457][0-9a-fA-F]|6[1-9a-fA-F])|[dD][89a-fA-F])")
_NOT_BRACKETS = bytes(sign for sign in range(256) if sign not in b"[]{}")
FEW = 1_000
"""So many texts are joined quicker one by one than together."""
DEEPEST = 30
"""polars takes ever longer the deeper values are nested, and gives up far below what Python reads."""

BEGINNING = 16_384
"""Bytes of a body in which its keys are looked for, for their order."""
_LOOK, _STEP, _FEW_BYTES = 64, 4096, 65_536
MOST_CELLS, MOST_DOUBTFUL_CELLS = 8_000_000, 50_000_000
"""polars gives every object a cell for every key that any object has: those whose keys are ids have many."""
_KEY = re.compile(rb'"([^"\\]*)"\s*:')


class _Bent(Exception):
    """polars holds something that it may have understood otherwise than it was written."""


def is_columnar(report: Report) -> bool:
    """Whether the rows of a report stand in declared lists, and do not depend on what values say."""
    top = spots(report)
    is_declared = bool(top) and all(spot.keys for spot in top) and not _any_key(top)
    return is_declared and report.month_of_row is not MonthOfRow.YEAR_AND_MONTH


def proven(body: bytes, report: Report) -> pl.Series | None:
    """The document of a body as one object or list, or None when polars might lose or bend a value of it.

    polars keeps one of two equal keys, takes true for 1 and numbers for text, and drops the keys that
    a schema does not name, all without a word. So the body's bytes are counted against what it read.
    """
    if not is_columnar(report) or not _is_tame(body):
        return None
    if body == b"[]":
        return pl.Series([[]], dtype=pl.List(pl.Null))
    schema = _schema(body, report)
    found = _read(body, schema)
    return _read(body, None) if found is None and schema else found


def keys_in_order(body: bytes) -> list[str]:
    """The keys with which a body begins, as they come: polars gives those of later objects any order."""
    return [key.decode("utf-8", "replace") for key in dict.fromkeys(_KEY.findall(body[:BEGINNING]))]


def _any_key(below: tuple[Spot, ...]) -> bool:
    return any(spot.keys == (ANY,) or _any_key(spot.inner) for spot in below)


def _is_tame(body: bytes) -> bool:
    """Whether nothing in the body would take polars long, or make the counting wrong."""
    if body[:1] not in (b"[", b"{") or (b"\\" in body and _ESCAPES.search(body)):
        return False
    return _is_narrow(body) and _is_shallow(body)


def _is_narrow(body: bytes) -> bool:
    """Whether columns for all keys would have few enough cells, by what a small part of the body shows.

    A key that is seen once may stand above all rows, or for as many as stand between two places looked at.
    """
    step = _STEP if len(body) > _FEW_BYTES else _LOOK
    seen = Counter(_KEY.findall(b"\\".join(body[at : at + _LOOK] for at in range(0, len(body), step))))
    alone = sum(number == 1 for number in seen.values()) * (step // _LOOK - 1)
    objects = body.count(b"{")
    return objects * len(seen) <= MOST_CELLS and objects * alone <= MOST_DOUBTFUL_CELLS


def _is_shallow(body: bytes) -> bool:
    """Whether brackets and braces cancel out within a few rounds, those in texts left aside if need be."""
    return not unpaired(body) or not unpaired(without_texts(body))


def unpaired(body: bytes) -> bytes:
    """The brackets and braces that are left when pair by pair has gone, within a few rounds."""
    brackets = body.translate(None, _NOT_BRACKETS)
    for _ in range(DEEPEST):
        brackets = brackets.replace(b"{}", b"").replace(b"[]", b"")
    return brackets


def without_texts(body: bytes) -> bytes:
    """The body without its keys and texts; it begins outside of them."""
    return b"".join(_unescaped(body).split(b'"')[::2])


def _unescaped(body: bytes) -> bytes:
    """The body without the quotation marks that stand in its texts."""
    return body.replace(rb"\\", b"").replace(rb"\"", b"") if b"\\" in body else body


def _schema(body: bytes, report: Report) -> dict[str, pl.DataType] | None:
    """The documented columns of flat rows, if the first row has no other key: then polars need not look."""
    table = report.tables[0]
    columns = row_columns(table)
    is_flat = len(report.tables) == 1 and table.rows == "[]" and body[:1] == b"["
    if not is_flat or not all(_is_plain(column) for column in columns):
        return None
    schema = {column.source: _READ_AS[column.type] for column in columns}
    first = _KEY.findall(body[: body.find(b"}", 0, BEGINNING) + 1])
    return schema if {key.decode("utf-8", "replace") for key in first} <= set(schema) else None


def _is_plain(column: Column) -> bool:
    return column.type in _READ_AS and "." not in column.source


def _read(body: bytes, schema: Mapping[str, pl.DataType] | None) -> pl.Series | None:
    """What polars makes of a body, if the proof holds."""
    try:
        frame = pl.read_json(BytesIO(body), schema=schema, infer_schema_length=None)
        if schema:
            frame = frame.drop(name for name in schema if _is_nowhere(name, frame, body))
        if not frame.height or not frame.width:
            return None
        objects = frame.to_struct("")
        document = objects.implode() if body[:1] == b"[" else objects
        held = Held()
        held.add(document)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, _Bent):
        return None
    return document if held.is_all_of(body) else None


def _is_nowhere(name: str, frame: pl.DataFrame, body: bytes) -> bool:
    """Whether no row has a key at all, be it without a value."""
    return frame[name].null_count() == frame.height and f'"{name}"'.encode() not in body


@dataclass
class Held:
    """What polars holds of a document, counted as its bytes can be counted."""

    values: int = 0  # under keys
    objects: int = 0
    lists: int = 0
    truths: int = 0
    written: int = 0  # values that are texts
    texts: list[str] = field(default_factory=list)

    def add(self, column: pl.Series) -> None:
        """Count a column, and all that stands in it; raises _Bent where a count would prove nothing."""
        there = len(column) - column.null_count()
        match column.dtype:
            case pl.Struct(fields=fields) if fields:
                self.objects += there
                for inner in column.struct.unnest().iter_columns():
                    if _SIGNS.search(inner.name):
                        raise _Bent
                    self.values += len(inner) - inner.null_count()
                    self.add(inner)
            case pl.List():
                self.lists += there
                self._add_elements(column)
            case pl.String():
                self.written += there
                self.texts.append(_joined(column))
            case pl.Boolean():
                self.truths += there
            case pl.Float64() if largest(column) < EXACT_WHOLE:
                pass
            case pl.Int64() | pl.Null():
                pass
            case _:
                raise _Bent

    def is_all_of(self, body: bytes) -> bool:
        """Whether every key and value of the body is here, each as the kind it was written as.

        A key that polars does not know, or knows twice, is a colon too many; a sign inside a key only
        makes a sum wrong, never right. A number that became text has no quotation marks, one that was
        put into a list no bracket, and one that was true or false is missing among those.
        """
        texts = _BETWEEN.join(self.texts)

        def outside(*what: str) -> int:
            return sum(body.count(one.encode()) - texts.count(one) for one in what)

        colons = outside(":")
        return (
            outside("[") == self.lists
            and outside("{") == self.objects
            and outside(*_TRUTHS) == self.truths
            and _unescaped(body).count(b'"') == 2 * (colons + self.written)
            and (colons == self.values or colons - outside(*_NULLS) == self.values)
        )

    def _add_elements(self, column: pl.Series) -> None:
        elements = inside(column)
        if elements.null_count():
            raise _Bent
        if len(elements):
            self.add(elements)


def _joined(texts: pl.Series) -> str:
    """All texts in one; of a few this is made quicker without the query engine."""
    if len(texts) > FEW:
        return str(texts.str.join(_BETWEEN).item())
    return _BETWEEN.join(filter(None, texts.to_list()))
