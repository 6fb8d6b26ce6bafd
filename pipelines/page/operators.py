"""Page of those who run the pipeline: what is not as it should be, and whether reports agree.

It is in English whatever the language of the other pages, as its causes, commands and documentation are.
"""

from __future__ import annotations

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from pipelines.page.facts import Facts, Row
from pipelines.page.language import Language
from pipelines.page.tables import PageColumn, PageTable, Writer


def operators_tables(
    facts: Facts, words: Language, timezone: ZoneInfo
) -> tuple[list[PageTable], list[PageTable]]:
    """What is not as it should be, and what else is known, as tables with rows."""

    def tables(*named: tuple[str, Sequence[PageColumn], Sequence[Row]]) -> list[PageTable]:
        found = [Writer(words, None).table(name, "", columns, rows) for name, columns, rows in named]
        return [table for table in found if table]

    wrong = tables(
        ("Open issues", _problems(words, timezone), facts.problems),
        ("The largest differences", _DIFFERENCES, facts.differences),
        ("Rows in quarantine", _QUARANTINE, facts.quarantine),
    )
    more = tables(
        ("Do the reports agree?", _AGREEMENTS, facts.agreements),
        ("Later changes", _restatements(words, timezone), facts.restatements),
        ("Requests by day (UTC)", _REQUESTS, facts.requests),
        ("All reports and customers", _standings(words, timezone), facts.standings),
    )
    return wrong, more


def _problems(words: Language, timezone: ZoneInfo) -> list[PageColumn]:
    def months(row: Row) -> str:
        return words.period(row.first_month, row.last_month) if row.first_month and row.last_month else ""

    return [
        PageColumn("Severity", "severity"),
        PageColumn("Condition", "kind"),
        PageColumn("Number", "condition_count", "count"),
        PageColumn("Since", lambda row, _: words.moment(row.since_utc, timezone)),
        PageColumn(
            "What was found, and what to do",
            lambda row, _: " ".join(filter(None, (row.message, row.remedy))),
            "words",
        ),
        PageColumn("Reports", "reports", "words"),
        PageColumn("Customers", "customers", "words"),
        PageColumn("Months", lambda row, _: months(row), "words"),
    ]


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
