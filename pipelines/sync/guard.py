"""Guard of stored rows: the rules that hold a new answer back.

An answer is held back if it would remove more stored rows than the limits of its report allow, or if a
declared column that most stored rows fill is empty in all new rows. Only the requested months are compared,
and all windows of a report and customer are judged together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

from pipelines.shapes.paths import NONE

if TYPE_CHECKING:
    from pipelines.catalogue.model import ShrinkLimits
    from warehouse.handed_over import TableLike
    from warehouse.ledger.window_result import WindowResult
    from warehouse.load.profile import TableProfile

MOST_IN_WORDS = 4
REMEDY = (
    "Compare with the brokerage system. If the answer is right, run `brokerbi sync --accept-shrink`, or "
    "launch the report in Dagster with the tag brokerbi/accept_shrink=yes."
)
REMEDY_FOR_COLUMNS = (
    "If the service has renamed the empty columns, correct their paths in shapes.toml (`brokerbi shapes` "
    f"shows what arrives). {REMEDY}"
)


class DoubtKind(StrEnum):
    """The rule that an answer breaks."""

    ROWS_LOST = "rows lost"
    COLUMN_EMPTIED = "column emptied"


@dataclass(frozen=True)
class Doubt:
    """A broken rule: `part` of `whole` stored rows would go, or fill the `column` that is empty now."""

    kind: DoubtKind
    part: int
    whole: int
    column: str = ""

    def __str__(self) -> str:
        if self.kind is DoubtKind.ROWS_LOST:
            return f"{self.part} of {self.whole} stored rows would go"
        return f"{self.column} is empty in all rows and was filled in {self.part} of {self.whole}"


@dataclass
class Comparison:
    """The stored rows of one report and customer, compared with the new answers so far.

    `stored_rows` counts rows by month, None for a report without months. `stored` profiles the tables of the
    requested months. `rows` counts the new rows by table; `filled` are those `declared` columns, with their
    tables, that any new row fills.
    """

    limits: ShrinkLimits
    stored_rows: Mapping[date | None, int]
    stored: Mapping[str, TableProfile]
    rows: Counter[str] = field(default_factory=Counter)
    declared: set[tuple[str, str]] = field(default_factory=set)
    filled: set[tuple[str, str]] = field(default_factory=set)

    def add(self, tables: Sequence[TableLike]) -> None:
        """Add the rows of one window."""
        for table in tables:
            self.rows[table.name] += table.frame.height
            declared = [
                column.name for column in table.columns if column.documented and column.source != NONE
            ]
            self.declared |= {(table.name, name) for name in declared}
            self.filled |= {
                (table.name, name) for name in declared if table.frame[name].null_count() < table.frame.height
            }

    def doubts(self, fetched: Sequence[WindowResult]) -> tuple[Doubt, ...]:
        """The rules that these windows break; empty if they may be loaded."""
        return tuple(self._rows_lost(fetched)) or tuple(self._emptied_columns())

    def _rows_lost(self, fetched: Sequence[WindowResult]) -> Iterator[Doubt]:
        new_rows: Counter[date | None] = Counter()
        for result in fetched:
            new_rows.update(result.rows_by_month)
        whole = sum(self.stored_rows.get(month, 0) for month in new_rows)
        lost = whole - sum(new_rows.values())
        if whole >= self.limits.fewest_rows and lost > self.limits.largest_loss * whole:
            yield Doubt(DoubtKind.ROWS_LOST, lost, whole)

    def _emptied_columns(self) -> Iterator[Doubt]:
        for name, column in sorted(self.declared - self.filled):
            table = self.stored.get(name)
            if table is None or (not self.rows[name] and not self._is_missed(table)):
                continue
            filled = table.filled.get(column, 0)
            if filled * 2 > table.rows:
                yield Doubt(DoubtKind.COLUMN_EMPTIED, filled, table.rows, f"{name}.{column}")

    def _is_missed(self, table: TableProfile) -> bool:
        """Whether a table without new rows had so many that its list must be missing, not its rows."""
        return table.rows >= self.limits.fewest_rows and self.rows.total() > 0


def reason(doubts: Sequence[Doubt]) -> str:
    """The broken rules, in a sentence."""
    sentences = [str(doubt) for doubt in doubts[:MOST_IN_WORDS]]
    if len(doubts) > MOST_IN_WORDS:
        sentences.append(f"{len(doubts) - MOST_IN_WORDS} more like that")
    return f"{', and '.join(sentences)}; the old rows stay."


def remedy(doubts: Sequence[Doubt]) -> str:
    """The remedy for the operator."""
    has_columns = any(doubt.kind is DoubtKind.COLUMN_EMPTIED for doubt in doubts)
    return REMEDY_FOR_COLUMNS if has_columns else REMEDY
