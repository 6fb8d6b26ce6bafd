"""Protocols of the values that the warehouse receives: columns, tables and rejected rows.

The warehouse imports nothing from the rooms that make these values; the protocols serve the type checker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Protocol

import polars as pl


class ColumnLike(Protocol):
    """A column of a table. `type` is a DuckDB type; `source` is the column's path in the answer.

    A `needed` column is reported as missing if no row has it. The path of a `name_inferred` one is assumed.
    """

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def documented(self) -> bool: ...
    @property
    def needed(self) -> bool: ...
    @property
    def source(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def name_inferred(self) -> bool: ...


class DocumentedColumn(Protocol):
    """A column that the catalogue declares. If it has the ids of persons, `id_of` is the kind of person."""

    @property
    def name(self) -> str: ...
    @property
    def personal(self) -> bool: ...
    @property
    def id_of(self) -> str | None: ...


Documented = Mapping[str, DocumentedColumn]
"""The declared columns of a table by name."""


class TableLike(Protocol):
    """The rows of one table in one window.

    `frame` also has `_row` and `_month`. If the rows are nested in a parent row, it has `_parent_row` too.
    """

    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> Sequence[ColumnLike]: ...
    @property
    def frame(self) -> pl.DataFrame: ...
    @property
    def key(self) -> tuple[str, ...]: ...


class RejectedLike(Protocol):
    """A received row that does not fit (type, key or month); `month` is the first day of its month, if known.

    An undatable row has no readable date, so it may belong to any requested month.
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
