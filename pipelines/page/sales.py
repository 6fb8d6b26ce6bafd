"""Sections about sales: what changed since an earlier publication, what is cancelled or not received."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from zoneinfo import ZoneInfo

from pipelines.page.facts import (
    BudgetChange,
    Cancelled,
    ChangedMonth,
    ChangeReason,
    DueSale,
    Facts,
    Receivable,
)
from pipelines.page.language import Language, local_day
from pipelines.page.tables import Cell, Column, Table, Writer


@dataclass(frozen=True)
class Changes:
    """What changed since an earlier publication: figures in one line, and two tables."""

    since: str
    figures: list[Cell]
    months: Table | None
    budgets: Table | None


def changes_section(facts: Facts, writer: Writer, timezone: ZoneInfo) -> Changes | None:
    """None where there is no earlier publication."""
    words = writer.words
    if not facts.basis or facts.basis[0].since_utc is None:
        return None
    figures = [
        writer.phrase(f"changes.{name}", count, amount, has_plus=True)
        for row in facts.sales_since
        for name, count, amount in (
            ("new", row.new_count, row.new_commission),
            ("gone", row.gone_count, row.gone_commission),
            ("changed", row.changed_count, row.changed_commission),
        )
        if count
    ]
    if facts.changes:
        for name, is_late in (("months", False), ("late", True)):
            found = [one.difference for one in facts.changes if one.is_told_late == is_late]
            if found:
                figures.append(
                    writer.phrase(f"changes.{name}", len(found), sum(found, Decimal(0)), has_plus=True)
                )
    if facts.budget_changes:
        figures.append(writer.cell("words", words.text("changes.budgets", len(facts.budget_changes))))
    return Changes(
        since=words.day(local_day(facts.basis[0].since_utc, timezone)),
        figures=figures or [writer.cell("words", words.text("changes.nothing"))],
        months=_changed_months(facts, writer, timezone),
        budgets=_changed_budgets(facts, writer),
    )


@dataclass(frozen=True)
class Explained:
    """A changed month with one of its reasons."""

    month: ChangedMonth
    reason: ChangeReason | None

    @property
    def amount(self) -> Decimal | None:
        return self.reason.amount if self.reason else None


def _changed_months(facts: Facts, writer: Writer, timezone: ZoneInfo) -> Table | None:
    """Closed months that changed, each with a row for each of its reasons."""
    words, less = writer.words, writer.without
    rows: list[Explained] = []
    for month in facts.changes:
        key = (month.office_id, month.month, month.is_told_late)
        reasons = [one for one in facts.change_reasons if (one.office_id, one.month, one.is_told_late) == key]
        rows += [Explained(month, one) for one in reasons] or [Explained(month, None)]

    def noted(row: Explained) -> date:
        at_utc = row.reason.noted_at_utc if row.reason else None
        return local_day(at_utc or row.month.noted_at_utc, timezone)

    def text(key: str) -> str:
        return words.text(f"changes.{key}")

    columns = [
        Column[Explained](text("office"), lambda r: r.month.office_name),
        Column[Explained](text("month"), lambda r: r.month.month, "month"),
        Column[Explained](text("before"), lambda r: r.month.amount_before, "money", is_minor=True),
        Column[Explained](text("after"), lambda r: r.month.amount_after, "money", is_minor=True),
        Column[Explained](
            text("difference"),
            lambda r: r.month.difference,
            "signed money",
            lambda r: less(r.month.difference),
        ),
        Column[Explained](text("reason"), lambda r: _reason(r.reason, words) if r.reason else None, "words"),
        Column[Explained](text("explains"), lambda r: r.amount, "signed money", lambda r: less(r.amount)),
        Column[Explained](text("noted"), noted, "day", is_minor=True),
    ]
    return writer.table(text("closed"), columns, rows)


def _reason(reason: ChangeReason, words: Language) -> str:
    """What explains a part of a change, by its kind: a sale, an agent, nobody, or what is still awaited."""
    kind = words.label("reasons", reason.kind)
    if reason.estate_id:
        home = reason.home or words.text("changes.numbered", number=reason.home_number)
        month = words.month(reason.other_month) if reason.other_month else None
        other = ", ".join(filter(None, (reason.other_office, month)))
        return f"{home}: {kind} ({other})" if other else f"{home}: {kind}"
    if reason.agent:
        return f"{reason.agent}: {kind}"
    awaited = [words.label("awaited", one) for one in (reason.awaited_reports or "").split(", ") if one]
    return f"{kind} {', '.join(awaited)}" if awaited else kind


def _changed_budgets(facts: Facts, writer: Writer) -> Table | None:
    words = writer.words

    def text(key: str) -> str:
        return words.text(f"changes.{key}")

    columns = [
        Column[BudgetChange](text("office"), lambda r: r.office_name),
        Column[BudgetChange](text("period"), lambda r: words.period(r.first_month, r.last_month)),
        Column[BudgetChange](text("before"), lambda r: r.amount_before, "stated money"),
        Column[BudgetChange](text("after"), lambda r: r.amount_after, "stated money"),
        Column[BudgetChange](text("difference"), lambda r: r.difference, "signed money"),
        Column[BudgetChange](text("agents"), lambda r: r.agents, "count"),
    ]
    return writer.table(text("budget_table"), columns, facts.budget_changes)


@dataclass(frozen=True)
class Owed:
    """Commission that is signed and not received: sums by age, offices, and the sales due longest."""

    bands: list[tuple[str, str]]
    offices: Table | None
    sales: Table | None
    unnoted: int
    counted: str


def owed_section(facts: Facts, writer: Writer) -> Owed:
    """By how long it has been due, the most overdue office first."""
    words = writer.words
    noted = [one for one in facts.receivables if one.is_receipt_noted]

    def text(key: str) -> str:
        return words.text(f"owed.{key}")

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
        Column[Receivable](text("office"), lambda r: r.office_name),
        Column[Receivable](text("homes"), lambda r: r.homes, "count", is_minor=True),
        *(Column[Receivable](text(name), value, "stated money") for name, value in bands),
    ]
    sales = [
        Column[DueSale](text("home"), lambda r: r.home),
        Column[DueSale](text("agent"), lambda r: r.agent),
        Column[DueSale](text("possession"), lambda r: r.access_on, "day"),
        Column[DueSale](text("days"), lambda r: r.days_due, "count"),
        Column[DueSale](text("to_come"), lambda r: r.to_be_received_on, "day", is_minor=True),
        Column[DueSale](text("amount"), lambda r: r.due, "stated money"),
    ]
    return Owed(
        bands=[(text(name), words.brief(amount)) for name, amount in sums if amount or name != "undated"]
        if noted
        else [],
        offices=writer.table(text("caption"), offices, noted) if len(facts.receivables) > 1 else None,
        sales=writer.table(
            text("caption_due"), sales, sorted(facts.due_sales, key=lambda r: (-r.days_due, -r.due))
        ),
        unnoted=len(facts.receivables) - len(noted),
        counted=words.day(max(one.counted_on for one in noted)) if noted else "",
    )


@dataclass(frozen=True)
class CancelledSales:
    """How many sales were cancelled this year, their commission, and which."""

    figure: Cell
    table: Table | None


def cancelled_section(facts: Facts, writer: Writer) -> CancelledSales | None:
    """None where none was."""
    words, rows = writer.words, facts.cancelled
    if not rows:
        return None
    amount = sum((one.commission or Decimal(0) for one in rows), Decimal(0))

    def text(key: str) -> str:
        return words.text(f"cancelled.{key}")

    columns = [
        Column[Cancelled](text("home"), lambda r: r.home),
        Column[Cancelled](text("office"), lambda r: r.office_name),
        Column[Cancelled](text("agents"), lambda r: r.agents, "words"),
        Column[Cancelled](text("contract"), lambda r: r.contract_on, "day", is_minor=True),
        Column[Cancelled](text("month"), lambda r: r.month, "month"),
        Column[Cancelled](text("noted"), lambda r: r.noted_on, "day"),
        Column[Cancelled](text("commission"), lambda r: r.commission, "money"),
    ]
    figure = writer.phrase("cancelled.figure", len(rows), amount)
    return CancelledSales(figure, writer.table(text("heading"), columns, rows))
