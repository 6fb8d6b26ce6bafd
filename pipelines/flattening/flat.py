"""What does a flattened answer consist of? Tables, rows that were turned away, and what was noticed."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from pipelines.catalogue.columns import Column
from pipelines.months import Month

FlatColumn = Column


@dataclass(frozen=True)
class FlatTable:
    """Rows of one table in document order.

    The frame holds `_row` (0, 1, 2 ... within this answer and table), `_parent_row` (the `_row` of the
    parent; only where there is one), `_month` (its first day; null for a report without months) and
    one column for each of `columns`.
    """

    name: str
    columns: tuple[FlatColumn, ...]
    frame: pl.DataFrame
    key: tuple[str, ...]


@dataclass(frozen=True)
class Rejected:
    """A row that did not fit its table, whole and with everything nested in it.

    `place` is a JSON path; `reason` never holds a value of the row, so that reasons can be counted
    and published.
    """

    table: str
    place: str
    reason: str
    column: str | None
    month: Month | None
    raw: str


@dataclass(frozen=True)
class Found:
    """What was noticed while flattening.

    `recognised` is false when an answer held something, but not what the catalogue declares: its
    rows must not be taken for an empty month. `year_and_month` says whether rows that are assumed to
    carry their month did (None: there were no rows, or it is not assumed). `undated` says that rows
    without a date came for several months at once, and were all counted to the first.
    """

    notes: tuple[str, ...] = ()
    recognised: bool = True
    year_and_month: bool | None = None
    repeated_ids: int = 0
    undated: bool = False


@dataclass(frozen=True)
class Flat:
    """A whole answer, flattened; every table of the report is here, even when it is empty."""

    tables: tuple[FlatTable, ...]
    rejected: tuple[Rejected, ...]
    found: Found
