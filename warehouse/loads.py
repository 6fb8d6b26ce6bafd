"""What is handed to the warehouse, and what does it answer? Loads in, counts out, and nothing of DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from warehouse.window_result import ColumnLike

ROW_GROUP = 122_880
"""Rows that DuckDB keeps together, column by column, and writes as one."""


@runtime_checkable
class RestingLike(Protocol):
    """A table whose rows rest on the disk: its frame is read anew whenever it is asked for."""

    @property
    def is_at_rest(self) -> bool: ...


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


def leaves_small_rest(rows: int) -> bool:
    """Whether loading so many rows of a table at once means writing many of them twice.

    Fewer rows than a row group go through the log and are gathered there. A transaction that has more
    writes its own row groups for good, and the last is what is left: less than half of one, and a later
    checkpoint merges it with its neighbours, which are written anew with it.
    """
    return rows > ROW_GROUP and 0 < rows % ROW_GROUP <= ROW_GROUP // 2
