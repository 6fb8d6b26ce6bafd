"""Section about leads: from whom they come, when, of which kind, and what became of the homes they name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pipelines.page.charts import Chart, ChartMonth, chart
from pipelines.page.facts import Facts, Leads
from pipelines.page.language import Language
from pipelines.page.tables import Column, Table, Writer


@dataclass(frozen=True)
class LeadsSection:
    """Leads by side and way, by month, kind, state and office."""

    sides: Table | None
    chart: Chart | None
    tables: list[Table]


def leads_section(facts: Facts, writer: Writer) -> LeadsSection | None:
    """None when there is no lead."""
    words = writer.words
    if not facts.leads:
        return None
    incoming = [one for one in facts.leads if one.way == "incoming lead"]
    by_month = {one.name or "": one.leads for one in incoming if one.part == "month"}
    months = [one.month for one in facts.months if f"{one.month:%Y-%m}" >= min(by_month, default="")]
    shown = [ChartMonth(one, by_month.get(f"{one:%Y-%m}"), is_open=one == months[-1]) for one in months]

    def table(part: str, rows: Iterable[Leads], name: Callable[[Leads], str]) -> Table | None:
        columns = [
            Column[Leads](words.text(f"leads.{part}"), name),
            Column[Leads](words.text("leads.leads"), lambda r: r.leads, "count", has_bar=True),
            Column[Leads](words.text("leads.removed"), lambda r: r.removed, "count", is_minor=True),
            Column[Leads](words.text("leads.without_home"), lambda r: r.without_home, "count"),
            Column[Leads](words.text("leads.homes"), lambda r: r.homes, "count"),
            Column[Leads](words.text("leads.sold"), lambda r: r.sold, "count"),
            Column[Leads](words.text("leads.days"), lambda r: r.days, "count"),
        ]
        return writer.table(words.text(f"leads.by_{part}"), columns, list(rows))

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
        chart=chart(words.text("leads.chart"), shown, words, words.number, finest=1) if by_month else None,
        tables=[one for one in tables if one],
    )


def _named(row: Leads, words: Language) -> str:
    """A documented state in words, and a kind such as AskedForPrice as Asked for price; all else as it is."""
    if not row.name:
        return words.text(f"leads.unnamed_{row.part}")
    if row.part == "state":
        return words.label("lead_states", row.name)
    if row.part == "kind" and re.fullmatch(r"([A-Z][a-z]+){2,}", row.name):
        return re.sub(r"(?<=[a-z])[A-Z]", lambda letter: f" {letter[0].lower()}", row.name)
    return row.name
