"""Section about leads: from whom they come, what became of the homes they name, and which nobody touched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pipelines.page.charts import Chart, ChartMonth, chart
from pipelines.page.facts import Facts, LeadCounts, Untouched
from pipelines.page.language import Language
from pipelines.page.tables import PageTable, TableColumn, Writer


@dataclass(frozen=True)
class LeadsSection:
    """Leads by side and way, by month, untouched, and by kind, state and office."""

    sides: PageTable | None
    chart: Chart | None
    tables: list[PageTable]


def leads_section(facts: Facts, writer: Writer) -> LeadsSection | None:
    """None when there is no lead."""
    words, text = writer.words, writer.words.of("leads")
    if not facts.leads:
        return None
    incoming = [one for one in facts.leads if one.way == "incoming lead"]
    by_month = {one.name or "": one.leads for one in incoming if one.part == "month"}
    months = [(f"{one.month:%Y-%m}", one) for one in facts.months]
    shown = [
        ChartMonth(one.month, by_month.get(name), is_open=one.is_open)
        for name, one in months
        if name >= min(by_month, default="")
    ]

    def caution(side: str | None) -> str:
        return text(f"{side}_note") if side in ("seller", "buyer") else ""

    def table(part: str, rows: Iterable[LeadCounts], name: Callable[[LeadCounts], str]) -> PageTable | None:
        columns = [
            TableColumn[LeadCounts](
                text(part), name, note=lambda r: caution(r.name) if part == "side" else ""
            ),
            TableColumn[LeadCounts](text("leads"), lambda r: r.leads, "count", has_bar=True),
            TableColumn[LeadCounts](text("removed"), lambda r: r.removed, "count", is_minor=True),
            TableColumn[LeadCounts](text("without_home"), lambda r: r.without_home, "count"),
            TableColumn[LeadCounts](text("homes"), lambda r: r.homes, "count"),
            TableColumn[LeadCounts](text("sold"), lambda r: r.sold, "count"),
            TableColumn[LeadCounts](
                text("days_of_sellers" if part in ("office", "state") else "days"), lambda r: r.days, "count"
            ),
        ]
        return writer.table(text(f"by_{part}"), columns, list(rows))

    sides = [
        *(one for one in incoming if one.part == "side" and one.leads),
        *(one for one in facts.leads if one.part == "all" and one.way != "incoming lead" and one.leads),
    ]
    tables = [
        table(part, (one for one in incoming if one.part == part), lambda r: _named(r, words))
        for part in ("kind", "office", "state")
        if part != "office" or sum(one.part == part for one in incoming) > 1
    ]
    return LeadsSection(
        sides=table("side", sides, lambda r: words.label("sides", r.name if r.part == "side" else r.way)),
        chart=chart(text("chart"), shown, words, words.number, finest=1) if by_month else None,
        tables=[one for one in (_untouched(facts, writer), *tables) if one],
    )


def _untouched(facts: Facts, writer: Writer) -> PageTable | None:
    """Whose leads lie untouched, and how old they are."""
    words, text, rows = writer.words, writer.words.of("leads"), facts.untouched
    if not rows:
        return None
    columns = [
        TableColumn[Untouched](text("office"), lambda r: r.office_name or text("unnamed_office")),
        TableColumn[Untouched](text("valuations"), lambda r: r.valuations, "count"),
        TableColumn[Untouched](text("to_2"), lambda r: r.to_2, "count"),
        TableColumn[Untouched](text("to_7"), lambda r: r.to_7, "count"),
        TableColumn[Untouched](text("to_30"), lambda r: r.to_30, "count"),
        TableColumn[Untouched](text("longer"), lambda r: r.longer, "count"),
        TableColumn[Untouched](text("tips"), lambda r: r.tips, "count"),
    ]
    counted = max(one.counted_on for one in rows)
    return writer.table(words.text("leads.untouched", day=words.day(counted)), columns, rows)


def _named(row: LeadCounts, words: Language) -> str:
    """A documented state in words, and a kind such as AskedForPrice as Asked for price; all else as it is."""
    if not row.name:
        return words.text(f"leads.unnamed_{row.part}")
    if row.part == "state":
        return words.label("lead_states", row.name)
    if row.part == "kind" and re.fullmatch(r"([A-Z][a-z]+){2,}", row.name):
        return re.sub(r"(?<=[a-z])[A-Z]", lambda letter: f" {letter[0].lower()}", row.name)
    return row.name
