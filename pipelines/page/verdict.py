"""What to mind of the figures of a page: the rows of sql/page/doubts.sql as a line and a table."""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from pipelines.page.facts import Doubt, Facts
from pipelines.page.language import local_day
from pipelines.page.tables import Column, Table, Writer


@dataclass(frozen=True)
class Verdict:
    """Whether there is something to mind of the figures, and what."""

    level: str  # well, warning or error
    text: str
    doubts: Table | None


def verdict(facts: Facts, writer: Writer, timezone: ZoneInfo) -> Verdict:
    """One line, and a table of what is doubtful: causes and remedies are for operators."""
    words = writer.words
    rows = facts.doubts

    def since(row: Doubt) -> str:
        if row.first_month and row.last_month:
            return words.period(row.first_month, row.last_month)
        return words.day(local_day(row.since_utc, timezone)) if row.since_utc else ""

    columns = [
        Column[Doubt](
            words.text("doubts.figures"), lambda r: words.label("subjects", r.subject or "all"), "words"
        ),
        Column[Doubt](words.text("doubts.what"), lambda r: words.label("conditions", r.kind), "words"),
        Column[Doubt](words.text("doubts.office"), lambda r: r.office_name),
        Column[Doubt](words.text("doubts.since"), since, "words"),
    ]
    if rows or facts.missing:
        text = words.text("verdict.doubts", len(rows)) if rows else words.text("page.missing")
        level = "error" if any(one.severity == "error" for one in rows) else "warning"
        return Verdict(level, text, writer.table(words.text("doubts.heading"), columns, rows))
    if not facts.scopes:
        return Verdict("warning", words.text("verdict.nothing"), None)
    is_compared = any(one.compared_count for one in facts.agreements)
    return Verdict("well", words.text(f"verdict.{'well' if is_compared else 'fresh'}"), None)
