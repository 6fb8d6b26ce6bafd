"""Verdict on the figures of a page: a line and a table about the doubts in sql/page/doubts.sql."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from pipelines.page.facts import Facts, Row
from pipelines.page.language import Language, local_day
from pipelines.page.tables import PageColumn, PageTable, Writer


@dataclass(frozen=True)
class PageVerdict:
    """How reliable the figures of a page are, and the doubts about them."""

    severity: str  # well, warning or error
    text: str
    doubts: PageTable | None
    subjects: frozenset[str] = frozenset()  # subjects marked as doubtful


def verdict(facts: Facts, writer: Writer, timezone: ZoneInfo) -> PageVerdict:
    """State the doubts about a page's figures in a line and a table.

    Without doubts, the line states one of these: nothing is loaded, the file lacks some figures, or the
    figures are up to date, and which reports agree with the office commission report.
    """
    words, rows = writer.words, facts.doubts
    if not (rows or facts.missing or facts.scopes):
        return PageVerdict("warning", words.text("verdict.nothing"), None)

    def figures(subjects: Iterable[str]) -> str:
        return ", ".join(words.label("subjects", subject) for subject in subjects)

    columns = [
        PageColumn("figures", lambda row: figures(row.subjects), "words"),
        PageColumn("what", lambda row: _issue(row, words, timezone), "words"),
        PageColumn("office", lambda row: _affected_offices(row, words)),
        PageColumn("since", lambda row: _affected_period(row, words, timezone), "words"),
    ]
    if not rows:
        if facts.missing:
            return PageVerdict("warning", words.text("page.missing"), None)
        compared = [row.compared for row in facts.agreements if row.office_months_compared]
        reports = ", ".join(dict.fromkeys(words.label("compared", name) for name in compared))
        text = words.text(f"verdict.{'well' if reports else 'fresh'}", reports=reports)
        return PageVerdict("well", text, None)
    severity = "error" if any(row.severity == "error" for row in rows) else "warning"
    subjects = dict.fromkeys(subject for row in rows for subject in row.subjects)
    text = words.text("verdict.doubts", len(rows), figures=figures(subjects))
    doubts = writer.table(words.text("doubts.heading"), "doubts", columns, rows)
    return PageVerdict(severity, text, doubts, frozenset(subjects))


def _issue(row: Row, words: Language, timezone: ZoneInfo) -> str:
    return words.label("conditions", row.kind).format(day=words.day(local_day(row.read_at_utc, timezone)))


def _affected_offices(row: Row, words: Language) -> str:
    if row.customer is None:
        return "" if row.is_chain_only else words.text("doubts.all")
    count = len(row.office_ids or ())
    return words.text("doubts.group", count, name=row.customer) if count > 1 else str(row.customer)


def _affected_period(row: Row, words: Language, timezone: ZoneInfo) -> str:
    if row.months:
        return words.months(row.months)
    return words.day(local_day(row.since_utc, timezone)) if row.since_utc else ""
