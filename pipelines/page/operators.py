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
    Difference,
    Facts,
    MergedShard,
    Problem,
    RequestDay,
    Restatement,
    SetAside,
    Square,
    Standing,
)
from pipelines.page.language import Language
from pipelines.page.tables import Column, Table, Writer

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

    problems: Table | None
    shards: Table | None
    agreements: Table | None
    differences: Table | None
    restatements: Table | None
    standings: Table | None
    requests: Table | None
    quarantine: Table | None
    matrices: list[Matrix]
    signs: list[tuple[str, str, str]]


def operators_page(facts: Facts, words: Language, timezone: ZoneInfo) -> OperatorsPage:
    """The page's sections; each is none where there is nothing to say."""
    writer = Writer(words, None)
    states = {one.state for one in facts.coverage}
    return OperatorsPage(
        problems=writer.table("Open problems", _problem_columns(words, timezone), facts.problems),
        shards=writer.table("Shards in this file", _shard_columns(words, timezone), facts.shards),
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
        missing=sum(one.is_missing for one in squares),
        months=[(year, list(some)) for year, some in groupby(months, lambda one: one.year)],
        rows=[
            (customer, [found.get((customer, month)) for month in months])
            for customer in sorted({one.customer for one in squares})
        ],
    )


def _problem_columns(words: Language, timezone: ZoneInfo) -> list[Column[Problem]]:
    def months(one: Problem) -> str:
        return words.period(one.first_month, one.last_month) if one.first_month and one.last_month else ""

    return [
        Column("How bad", lambda one: one.severity),
        Column("What", lambda one: one.kind),
        Column("How often", lambda one: one.condition_count, "count"),
        Column("What was found, and what to do", _found, "words"),
        Column("Reports", lambda one: one.reports, "words"),
        Column("Customers", lambda one: one.customers, "words"),
        Column("Months", months, "words"),
        Column("Since", lambda one: words.moment(one.since_utc, timezone)),
    ]


def _shard_columns(words: Language, timezone: ZoneInfo) -> list[Column[MergedShard]]:
    return [
        Column("Shard", lambda one: one.shard),
        Column("State", lambda one: one.state),
        Column("Customers", lambda one: one.customer_count, "count"),
        Column("Published", lambda one: words.moment(one.published_at_utc, timezone)),
        Column("Newest answer", lambda one: words.moment(one.fetched_at_utc, timezone)),
    ]


def _found(one: Problem) -> str:
    return " ".join(filter(None, (one.message, one.remedy)))


def _restatement_columns(words: Language, timezone: ZoneInfo) -> list[Column[Restatement]]:
    return [
        Column("Noted", lambda one: words.moment(one.noted_at_utc, timezone)),
        Column("Report", lambda one: one.report),
        Column("Office", lambda one: one.office_name),
        Column("Month", lambda one: one.month, "month"),
        Column("Commission before", lambda one: one.commission_before, "exact"),
        Column("since", lambda one: one.commission_after, "exact"),
        Column("Change", lambda one: one.commission_change, "exact"),
        Column("Rows", lambda one: one.row_count_change, "count"),
    ]


def _standing_columns(words: Language, timezone: ZoneInfo) -> list[Column[Standing]]:
    return [
        Column("Report", lambda one: one.report),
        Column("Customer", lambda one: one.customer),
        Column("Held through", lambda one: one.newest_held_month, "month"),
        Column("Last success", lambda one: words.moment(one.last_success_utc, timezone)),
        Column("Next due", lambda one: words.moment(one.due_utc, timezone)),
        Column("State", lambda one: one.state),
    ]


_AGREEMENTS = [
    Column[Agreement]("Office report held against", lambda one: one.compared),
    Column[Agreement]("Measure", lambda one: one.measure),
    Column[Agreement]("Compared", lambda one: one.compared_count, "count"),
    Column[Agreement]("Differ", lambda one: one.different_count, "count"),
]
_DIFFERENCES = [
    Column[Difference]("Month", lambda one: one.month, "month"),
    Column[Difference]("Office", lambda one: one.office_name),
    Column[Difference]("Held against", lambda one: one.compared),
    Column[Difference]("Measure", lambda one: one.measure),
    Column[Difference]("Office report", lambda one: one.amount, "exact"),
    Column[Difference]("Other report", lambda one: one.compared_amount, "exact"),
    Column[Difference]("Difference", lambda one: one.difference, "exact"),
    Column[Difference]("Likely because", lambda one: one.likely_reason, "words"),
]
_REQUESTS = [
    Column[RequestDay]("Day", lambda one: one.day, "day"),
    Column[RequestDay]("Requests", lambda one: one.requests, "count"),
    Column[RequestDay]("Repeated", lambda one: one.repeated, "count"),
    Column[RequestDay]("Failed", lambda one: one.failed, "count"),
    Column[RequestDay]("Received, MB", lambda one: (one.bytes or 0) / 1_000_000, "parts"),
]
_QUARANTINE = [
    Column[SetAside]("Report", lambda one: one.report),
    Column[SetAside]("Table", lambda one: one.table_name),
    Column[SetAside]("Column", lambda one: one.column_name),
    Column[SetAside]("Why", lambda one: one.reason, "words"),
    Column[SetAside]("Rows", lambda one: one.row_count, "count"),
    Column[SetAside]("First month", lambda one: one.first_month, "month"),
    Column[SetAside]("Last month", lambda one: one.last_month, "month"),
]
