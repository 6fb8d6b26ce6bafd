"""Guard of stored rows: decides whether an answer is held back instead of loaded.

An answer is held back in two cases:
- It would remove too many stored rows of its window, or of one month. The report declares the limits.
- A declared column is empty in all new rows, but has a value in most stored rows of the window. A column
  without amounts is exempt if shapes.toml declares it absent. If a table has few stored rows, only two kinds
  of columns are checked: `needed` ones, if there are new rows, and those of amounts, days and booleans, if at
  least three rows are stored and all have a value, and at least three are new. If only some tables have new
  rows, all columns of the others count as empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from pipelines.causes import list_names
from pipelines.shapes.paths import NONE
from pipelines.words import counted
from warehouse.load.profile import Profiles, TableProfile, add_up, stored_rows

if TYPE_CHECKING:
    from pipelines.catalogue.model import Report
    from warehouse.protocols import TableLike

MIN_FILLED_ROWS = 3  # one or two rows may rightly lose an amount or day together
MIN_TABLE_ROWS = 5  # a smaller table may rightly lose all its rows: the languages of one user, for example
ROWS_LOST, COLUMN_EMPTIED = "rows lost", "column emptied"
ACCEPT = (
    "run `brokerbi sync --accept-shrink --refresh --customer ID --report NAME --from MONTH --to MONTH`, "
    "or launch it in Dagster with the tag brokerbi/accept_shrink=yes."
)
REMEDY = "Compare the report with the brokerage system. If each answer that is held back is right, " + ACCEPT
REMEDY_FOR_COLUMNS = (
    "If the service has renamed the empty columns (`brokerbi shapes --report NAME` shows what arrives), "
    "write their paths in shapes.toml and run `brokerbi sync --refresh --report NAME`. "
    "Only if it really dropped them, " + ACCEPT
)


class HeldBack(Exception):
    """An answer that may not replace the stored rows, with the broken rule, the issue and the remedy."""

    def __init__(self, rule: str, issue: str, remedy: str) -> None:
        self.rule, self.issue, self.remedy = rule, f"{issue}; the old rows stay.", remedy
        super().__init__(self.issue)


def check_shrink(
    report: Report, stored: Profiles, tables: Sequence[TableLike], rows: Mapping[date | None, int]
) -> None:
    """Raise HeldBack if a window's answer breaks a rule; `rows` are its row counts by month."""
    limits = report.shrink_limits
    stored_counts = {month: stored_rows(stored, month) for month in rows}
    for months in ([*rows], *([month] for month in rows)):
        count = sum(stored_counts[month] for month in months)
        lost = count - sum(rows[month] for month in months)
        if count >= limits.min_rows and lost > limits.max_loss * count:
            when = f" of {months[0]:%Y-%m}" if len(months) == 1 and months[0] else ""
            issue = f"{lost} of {counted(count, 'stored row')}{when} would be removed"
            raise HeldBack(ROWS_LOST, issue, REMEDY)
    check_columns(add_up(stored, rows), tables, max(limits.min_rows, MIN_TABLE_ROWS))


def check_columns(stored: Mapping[str, TableProfile], tables: Sequence[TableLike], min_rows: int = 1) -> None:
    """Raise HeldBack if the answer has rows, but no value in a column that most stored rows fill."""
    has_rows = any(table.frame.height for table in tables)
    emptied = list(_emptied_columns(stored, tables, min_rows)) if has_rows else []
    if emptied:
        issue = f"{list_names(emptied)}: empty in all new rows, but filled in most stored rows"
        raise HeldBack(COLUMN_EMPTIED, issue, REMEDY_FOR_COLUMNS)


def _emptied_columns(
    stored: Mapping[str, TableProfile], tables: Sequence[TableLike], min_rows: int
) -> Iterator[str]:
    for table in tables:
        profile = stored.get(table.name, TableProfile())
        for column in table.columns:
            filled = profile.value_counts.get(column.name, 0)
            all_had_it = filled == profile.rows and min(filled, table.frame.height) >= MIN_FILLED_ROWS
            is_amount = column.type.startswith("DECIMAL")
            is_figure = is_amount or column.type == "BOOLEAN" or column.name.endswith("_day")
            is_expected = table.frame.height if column.needed else all_had_it and is_figure
            is_checked = profile.rows >= min_rows or is_expected
            is_declared = column.documented and (column.source != NONE or is_amount)
            is_empty = table.frame[column.name].null_count() == table.frame.height
            if is_checked and is_declared and is_empty and filled * 2 > profile.rows:
                yield f"{table.name}.{column.name}"
