"""What is handed to the warehouse, and what does it answer? Loads in, counts out, and nothing of DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import polars as pl

ROW_GROUP = 122_880
"""Rows that DuckDB keeps together, column by column, and writes as one."""


class ColumnLike(Protocol):
    """A column of a table: its DuckDB type as text, whether it is documented, and where it comes from."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def documented(self) -> bool: ...
    @property
    def source(self) -> str: ...
    @property
    def description(self) -> str: ...


class TableLike(Protocol):
    """The rows of one table in one answer; `_row`, `_parent_row` and `_month` stand in the frame."""

    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> Sequence[ColumnLike]: ...
    @property
    def frame(self) -> pl.DataFrame: ...
    @property
    def key(self) -> tuple[str, ...]: ...


@runtime_checkable
class RestingLike(Protocol):
    """A table whose rows rest on the disk: its frame is read anew whenever it is asked for."""

    @property
    def is_at_rest(self) -> bool: ...


class RejectedLike(Protocol):
    """A row that broke its documented type, as it came; `month` is a first day, or none if unknown."""

    @property
    def table(self) -> str: ...
    @property
    def place(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def column(self) -> str | None: ...
    @property
    def raw(self) -> str: ...
    @property
    def month(self) -> date | None: ...


@dataclass(frozen=True)
class DeclaredTable:
    """A table that exists from the first day, with all its documented columns."""

    report: str
    name: str
    columns: Sequence[ColumnLike]
    history: bool
    parent: str | None
    key: tuple[str, ...]
    description: str


@dataclass(frozen=True)
class Load:
    """One window of one report of one customer, whole.

    `months` are first days, and empty for a report without months; `open_months` were not yet over
    when asked. `history` merges into slowly changing history instead of replacing months; `asked`
    then limits the comparison to the rows whose asked_* column is among these values.
    """

    load_id: str
    run_id: str
    report: str
    customer: str
    window_start: date | None
    window_end: date | None
    months: tuple[date, ...]
    open_months: frozenset[date]
    history: bool
    asked: tuple[str, ...] | None
    tables: Sequence[TableLike]
    rejected: Sequence[RejectedLike]
    requests: int
    bytes: int
    sha256: str
    seconds: float
    fetched_at_utc: datetime
    landing: str
    note: str


@dataclass(frozen=True)
class Loaded:
    """What a load did: rows by table, what was there before, and the months left out as superseded."""

    load_id: str
    rows: Mapping[str, int]
    rows_before: int
    months: tuple[date, ...]
    superseded: tuple[date, ...]
    opened: int
    closed: int


@dataclass(frozen=True)
class FailedLoad:
    """A window that could not be loaded; `status` is 'failed', 'held back' or 'no access'."""

    load_id: str
    run_id: str
    report: str
    customer: str
    window_start: date | None
    window_end: date | None
    months: tuple[date, ...]
    status: str
    error: str
    requests: int
    bytes: int
    sha256: str
    seconds: float
    fetched_at_utc: datetime
    landing: str
    note: str


@dataclass(frozen=True)
class LandedLoad:
    """A load as its landing file can repeat it: what `replay` needs to run the same road again."""

    load_id: str
    run_id: str
    report: str
    customer: str
    window_start: date | None
    window_end: date | None
    months: tuple[date, ...]
    history: bool
    asked: tuple[str, ...] | None
    requests: int
    bytes: int
    sha256: str
    seconds: float
    fetched_at_utc: datetime
    landing: str
    note: str


def leaves_small_rest(rows: int) -> bool:
    """Whether loading so many rows of a table at once means writing many of them twice.

    Fewer rows than a row group go through the log and are gathered there. A transaction that has more
    writes its own row groups for good, and the last is what is left: less than half of one, and a later
    checkpoint merges it with its neighbours, which are written anew with it.
    """
    return rows > ROW_GROUP and 0 < rows % ROW_GROUP <= ROW_GROUP // 2
