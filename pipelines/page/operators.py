"""Page of those who run the pipeline: what is not as it should be, and whether reports agree.

It is in English whatever the language of the other pages, as its causes, commands and documentation are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from zoneinfo import ZoneInfo

from pipelines.page.facts import Facts, Row
from pipelines.page.language import Language
from pipelines.page.tables import PageColumn, PageTable, Writer

SIGNS = {
    "held": ("✓", "loaded"),
    "empty": ("0", "loaded, without rows"),
    "open": ("…", "loaded, the month is not over"),
    "off": ("·", "switched off, no longer requested"),
    "waiting": ("~", "requested within a month"),
    "refused": ("⊘", "access denied"),
    "missing": ("–", "missing"),
    "held back": ("!", "held back, waits for the operator"),
    "failed": ("✕", "failed"),
}
"""The sign and the words of each state of the coverage."""


@dataclass(frozen=True)
class Matrix:
    """Customers by months of a report with missing months, and their number."""

    report: str
    missing: int
    months: list[tuple[int, list[date]]]
    rows: list[tuple[str, list[Row | None]]]


@dataclass(frozen=True)
class OperatorsPage:
    """The tables of the page: open issues first, then all other facts."""

    problems: PageTable | None
    agreements: PageTable | None
    differences: PageTable | None
    restatements: PageTable | None
    standings: PageTable | None
    requests: PageTable | None
    quarantine: PageTable | None
    matrices: list[Matrix]
    signs: list[tuple[str, str, str]]


def operators_page(facts: Facts, words: Language, timezone: ZoneInfo) -> OperatorsPage:
    """The page's sections; each is none without a row."""
    table = Writer(words, None).table
    states = {square.state for square in facts.coverage}
    reports = groupby(facts.coverage, lambda square: square.report)
    return OperatorsPage(
        problems=table("Open issues", "", _problems(words, timezone), facts.problems),
        agreements=table("Do the reports agree?", "", _AGREEMENTS, facts.agreements),
        differences=table("The largest differences", "", _DIFFERENCES, facts.differences),
        restatements=table("Later changes", "", _restatements(words, timezone), facts.restatements),
        standings=table("All reports and customers", "", _standings(words, timezone), facts.standings),
        requests=table("Requests by day (UTC)", "", _REQUESTS, facts.requests),
        quarantine=table("Rows in quarantine", "", _QUARANTINE, facts.quarantine),
        matrices=[_matrix(report, list(squares)) for report, squares in reports],
        signs=[(state.replace(" ", "-"), *SIGNS[state]) for state in SIGNS if state in states],
    )


def _matrix(report: str, squares: Sequence[Row]) -> Matrix:
    months = sorted({square.month for square in squares}, reverse=True)
    found = {(square.customer, square.month): square for square in squares}
    return Matrix(
        report=report,
        missing=squares[0].missing_count,
        months=[(year, list(some)) for year, some in groupby(months, lambda month: month.year)],
        rows=[
            (customer, [found.get((customer, month)) for month in months])
            for customer in sorted({square.customer for square in squares})
        ],
    )


def _problems(words: Language, timezone: ZoneInfo) -> list[PageColumn]:
    def months(row: Row) -> str:
        return words.period(row.first_month, row.last_month) if row.first_month and row.last_month else ""

    return [
        PageColumn("Severity", "severity"),
        PageColumn("Condition", "kind"),
        PageColumn("Number", "condition_count", "count"),
        PageColumn("Since", lambda row, _: words.moment(row.since_utc, timezone)),
        PageColumn("What was found, and what to do", lambda row, _: _finding(row), "words"),
        PageColumn("Reports", "reports", "words"),
        PageColumn("Customers", "customers", "words"),
        PageColumn("Months", lambda row, _: months(row), "words"),
    ]  # fmt: skip


def _finding(row: Row) -> str:
    return " ".join(filter(None, (row.message, row.remedy)))


def _restatements(words: Language, timezone: ZoneInfo) -> list[PageColumn]:
    return [
        PageColumn("Noted", lambda row, _: words.moment(row.noted_at_utc, timezone)),
        PageColumn("Report", "report"),
        PageColumn("Office", "office_name"),
        PageColumn("Month", "month", "month"),
        PageColumn("Commission before", "commission_before", "exact"),
        PageColumn("Commission after", "commission_after", "exact"),
        PageColumn("Change", "commission_change", "exact"),
        PageColumn("Rows", "row_count_change", "count"),
    ]


def _standings(words: Language, timezone: ZoneInfo) -> list[PageColumn]:
    return [
        PageColumn("Report", "report"),
        PageColumn("Customer", "customer"),
        PageColumn("Loaded through", "newest_held_month", "month"),
        PageColumn("Last success", lambda row, _: words.moment(row.last_success_utc, timezone)),
        PageColumn("Late from", lambda row, _: words.moment(row.due_utc, timezone)),
        PageColumn("State", "state"),
    ]


_AGREEMENTS = (
    PageColumn("Office report compared with", "compared"),
    PageColumn("Measure", "measure"),
    PageColumn("Compared", "compared_count", "count"),
    PageColumn("Differ", "different_count", "count"),
)
_DIFFERENCES = (
    PageColumn("Month", "month", "month"),
    PageColumn("Office", "office_name"),
    PageColumn("Compared with", "compared"),
    PageColumn("Measure", "measure"),
    PageColumn("Office report", "amount", "exact"),
    PageColumn("Other report", "compared_amount", "exact"),
    PageColumn("Difference", "difference", "exact"),
    PageColumn("Likely reason", "likely_reason", "words"),
)
_REQUESTS = (
    PageColumn("Day", "day", "day"),
    PageColumn("Requests", "requests", "count"),
    PageColumn("Repeated", "repeated", "count"),
    PageColumn("Failed", "failed", "count"),
    PageColumn("Received, MB", lambda row, _: (row.bytes or 0) / 1_000_000, "parts"),
)
_QUARANTINE = (
    PageColumn("Report", "report"),
    PageColumn("Table", "table_name"),
    PageColumn("Column", "column_name"),
    PageColumn("Reason", "reason", "words"),
    PageColumn("Rows", "row_count", "count"),
    PageColumn("First month", "first_month", "month"),
    PageColumn("Last month", "last_month", "month"),
)
