"""What to mind of the figures of a page: the rows of sql/page/doubts.sql as a line and a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from pipelines.page.facts import DoubtfulFigures, Facts
from pipelines.page.language import local_day
from pipelines.page.tables import PageTable, TableColumn, Writer


@dataclass(frozen=True)
class PageVerdict:
    """Whether there is something to mind of the figures, of which, and what."""

    severity: str  # well, warning or error
    text: str
    doubts: PageTable | None
    subjects: frozenset[str] = frozenset()  # of what has a mark where it is shown


def verdict(facts: Facts, writer: Writer, timezone: ZoneInfo) -> PageVerdict:
    """One line, and a table of what is doubtful: causes and remedies are for operators."""
    words, rows, text = writer.words, facts.doubts, writer.words.of("doubts")

    def whom(row: DoubtfulFigures) -> str:
        if row.customer is None:
            return "" if row.is_of_chain else text("all")
        count = len(row.office_ids or ())
        return words.text("doubts.group", count, name=row.customer) if count > 1 else row.customer

    def since(row: DoubtfulFigures) -> str:
        if row.months:
            return words.months(row.months)
        return words.day(local_day(row.since_utc, timezone)) if row.since_utc else ""

    def figures(subjects: Iterable[str]) -> str:
        return ", ".join(words.label("subjects", one) for one in subjects)

    columns = [
        TableColumn[DoubtfulFigures](text("figures"), lambda r: figures(r.subjects), "words"),
        TableColumn[DoubtfulFigures](text("what"), lambda r: words.label("conditions", r.kind), "words"),
        TableColumn[DoubtfulFigures](text("office"), whom),
        TableColumn[DoubtfulFigures](text("since"), since, "words"),
    ]
    known = {one.severity for one in rows} | ({"warning"} if facts.missing else set())
    worst = next((one for one in ("error", "warning") if one in known), "well")
    if not (rows or facts.missing or facts.scopes):
        return PageVerdict("warning", words.text("verdict.nothing"), None)
    is_wrong = any(one.severity != "well" for one in rows)
    said = [words.text("page.missing")] if facts.missing and not is_wrong else []
    if worst == "well":
        is_compared = any(one.compared_count for one in facts.agreements)
        said.append(words.text(f"verdict.{'well' if is_compared else 'fresh'}"))
    if rows:
        subjects = dict.fromkeys(subject for one in rows for subject in one.subjects)
        said.append(words.text("verdict.doubts", len(rows), figures=figures(subjects)))
    marked = frozenset(one for row in rows if row.severity != "well" for one in row.subjects)
    return PageVerdict(worst, " ".join(said), writer.table(text("heading"), columns, rows), marked)
