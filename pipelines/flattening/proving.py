"""May polars read this body? Only a flat list of documented objects, and only with proof of every value."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO

import polars as pl

from pipelines.catalogue.columns import Column, row_columns
from pipelines.catalogue.vocabulary import Report
from pipelines.flattening.conversions import DTYPES, exact_below

# How polars is told to read a documented column; a fraction in a whole column would be cut, so none is read.
_READ_AS: Mapping[str, pl.DataType] = {
    "VARCHAR": pl.String(),
    "TIMESTAMP": pl.String(),
    "DECIMAL(18,4)": pl.Float64(),
    "DECIMAL(18,8)": pl.Float64(),
}


@dataclass(frozen=True)
class Counted:
    """What the bytes of a body say of its keys and values."""

    colons: int
    quotation_marks: int
    has_truth: bool  # true or false stands somewhere, be it in a text


def proven_frame(body: bytes, report: Report) -> pl.DataFrame | None:
    """The rows of a body as a frame, or None when polars might lose or bend a value of it.

    polars drops unknown keys and the second of two equal ones, and takes true for 1 and numbers for
    text, all without a word. So the body's bytes are counted against the frame's values.
    """
    columns = _flat_columns(report)
    if not columns or not _looks_flat(body):
        return None
    schema = {column.source: _READ_AS[column.type] for column in columns}
    with ThreadPoolExecutor(max_workers=1) as reader:  # polars lets others run meanwhile
        reading = reader.submit(pl.read_json, BytesIO(body), schema=schema)
        counted = _counted(body)
        try:
            frame = reading.result()
        except pl.exceptions.PolarsError:
            return None
    return frame if _is_whole(frame, counted, body) and _is_exact(frame, columns) else None


def _flat_columns(report: Report) -> tuple[Column, ...]:
    """The documented columns of a report whose answers are one list of objects without nested ones."""
    table = report.tables[0]
    columns = row_columns(table)
    is_flat = len(report.tables) == 1 and table.rows == "[]" and report.each is None
    is_readable = all(column.type in _READ_AS and "." not in column.source for column in columns)
    return columns if is_flat and is_readable else ()


def _looks_flat(body: bytes) -> bool:
    """Whether there is one list and no escape, so that bytes in a text are just what the text says."""
    return body[:1] == b"[" and body.find(b"[", 1) < 0 and body.find(b"\\") < 0


def _counted(body: bytes) -> Counted:
    has_truth = body.find(b"true") >= 0 or body.find(b"false") >= 0
    return Counted(body.count(b":"), body.count(b'"'), has_truth)


def _is_whole(frame: pl.DataFrame, counted: Counted, body: bytes) -> bool:
    """Whether every key and value of the body is in the frame, each as the kind it was written as.

    A key that the frame does not know, or knows twice, is a colon too many; a colon inside a key only
    makes the sum wrong, never right. A number that became text has no quotation marks.
    """
    texts = frame.select(pl.selectors.string())
    colons = counted.colons - _occurrences(texts, ":")
    values = frame.width * frame.height - sum(frame.null_count().row(0))
    written = texts.width * texts.height - sum(texts.null_count().row(0))
    return (
        not counted.has_truth
        and counted.quotation_marks == 2 * (colons + written)
        and (colons == values or colons - _nulls(body, texts) == values)
    )


def _nulls(body: bytes, texts: pl.DataFrame) -> int:
    """How many keys have no value; each null is counted with the colon before it, as a key is."""
    return sum(body.count(null.encode()) - _occurrences(texts, null) for null in (":null", ": null"))


def _occurrences(texts: pl.DataFrame, what: str) -> int:
    return sum(int(column.str.count_matches(what, literal=True).sum()) for column in texts.iter_columns())


def _is_exact(frame: pl.DataFrame, columns: tuple[Column, ...]) -> bool:
    """Whether every number is small enough for a float to hold all digits that its decimal keeps."""
    for column in columns:
        dtype = DTYPES[column.type]
        if isinstance(dtype, pl.Decimal):
            largest = frame[column.source].abs().max()
            if isinstance(largest, float) and largest >= exact_below(dtype.scale):
                return False
    return True
