"""Section about leads: their origin, the sales of their homes, and untouched leads."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date

from pipelines.page.charts import Series, chart, column_spans
from pipelines.page.facts import Facts, Row
from pipelines.page.language import Language
from pipelines.page.tables import PageColumn, PageTable, Section, Writer, oldest_reading_notes, total_row

MAX_ROWS = 40
AGES = ("to_2", "to_7", "to_30", "to_90", "longer")  # the columns of untouched leads by age in days


def leads_section(facts: Facts, writer: Writer) -> Section | None:
    """Leads of the last twelve months, and untouched leads by office; None if these months have no leads."""
    words = writer.words
    if not facts.leads:
        return None
    incoming = [row for row in facts.leads if row.way == "incoming lead"]
    weeks = sorted((row for row in incoming if row.part == "week"), key=lambda row: row.name)
    mondays = [date.fromisoformat(row.name) for row in weeks]
    week_names = [f"{monday.day} {words.month(monday)[:3]}" for monday in mondays]
    series = [Series("", "value", column_spans([row.leads for row in weeks]))]
    drawing = chart(words.text("leads.by_week"), week_names, series, words.number, min_step=1)
    total = next((row for row in incoming if row.part == "all"), None)
    sides = [row for row in incoming if row.part == "side" and row.leads]
    sides += [row for row in facts.leads if row.part == "all" and row.way != "incoming lead" and row.leads]
    parts = ("kind", "sender", "office", "state")
    rows_by_part = {part: [row for row in incoming if row.part == part] for part in parts}
    tables = [
        _table(writer, part, rows, lambda row: _row_name(row, words), total)
        for part, rows in rows_by_part.items()
        if part != "office" or len(rows) > 1
    ]
    urgency = [words.text("leads.urgency")] if len(facts.untouched) > 1 else []
    return Section(
        "leads",
        words.text("leads.heading"),
        ("leads",),
        charts=[drawing] if weeks else [],
        table=_untouched_table(facts, writer),
        collapsed=[
            _table(writer, "side", sides, lambda row: words.label("sides", row.name or row.way)), *tables,
        ],
        notes=[*urgency, *oldest_reading_notes(facts.untouched, "leads", words), words.text("leads.note")],
    )  # fmt: skip


def _table(
    writer: Writer, part: str, rows: Sequence[Row], row_name: Callable[[Row], str], total: Row | None = None
) -> PageTable | None:
    words = writer.words

    def side_note(row: Row) -> str:
        return words.text(f"leads.{row.name}_note") if row.name in ("seller", "buyer") else ""

    columns = [
        PageColumn(part, lambda row: row_name(row), note=side_note if part == "side" else None),
        PageColumn("leads", kind="count", has_bar=True),
    ]
    if part == "sender":  # no total row, because `total` also counts the homes of buyers
        columns += [PageColumn("homes_without_buyers", "homes", "count"), PageColumn("sold", kind="count")]
        total = None
    else:
        columns += [
            PageColumn("removed", kind="count", is_minor=True),
            PageColumn("without_home", kind="count"),
            PageColumn("homes", kind="count"),
            PageColumn("sold", kind="count"),
            *([PageColumn("days", kind="count")] if part in ("side", "kind") else []),
        ]
    return writer.table(words.text(f"leads.by_{part}"), "leads", columns, rows[:MAX_ROWS], total=total)


def _untouched_table(facts: Facts, writer: Writer) -> PageTable | None:
    words, rows = writer.words, facts.untouched
    if not rows:
        return None

    def closed_note(row: Row) -> str:
        month = row.closed_after_month
        return words.text("offices.closed", month=words.month(month)) if month else ""

    office = PageColumn(
        "office", lambda row: row.office_name or words.text("leads.unnamed_office"), note=closed_note
    )
    count = PageColumn("untouched_total", lambda row: sum(getattr(row, age) for age in AGES), "count")
    columns = [office, count, *(PageColumn(name, kind="count") for name in (*AGES, "tips", "valuations"))]
    name = words.text("leads.untouched", len(rows), day=words.day(max(row.counted_on for row in rows)))
    total = total_row(rows, office_name=words.text("offices.all"), closed_after_month=None)
    return writer.table(name, "leads", columns, rows, total=total)


def _row_name(row: Row, words: Language) -> str:
    if row.part == "all":
        return words.text("offices.all")
    if not row.name:
        return words.text(f"leads.unnamed_{row.part}")
    if row.part == "state":
        return words.label("lead_states", row.name)
    # AskedForPrice becomes Asked for price
    if row.part == "kind" and re.fullmatch(r"([A-Z][a-z]+){2,}", row.name):
        return re.sub(r"(?<=[a-z])[A-Z]", lambda letter: f" {letter[0].lower()}", row.name)
    return str(row.name)
