"""Sections about sales: what changed since an earlier publication, what is cancelled or not received."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from zoneinfo import ZoneInfo

from pipelines.page.facts import (
    Cancelled,
    ChangedBudget,
    ChangedMonth,
    ChangedSale,
    ComingBudget,
    DueSale,
    Facts,
    Receivable,
)
from pipelines.page.language import Language, local_day
from pipelines.page.tables import Cell, PageTable, TableColumn, Writer

MOST_SALES = 20


@dataclass(frozen=True)
class Changes:
    """What changed since an earlier publication: figures in one line, and tables behind it."""

    since: str
    figures: list[Cell]
    tables: list[PageTable | None]


def changes_section(facts: Facts, writer: Writer, timezone: ZoneInfo) -> Changes | None:
    """None where there is no earlier publication."""
    words = writer.words
    since = local_day(facts.basis[0].since_utc, timezone) if facts.basis else None
    if since is None:
        return None
    figures = [
        writer.phrase(f"changes.{kind}", len(amounts), sum(amounts, Decimal(0)), has_plus=True)
        for kind in ("new", "gone", "changed")
        if (amounts := [one.difference for one in facts.changed_sales if one.change == kind])
    ] + _months_that_changed(facts, writer)
    for name, budgets in (
        ("budgets_entered", [one for one in facts.budget_changes if one.amount_before is None]),
        ("budgets_changed", [one for one in facts.budget_changes if one.amount_before is not None]),
    ):
        if offices := {one.office_id for one in budgets}:
            figures.append(writer.cell("words", words.text(f"changes.{name}", len(offices))))
    return Changes(
        since=words.day(since),
        figures=figures or [writer.cell("words", words.text("changes.nothing"))],
        tables=[
            _changed_sales(facts, writer),
            _changed_months(facts, writer, timezone),
            _changed_budgets(facts, writer),
            _coming_budgets(facts, writer),
        ],
    )


def _months_that_changed(facts: Facts, writer: Writer) -> list[Cell]:
    """How many closed months changed, at how many offices, and how many earlier changes have a reason now."""
    changed = {(one.office_id, one.month): one.difference for one in facts.changes if not one.is_told_late}
    late = {(one.office_id, one.month): one.difference for one in facts.changes if one.is_told_late}
    figures = []
    if changed:
        offices = len({office for office, _ in changed})
        name = "months" if offices == 1 else "months_of_offices"
        count, amount = len({month for _, month in changed}), sum(changed.values(), Decimal(0))
        figures.append(writer.phrase(f"changes.{name}", count, amount, has_plus=True, offices=offices))
    if late:
        figures.append(
            writer.phrase("changes.late", len(late), sum(late.values(), Decimal(0)), has_plus=True)
        )
    return figures


def _home(home: str | None, number: str | None, words: Language) -> str:
    """A home by its address and number, as either may be another's too."""
    return f"{home} ({number})" if home and number else home or words.text("changes.numbered", number=number)


def _changed_sales(facts: Facts, writer: Writer) -> PageTable | None:
    words, text = writer.words, writer.words.of("changes")
    columns = [
        TableColumn[ChangedSale](text("home"), lambda r: _home(r.home, r.home_number, words), "words"),
        TableColumn[ChangedSale](text("what"), lambda r: words.label("sale_changes", r.change)),
        TableColumn[ChangedSale](text("office"), lambda r: r.office_name),
        TableColumn[ChangedSale](text("agents"), lambda r: r.agents, "words"),
        TableColumn[ChangedSale](text("contract"), lambda r: r.contract_on, "day"),
        TableColumn[ChangedSale](text("before"), lambda r: r.commission_before, "money", is_minor=True),
        TableColumn[ChangedSale](text("after"), lambda r: r.commission, "money", is_minor=True),
        TableColumn[ChangedSale](text("difference"), lambda r: r.difference, "signed money"),
    ]
    return writer.table(text("sales_table"), columns, facts.changed_sales, most=MOST_SALES)


def _changed_months(facts: Facts, writer: Writer, timezone: ZoneInfo) -> PageTable | None:
    """Closed months that changed, a row for each reason; in the file the amounts of a month are in one."""
    words, text = writer.words, writer.words.of("changes")

    def is_first(row: ChangedMonth) -> bool:
        return row.is_first_reason

    columns = [
        TableColumn[ChangedMonth](text("office"), lambda r: r.office_name),
        TableColumn[ChangedMonth](text("month"), lambda r: r.month, "month"),
        TableColumn[ChangedMonth](
            text("before"), lambda r: r.amount_before, "money", is_minor=True, is_in_file=is_first
        ),
        TableColumn[ChangedMonth](
            text("after"), lambda r: r.amount_after, "money", is_minor=True, is_in_file=is_first
        ),
        TableColumn[ChangedMonth](
            text("difference"), lambda r: r.difference, "signed money", is_in_file=is_first
        ),
        TableColumn[ChangedMonth](text("reason"), lambda r: _reason(r, words), "words"),
        TableColumn[ChangedMonth](text("contract"), lambda r: r.contract_on, "day", is_minor=True),
        TableColumn[ChangedMonth](text("explains"), lambda r: r.amount, "signed money"),
        TableColumn[ChangedMonth](
            text("noted"), lambda r: local_day(r.noted_at_utc, timezone), "day", is_minor=True
        ),
    ]
    return writer.table(text("closed"), columns, facts.changes, most=2 * MOST_SALES)


def _reason(row: ChangedMonth, words: Language) -> str | None:
    """What explains a part of a change, by its kind: a sale, an agent, nobody, or what is still awaited."""
    if row.kind is None:
        return None
    month = words.month(row.other_month) if row.other_month else None
    other = ", ".join(filter(None, (row.other_office, month)))
    kind = words.label("reasons", f"{row.kind} moved" if other else row.kind)
    if row.is_of_sale:
        return f"{_home(row.home, row.home_number, words)}: {kind} {other}".strip()
    if row.agent:
        return f"{row.agent}: {kind}"
    awaited = [words.label("awaited", one) for one in row.awaited_reports or ()]
    return f"{kind} {', '.join(awaited)}" if awaited else kind


def _changed_budgets(facts: Facts, writer: Writer) -> PageTable | None:
    words, text = writer.words, writer.words.of("changes")

    def agents(row: ChangedBudget) -> str:
        changed = zip(row.agents, row.agents_differences, strict=True)
        return ", ".join(f"{name} {words.signed(amount)}" for name, amount in changed)

    def read_first(row: ChangedBudget) -> str:
        months = words.months(row.read_first_months)
        return words.text("changes.read_first", months=months) if months else ""

    columns = [
        TableColumn[ChangedBudget](text("office"), lambda r: r.office_name),
        TableColumn[ChangedBudget](
            text("period"), lambda r: words.period(r.first_month, r.last_month), note=read_first
        ),
        TableColumn[ChangedBudget](text("before"), lambda r: r.amount_before, "stated money"),
        TableColumn[ChangedBudget](text("after"), lambda r: r.amount_after, "stated money"),
        TableColumn[ChangedBudget](text("difference"), lambda r: r.difference, "stated signed money"),
        TableColumn[ChangedBudget](text("agents"), agents, "words"),
    ]
    return writer.table(text("budget_table"), columns, facts.budget_changes)


def _coming_budgets(facts: Facts, writer: Writer) -> PageTable | None:
    """How far the budgets of the coming year are entered; none as long as nobody has one."""
    words, text, rows = writer.words, writer.words.of("coming"), facts.coming_budgets
    if not rows:
        return None
    columns = [
        TableColumn[ComingBudget](text("office"), lambda r: r.office_name),
        TableColumn[ComingBudget](text("agents"), lambda r: r.agents, "count"),
        TableColumn[ComingBudget](text("agents_before"), lambda r: r.agents_before, "count"),
        TableColumn[ComingBudget](text("budget"), lambda r: r.budget, "stated money"),
        TableColumn[ComingBudget](text("budget_before"), lambda r: r.budget_before, "stated money"),
    ]
    heading = words.text(
        "coming.heading",
        period=words.period(rows[0].first_month, rows[0].last_month),
        known=words.number(sum(one.agents for one in rows)),
        all=words.number(sum(one.agents_before for one in rows)),
    )
    return writer.table(heading, columns, rows)


@dataclass(frozen=True)
class Owed:
    """Commission that is signed and not received: sums by age, offices, and the sales due longest."""

    bands: list[tuple[str, str]]
    offices: PageTable | None
    sales: PageTable | None
    unnoted: int
    counted: str


def owed_section(facts: Facts, writer: Writer) -> Owed:
    """By how long it has been due, the most overdue office first."""
    words, text = writer.words, writer.words.of("owed")
    noted = [one for one in facts.receivables if one.is_receipt_noted]
    bands: list[tuple[str, Callable[[Receivable], Decimal | None]]] = [
        ("outstanding", lambda r: r.outstanding),
        ("not_due", lambda r: r.not_due),
        ("to_30", lambda r: r.due_to_30),
        ("to_60", lambda r: r.due_to_60),
        ("longer", lambda r: r.due_longer),
        ("undated", lambda r: r.undated),
    ]
    sums = [(name, sum((value(one) or Decimal(0) for one in noted), Decimal(0))) for name, value in bands]
    offices = [
        TableColumn[Receivable](text("office"), lambda r: r.office_name),
        TableColumn[Receivable](text("homes"), lambda r: r.homes, "count", is_minor=True),
        *(TableColumn[Receivable](text(name), value, "stated money") for name, value in bands),
        TableColumn[Receivable](text("longest"), lambda r: r.longest_days, "count"),
    ]
    sales = [
        TableColumn[DueSale](text("home"), lambda r: r.home),
        TableColumn[DueSale](text("office"), lambda r: r.office_name),
        TableColumn[DueSale](text("agent"), lambda r: r.agent),
        TableColumn[DueSale](text("possession"), lambda r: r.access_on, "day"),
        TableColumn[DueSale](text("days"), lambda r: r.days_due, "count"),
        TableColumn[DueSale](text("to_come"), lambda r: r.to_be_received_on, "day", is_minor=True),
        TableColumn[DueSale](text("amount"), lambda r: r.due, "stated money"),
    ]
    longest = sorted(facts.due_sales, key=lambda r: (-r.days_due, -r.due))
    return Owed(
        bands=[(text(name), words.brief(amount)) for name, amount in sums if amount or name != "undated"]
        if noted
        else [],
        offices=writer.table(text("caption"), offices, noted) if len(facts.receivables) > 1 else None,
        sales=writer.table(text("caption_due"), sales, longest, most=MOST_SALES),
        unnoted=len(facts.receivables) - len(noted),
        counted=words.day(max(one.counted_on for one in noted)) if noted else "",
    )


@dataclass(frozen=True)
class CancelledSales:
    """How many sales were cancelled this year, their commission, since when that is noticed, and which."""

    figure: Cell
    since: str
    table: PageTable | None


def cancelled_section(facts: Facts, writer: Writer) -> CancelledSales | None:
    """None where none was."""
    words, rows, text = writer.words, facts.cancelled, writer.words.of("cancelled")
    if not rows:
        return None
    amount = sum((one.commission or Decimal(0) for one in rows), Decimal(0))
    columns = [
        TableColumn[Cancelled](text("home"), lambda r: r.home),
        TableColumn[Cancelled](text("number"), lambda r: r.home_number, is_minor=True),
        TableColumn[Cancelled](text("office"), lambda r: r.office_name),
        TableColumn[Cancelled](text("agents"), lambda r: r.agents, "words"),
        TableColumn[Cancelled](text("contract"), lambda r: r.contract_on, "day", is_minor=True),
        TableColumn[Cancelled](text("month"), lambda r: r.month, "month"),
        TableColumn[Cancelled](text("noted"), lambda r: r.noted_on, "day"),
        TableColumn[Cancelled](text("commission"), lambda r: r.commission, "money"),
    ]
    return CancelledSales(
        figure=writer.phrase("cancelled.figure", len(rows), amount),
        since=words.text("cancelled.since", day=words.day(max(one.known_since_on for one in rows))),
        table=writer.table(text("heading"), columns, rows),
    )
