"""Sections about sales: recent changes, outstanding commission, the funnel, and cancelled sales."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from decimal import Decimal
from zoneinfo import ZoneInfo

from pipelines.page.charts import Chart, Series, chart, stacked_spans
from pipelines.page.facts import Facts, Row
from pipelines.page.language import Language, local_day
from pipelines.page.tables import PageColumn, PageTable, Section, Writer, oldest_reading_notes, total_row

MAX_SALES = 20
MIN_FOR_PERCENT = 25
"""Sales are shown in percent of valuations only if there are at least this many valuations."""
AGE_COLUMNS = {
    "outstanding": "outstanding", "not_due": "not_due", "to_30": "due_to_30", "to_60": "due_to_60",
    "longer": "due_longer", "undated": "undated",
}  # fmt: skip
"""Names in words.toml, each with its column of receivables.sql: the total, then the amount of each age."""
CHANGE = (
    PageColumn("office", "office_name"),
    PageColumn("before", "amount_before", "money", is_minor=True),
    PageColumn("after", "amount_after", "money", is_minor=True),
    PageColumn("difference", kind="signed money"),
)
STATES = ("received", "signed", "due", "late")
"""Commission is received, not yet due (signed), due for up to 30 days, or due for longer (late)."""


def changes_section(facts: Facts, writer: Writer, timezone: ZoneInfo) -> Section:
    """Changes since an earlier publication, or a note if there is no earlier publication."""
    words = writer.words
    subjects = ("sales", "agents", "budgets")
    since = local_day(facts.basis[0].since_utc, timezone) if facts.basis else None
    if since is None:
        notes = [words.text("changes.first")]
        return Section("changes", words.text("changes.heading"), subjects, notes=notes)
    figures = [
        _count_with_amount(kind, len(amounts), amounts, words)
        for kind in ("new", "gone", "changed", "moved")
        if (amounts := [sale.difference for sale in facts.changed_sales if sale.change == kind])
    ] + _month_figures(facts, words)
    if agents := {row.agent for row in facts.changed_agents}:
        figures.append(words.text("changes.agents_changed", len(agents)))
    for name, is_new in (("budgets_entered", True), ("budgets_changed", False)):
        offices = {row.office_id for row in facts.budget_changes if (row.amount_before is None) is is_new}
        if offices:
            figures.append(words.text(f"changes.{name}", len(offices)))
    return Section(
        "changes", words.text("changes.heading_since", day=words.day(since)), subjects,
        figures=figures or [words.text("changes.nothing")],
        collapsed=[
            _changed_sales(facts, writer),
            _changed_months(facts, writer, timezone),
            _changed_agents(facts, writer),
            _changed_budgets(facts, writer),
            _coming_budgets(facts, writer),
        ],
    )  # fmt: skip


def _count_with_amount(
    key: str, count: int, amounts: Iterable[Decimal], words: Language, **values: object
) -> str:
    amount = words.compact(sum(amounts, Decimal(0)), has_plus=True)
    return words.text(f"changes.{key}", count, amount=amount, **values)


def _month_figures(facts: Facts, words: Language) -> list[str]:
    # is_late: the change was noted before the earlier publication, but its reason only after that
    changed, explained = (
        {(row.office_id, row.month): row.difference for row in facts.changes if row.is_late is is_late}
        for is_late in (False, True)
    )
    figures = []
    if changed:
        offices, months = {office for office, _ in changed}, {month for _, month in changed}
        name = "months" if len(offices) == 1 else "months_of_offices"
        values = {"offices": len(offices), "month": words.month(min(months))}
        figures.append(_count_with_amount(name, len(months), changed.values(), words, **values))
    if explained:
        figures.append(_count_with_amount("late", len(explained), explained.values(), words))
    return figures


def _home_label(home: str | None, number: str | None, words: Language) -> str:
    """A home by address and number, because neither alone is always unique."""
    return f"{home} ({number})" if home and number else home or words.text("changes.numbered", number=number)


def _changed_sales(facts: Facts, writer: Writer) -> PageTable | None:
    words = writer.words
    columns = [
        PageColumn("home", lambda row: _home_label(row.home, row.home_number, words), "words"),
        PageColumn("what", lambda row: words.label("sale_changes", row.change), note=_totals_note(words)),
        PageColumn("office", "office_name"),
        PageColumn("agents", kind="words"),
        PageColumn("contract", "contract_on", "day"),
        PageColumn("before", "commission_before", "money", is_minor=True),
        PageColumn("after", "commission", "money", is_minor=True),
        PageColumn("difference", kind="signed money"),
    ]
    name = words.text("changes.sales_table")
    return writer.table(name, "changes", columns, facts.changed_sales, limit=MAX_SALES)


def _totals_note(words: Language) -> Callable[[Row], str]:
    return lambda row: "" if row.is_in_totals else words.text("cancelled.not_in_totals")


def _changed_months(facts: Facts, writer: Writer, timezone: ZoneInfo) -> PageTable | None:
    words = writer.words
    rows: dict[tuple[str, date, bool], Row] = {}
    for row in facts.changes:
        month_row = rows.setdefault((row.office_id, row.month, row.is_late), row.with_columns(reasons=[]))
        if row.kind:
            month_row.reasons.append(f"{_reason(row, words)} {words.signed(row.amount)}")
    columns = [
        PageColumn("month", kind="month"),
        *CHANGE,
        PageColumn("reason", lambda row: "; ".join(row.reasons), "words"),
        PageColumn("noted", lambda row: local_day(row.noted_at_utc, timezone), "day", is_minor=True),
    ]
    return writer.table(words.text("changes.closed"), "changes", columns, [*rows.values()], limit=MAX_SALES)


def _changed_agents(facts: Facts, writer: Writer) -> PageTable | None:
    name = writer.words.text("changes.agents_table")
    columns = (PageColumn("month", kind="month"), PageColumn("agents", "agent"), *CHANGE)
    return writer.table(name, "changes", columns, facts.changed_agents, limit=MAX_SALES)


def _reason(row: Row, words: Language) -> str:
    month = words.month(row.other_month) if row.other_month else None
    other = ", ".join(filter(None, (row.other_office, month)))
    kind = words.label("reasons", f"{row.kind} moved" if other else row.kind)
    if row.is_sale:
        return f"{_home_label(row.home, row.home_number, words)}: {kind} {other}".strip()
    if row.agent:
        return f"{row.agent}: {kind}"
    awaited = [words.label("awaited", report) for report in row.awaited_reports or ()]
    return f"{kind} {', '.join(awaited)}" if awaited else kind


def _changed_budgets(facts: Facts, writer: Writer) -> PageTable | None:
    words = writer.words

    def agents(row: Row) -> str:
        changed = zip(row.agents, row.agents_differences, strict=True)
        return ", ".join(f"{name} {words.signed(amount)}" for name, amount in changed)

    def read_note(row: Row) -> str:
        months = words.months(row.read_first_months)
        return words.text("changes.read_first", months=months) if months else ""

    columns = [
        PageColumn("period", lambda row: words.period(row.first_month, row.last_month), note=read_note),
        *CHANGE,
        PageColumn("agents", lambda row: agents(row), "words"),
    ]
    return writer.table(words.text("changes.budget_table"), "changes", columns, facts.budget_changes)


def _coming_budgets(facts: Facts, writer: Writer) -> PageTable | None:
    words, rows = writer.words, facts.coming_budgets
    if not rows:
        return None
    columns = [
        PageColumn("office", "office_name"),
        PageColumn("agents", kind="count"),
        *(PageColumn(name, kind="money") for name in ("budget", "budget_before")),
    ]
    first, last = rows[0].first_month, rows[0].last_month
    name = words.text("coming.heading", year=first.year, period=words.period(first, last))
    total = total_row(rows, office_name=words.text("offices.all"))
    return writer.table(name, "coming", columns, rows, total=total)


def owed_section(facts: Facts, writer: Writer) -> Section | None:
    """Unpaid commission by age and office, overdue commission by sale, and commission by month of possession.

    A note names the offices that have never recorded a payment; their commission is left out. Returns None if
    neither `receivables` nor `money` has rows.
    """
    words = writer.words
    if not (facts.receivables or facts.money):
        return None
    receivables = [row for row in facts.receivables if row.is_receipt_noted]
    left_out = [row.office_name for row in facts.receivables if not row.is_receipt_noted]
    sums = {name: sum(getattr(row, column) for row in receivables) for name, column in AGE_COLUMNS.items()}
    ages = [name for name in AGE_COLUMNS if sums[name] or name != "undated"] if receivables else []
    figures = [f"{words.text(f'owed.{name}').lower()} {words.compact(sums[name])}" for name in ages]
    office_columns = [
        PageColumn("office", "office_name"),
        PageColumn("homes", kind="count", is_minor=True),
        *(PageColumn(name, column, "money") for name, column in AGE_COLUMNS.items()),
        PageColumn("longest", "longest_days", "count"),
    ]  # fmt: skip
    sale_columns = [
        PageColumn("home"),
        PageColumn("office", "office_name"),
        PageColumn("agent"),
        PageColumn("possession", "access_on", "day"),
        PageColumn("days", "days_due", "count"),
        PageColumn("to_come", "to_be_received_on", "day", is_minor=True),
        PageColumn("amount", "due", "money"),
    ]
    due_sales = sorted(facts.due_sales, key=lambda row: (-row.days_due, -row.due))
    counted_on = max((row.counted_on for row in receivables), default=None)
    notes = [words.text("owed.counted", day=words.day(counted_on))] if counted_on else []
    notes += oldest_reading_notes(receivables, "owed", words)
    if left_out and writer.is_one_office:
        notes = [words.text("owed.no_payments")]
    elif left_out:
        figures += [words.text("owed.without", len(left_out))] if receivables else []
        notes.append(words.text("owed.left_out", len(left_out), offices=", ".join(left_out)))
    has_vat = any(row.commission_vat == "included" for row in facts.basis)
    suffix = f" ({words.text('basis.with_vat')})" if has_vat else ""
    month_chart, money_table = _money_by_month(facts, writer, suffix)
    rows = receivables if len(facts.receivables) > 1 else []  # for a single office the figures are enough
    longest_days = max((row.longest_days or 0 for row in receivables), default=0)
    total = total_row(rows, office_name=words.text("offices.all"), longest_days=longest_days)
    return Section(
        "owed", words.text("figures.outstanding") + suffix, ("sales",), figures=figures, notes=notes,
        charts=[month_chart] if month_chart else [],
        collapsed=[
            writer.table(words.text("owed.caption"), "owed", office_columns, rows, total=total),
            writer.table(words.text("owed.caption_due"), "owed", sale_columns, due_sales, limit=MAX_SALES),
            money_table,
        ],
    )  # fmt: skip


def _money_by_month(facts: Facts, writer: Writer, suffix: str) -> tuple[Chart | None, PageTable | None]:
    words, rows = writer.words, facts.money
    if not rows:
        return None, None
    names, first = [words.month(row.month)[:3] for row in rows], rows[0].month
    if overdue := sum(sale.due for sale in facts.due_sales if sale.access_on < first):
        older = {**dict.fromkeys(STATES, Decimal(0)), "received": None, "late": overdue}
        rows = (Row(month=words.text("money.older"), **older), *rows)
        names = [words.text("money.older_on_axis"), *names]
    spans = stacked_spans([[getattr(row, state) or 0 for row in rows] for state in STATES])
    series = [
        Series(words.text(f"money.{state}"), state, parts) for state, parts in zip(STATES, spans, strict=True)
    ]
    zeros = [None if any(getattr(row, state) for state in STATES) else (0, 0) for row in rows]
    series.append(Series("", STATES[0], zeros))  # gives a month without an amount the tooltip 0
    name = words.text("figures.money_to_come") + suffix
    columns = [
        PageColumn("page.month", "month", "month"),
        *(PageColumn(state, kind="money") for state in STATES),
    ]
    return chart(name, names, series, words.compact), writer.table(name, "money", columns, rows)


def funnel_section(facts: Facts, writer: Writer) -> Section | None:
    """Valuations and homes sold in twelve months, and intake sources; None if nothing was valued or sold."""
    words = writer.words
    row = next(iter(facts.funnel), None)
    if row is None or not (row.valuations or row.homes):
        return None
    sums = {"valuations": words.tenths(row.valuations), "homes": words.tenths(row.homes)}
    notes = []
    if row.homes is not None and max(row.homes, MIN_FOR_PERCENT) <= (row.valuations or 0):
        notes.append(words.text("funnel.share", share=words.percent(row.homes / row.valuations)))
    return Section(
        "funnel", words.text("funnel.heading"), ("commission",), is_open=False,
        figures=[words.text("funnel.figures", **sums)], collapsed=[_intake(facts, writer)], notes=notes,
    )  # fmt: skip


def _intake(facts: Facts, writer: Writer) -> PageTable | None:
    words = writer.words
    columns = [
        PageColumn("source", lambda row: row.source or words.text("funnel.unnamed")),
        PageColumn("homes", kind="count", has_bar=True),
        PageColumn("commission", kind="money"),
        PageColumn("figures.fee", kind="fee"),
    ]
    return writer.table(words.text("funnel.intake"), "funnel", columns, facts.intake)


def cancelled_section(facts: Facts, writer: Writer) -> Section | None:
    """The sales found cancelled since the start of the year that the page shows; None if there are none."""
    words, rows = writer.words, facts.cancelled
    if not rows:
        return None
    columns = [
        PageColumn("home", note=_totals_note(words)),
        PageColumn("number", "home_number", is_minor=True),
        PageColumn("office", "office_name"),
        PageColumn("agents", kind="words"),
        PageColumn("contract", "contract_on", "day", is_minor=True),
        PageColumn("month", kind="month"),
        PageColumn("noted", "noted_on", "day"),
        PageColumn("commission", kind="money"),
    ]
    amount = words.compact(sum((row.commission or Decimal(0) for row in rows), Decimal(0)))
    since = words.text("cancelled.since", day=words.day(max(row.known_since_on for row in rows)))
    return Section(
        "cancelled", words.text("cancelled.heading"), ("sales",), is_open=False,
        figures=[words.text("cancelled.figure", len(rows), amount=amount)], notes=[since],
        collapsed=[writer.table(words.text("cancelled.which"), "cancelled", columns, rows)],
    )  # fmt: skip
