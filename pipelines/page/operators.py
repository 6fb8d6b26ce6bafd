"""Page of those who run the pipeline: what is not as it should be, and whether reports agree.

It is in English whatever the language of the other pages, as its causes, commands and documentation are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from zoneinfo import ZoneInfo

from pipelines.page.facts import (
    Agreement,
    Disagreement,
    Facts,
    OpenProblem,
    RequestDay,
    Restatement,
    SetAside,
    Square,
    Standing,
)
from pipelines.page.language import Language
from pipelines.page.tables import PageTable, TableColumn, Writer

SIGNS = {
    "held": ("✓", "held"),
    "empty": ("0", "held, without a row"),
    "open": ("…", "held, the month is not over"),
    "off": ("·", "switched off, not asked any more"),
    "waiting": ("~", "has its turn within a month"),
    "refused": ("⊘", "the service gives no access"),
    "missing": ("–", "missing"),
    "held back": ("!", "held back, waiting for somebody to look"),
    "failed": ("✕", "failed"),
}
"""What a square of the coverage says: its sign and its words."""


@dataclass(frozen=True)
class Matrix:
    """Customers by months of a report of which something is missing, and how much is."""

    report: str
    missing: int
    months: list[tuple[int, list[date]]]
    rows: list[tuple[str, list[Square | None]]]


@dataclass(frozen=True)
class OperatorsPage:
    """What the page says: tables of what is not as it should be, and of what else is known."""

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
    """The page's sections; each is none where there is nothing to say."""
    writer = Writer(words, None)
    states = {one.state for one in facts.coverage}
    return OperatorsPage(
        problems=writer.table("Open problems", _problem_columns(words, timezone), facts.problems),
        agreements=writer.table("Do the reports agree?", _AGREEMENTS, facts.agreements),
        differences=writer.table("The largest differences", _DIFFERENCES, facts.differences),
        restatements=writer.table(
            "What changed afterwards", _restatement_columns(words, timezone), facts.restatements
        ),
        standings=writer.table(
            "All reports and customers", _standing_columns(words, timezone), facts.standings
        ),
        requests=writer.table("Requests by day (UTC)", _REQUESTS, facts.requests),
        quarantine=writer.table("Rows in quarantine", _QUARANTINE, facts.quarantine),
        matrices=[
            _matrix(name, list(some)) for name, some in groupby(facts.coverage, lambda one: one.report)
        ],
        signs=[(state.replace(" ", "-"), *SIGNS[state]) for state in SIGNS if state in states],
    )


def _matrix(report: str, squares: Sequence[Square]) -> Matrix:
    months = sorted({one.month for one in squares}, reverse=True)
    found = {(one.customer, one.month): one for one in squares}
    return Matrix(
        report=report,
        missing=squares[0].missing_count,
        months=[(year, list(some)) for year, some in groupby(months, lambda one: one.year)],
        rows=[
            (customer, [found.get((customer, month)) for month in months])
            for customer in sorted({one.customer for one in squares})
        ],
    )


def _problem_columns(words: Language, timezone: ZoneInfo) -> list[TableColumn[OpenProblem]]:
    def months(one: OpenProblem) -> str:
        return words.period(one.first_month, one.last_month) if one.first_month and one.last_month else ""

    return [
        TableColumn("How bad", lambda one: one.severity),
        TableColumn("What", lambda one: one.kind),
        TableColumn("Conditions", lambda one: one.condition_count, "count"),
        TableColumn("Since", lambda one: words.moment(one.since_utc, timezone)),
        TableColumn("What was found, and what to do", _found, "words"),
        TableColumn("Reports", lambda one: one.reports, "words"),
        TableColumn("Customers", lambda one: one.customers, "words"),
        TableColumn("Months", months, "words"),
    ]


def _found(one: OpenProblem) -> str:
    return " ".join(filter(None, (one.message, one.remedy)))


def _restatement_columns(words: Language, timezone: ZoneInfo) -> list[TableColumn[Restatement]]:
    return [
        TableColumn("Noted", lambda one: words.moment(one.noted_at_utc, timezone)),
        TableColumn("Report", lambda one: one.report),
        TableColumn("Office", lambda one: one.office_name),
        TableColumn("Month", lambda one: one.month, "month"),
        TableColumn("Commission before", lambda one: one.commission_before, "exact"),
        TableColumn("since", lambda one: one.commission_after, "exact"),
        TableColumn("Change", lambda one: one.commission_change, "exact"),
        TableColumn("Rows", lambda one: one.row_count_change, "count"),
    ]


def _standing_columns(words: Language, timezone: ZoneInfo) -> list[TableColumn[Standing]]:
    return [
        TableColumn("Report", lambda one: one.report),
        TableColumn("Customer", lambda one: one.customer),
        TableColumn("Held through", lambda one: one.newest_held_month, "month"),
        TableColumn("Last success", lambda one: words.moment(one.last_success_utc, timezone)),
        TableColumn("Late from", lambda one: words.moment(one.due_utc, timezone)),
        TableColumn("State", lambda one: one.state),
    ]


_AGREEMENTS = [
    TableColumn[Agreement]("Office report held against", lambda one: one.compared),
    TableColumn[Agreement]("Measure", lambda one: one.measure),
    TableColumn[Agreement]("Compared", lambda one: one.compared_count, "count"),
    TableColumn[Agreement]("Differ", lambda one: one.different_count, "count"),
]
_DIFFERENCES = [
    TableColumn[Disagreement]("Month", lambda one: one.month, "month"),
    TableColumn[Disagreement]("Office", lambda one: one.office_name),
    TableColumn[Disagreement]("Held against", lambda one: one.compared),
    TableColumn[Disagreement]("Measure", lambda one: one.measure),
    TableColumn[Disagreement]("Office report", lambda one: one.amount, "exact"),
    TableColumn[Disagreement]("Other report", lambda one: one.compared_amount, "exact"),
    TableColumn[Disagreement]("Difference", lambda one: one.difference, "exact"),
    TableColumn[Disagreement]("Likely because", lambda one: one.likely_reason, "words"),
]
_REQUESTS = [
    TableColumn[RequestDay]("Day", lambda one: one.day, "day"),
    TableColumn[RequestDay]("Requests", lambda one: one.requests, "count"),
    TableColumn[RequestDay]("Repeated", lambda one: one.repeated, "count"),
    TableColumn[RequestDay]("Failed", lambda one: one.failed, "count"),
    TableColumn[RequestDay]("Received, MB", lambda one: (one.bytes or 0) / 1_000_000, "parts"),
]
_QUARANTINE = [
    TableColumn[SetAside]("Report", lambda one: one.report),
    TableColumn[SetAside]("Table", lambda one: one.table_name),
    TableColumn[SetAside]("Column", lambda one: one.column_name),
    TableColumn[SetAside]("Why", lambda one: one.reason, "words"),
    TableColumn[SetAside]("Rows", lambda one: one.row_count, "count"),
    TableColumn[SetAside]("First month", lambda one: one.first_month, "month"),
    TableColumn[SetAside]("Last month", lambda one: one.last_month, "month"),
]
