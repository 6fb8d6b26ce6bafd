"""What does a flattened answer consist of? Tables, rows that were turned away, and what was noticed."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from pipelines.catalogue.model import Column
from pipelines.months import Month
from pipelines.normalize.resting import Rest

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
    parent: str = ""  # the table that `_parent_row` points into

    @property
    def height(self) -> int:
        """How many rows it has."""
        return self.frame.height

    @property
    def size(self) -> int:
        """How many bytes of memory its rows take."""
        return int(self.frame.estimated_size())


@dataclass(frozen=True)
class RestingTable:
    """Rows of one table that rest on the disk; the frame is read anew whenever it is asked for."""

    name: str
    columns: tuple[FlatColumn, ...]
    key: tuple[str, ...]
    height: int
    rest: Rest
    place: slice
    size: int = 0
    is_at_rest: bool = True

    @property
    def frame(self) -> pl.DataFrame:
        return self.rest.frame(self.place)


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
    without a date came for several months at once, and were all counted to the first. `by_likeness`
    says that something was known by its name or its looks, for want of the documented key.
    """

    notes: tuple[str, ...] = ()
    recognised: bool = True
    year_and_month: bool | None = None
    repeated_ids: int = 0
    undated: bool = False
    by_likeness: bool = False


@dataclass(frozen=True)
class Flat:
    """A whole answer, flattened; every table of the report is here, even when it is empty.

    A table of a large answer is here several times, each time with the rows that follow.
    """

    tables: tuple[FlatTable | RestingTable, ...]
    rejected: tuple[Rejected, ...]
    found: Found
