"""Shapes of the values that the warehouse is given: columns, tables and rejected rows.

The warehouse knows nothing of the rooms that make them, so these are for the type checker alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Protocol

import polars as pl


class ColumnLike(Protocol):
    """A column of a table: its DuckDB type as text, whether it is documented, where it comes from."""

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
    @property
    def name_inferred(self) -> bool: ...


class DocumentedColumn(Protocol):
    """The catalogue's words on a column: whether it describes a person, or is the id of one."""

    @property
    def name(self) -> str: ...
    @property
    def personal(self) -> bool: ...
    @property
    def id_of(self) -> str | None: ...


Documented = Mapping[str, DocumentedColumn]
"""The documented columns of a table by name."""


class TableLike(Protocol):
    """The rows of one table in one window; the frame also holds `_row`, `_parent_row` and `_month`."""

    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> Sequence[ColumnLike]: ...
    @property
    def frame(self) -> pl.DataFrame: ...
    @property
    def key(self) -> tuple[str, ...]: ...


class RejectedLike(Protocol):
    """A row that broke its documented type, as it came; `month` is a first day, or none if unknown.

    `is_undatable` says that its date is missing or cannot be read, so that it may be of any month asked for.
    """

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
    @property
    def is_undatable(self) -> bool: ...
