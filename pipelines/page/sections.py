"""Sections of the report page: cards, offices, leaderboard, leads, trust and coverage, for the template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import groupby, product

from pipelines.page.facts import Facts
from pipelines.page.figures import (
    COMMISSION,
    ChartMonth,
    OfficeMonths,
    Shown,
    chart,
    kronor,
    last_months,
    month_name,
    number,
    percent,
    period_name,
    ratio,
    short_kronor,
    short_number,
)

LONGEST_CHART, SHORTEST_CHART = 12, 6
MOST_COVERED_MONTHS = 36
_FIGURES = (
    ("Commission", "commission", kronor),
    ("Homes sold", "homes", short_number),
    ("Per home sold", "average", kronor),
)
_PERIODS = {"year": "Year to date", "month": "Month", "quarter": "Quarter", "twelve months": "Twelve months"}
_EARNERS = {"user": "Agents", "office": "Offices"}
_LEAD_TABLES = {"kind": "By kind", "office": "By office", "state": "By state"}
_STATES: Mapping[str, tuple[str, str]] = {
    "held": ("✓", "held"),
    "empty": ("0", "held, without a row"),
    "open": ("…", "held, the month is not over"),
    "off": ("·", "switched off, not asked any more"),
    "none": ("", "not asked so far back"),
    "refused": ("⊘", "the service gives no access"),
    "missing": ("–", "missing"),
    "back": ("!", "held back, waiting for somebody to look"),
    "failed": ("✕", "failed"),
}
"""What a square of the coverage says, from well to bad: its sign and its words."""
_BADNESS = {state: place for place, state in enumerate(_STATES)}
_MARKS = {"failed month": "failed", "held back": "back", "no access": "refused"}

_MonthStates = Mapping[tuple[str, str, date], str]  # by report, customer and month

# Headline figures, offices and leaderboard


def cards(months: OfficeMonths) -> list[Shown]:
    """One card per period; a file without a month has none, one without a whole month only the first."""
    newest, whole = months.newest, months.last_whole
    found = []
    if newest is not None and newest != whole:
        found.append(_card(months, "This month so far", [newest], is_over=False))
    if whole is not None:
        found.append(_card(months, "Last whole month", [whole]))
        found.append(_card(months, "Year to date", last_months(whole, whole.month)))
        found.append(_card(months, "Twelve months", last_months(whole, 12)))
    return found


def _card(months: OfficeMonths, title: str, period: Sequence[date], *, is_over: bool = True) -> Shown:
    """A period; one that is not over is compared with a whole one by its part only, never by growth."""
    offices, first, last = months.offices, period[0], period[-1]
    total = months.total(offices, period)
    compared = months.compared(offices, period) if is_over else None
    notes = []
    if title == "Year to date" and (end := months.progress(offices, [last], year_end=True)):
        text = f"as it goes, the year ends at {short_kronor(end.actual)}"
        notes.append(f"{text}, {percent(end.share)} of its budget")
    if not is_over:
        before = months.total(offices, [last.replace(year=last.year - 1)])
        if before.commission and before.known == before.wanted:
            part = percent(total.commission / before.commission)
            notes.append(f"{part} of the whole of {month_name(last.replace(year=last.year - 1))}")
    if total.known < total.wanted:
        missing = number(total.wanted - total.known)
        notes.append(f"{missing} of {number(total.wanted)} months of offices are not held, and not counted")
    if is_over and compared is None:
        notes.append("the year before is not held, so there is nothing to compare with")
    elif compared and compared[0].offices < len(offices):
        notes.append(f"compared over the {compared[0].offices} of {len(offices)} offices held in both")
    return {
        "title": title,
        "period": period_name(first, last),
        "figures": tuple(
            {
                "name": name,
                "value": write(getattr(total, field) if total.known else None),
                "on_year_before": ratio(*(getattr(one, field) for one in compared)) if compared else None,
            }
            for name, field, write in _FIGURES
        ),
        "progress": months.progress(offices, period),
        "notes": notes,
    }


def offices_section(months: OfficeMonths) -> Shown | None:
    """The year of each office and the months of all, those with the highest commission first.

    None when no month is held; one office has no chain beside it.
    """
    newest, oldest = months.newest, months.oldest
    if newest is None or oldest is None:
        return None
    last = months.last_whole or newest
    year = last_months(last, last.month)
    years: list[Shown] = []
    for office in months.offices:
        compared = months.compared([office], year)
        years.append(
            {
                "name": months.names[office],
                "total": months.total([office], year),
                "on_year_before": ratio(*(one.commission for one in compared)) if compared else None,
                "progress": months.progress([office], year),
                "year_end": months.progress([office], year[-1:], year_end=True),
            }
        )
    years.sort(key=lambda one: -one["total"].commission)
    budgets = [one["progress"].budget for one in years if one["progress"]]
    held = (newest.year - oldest.year) * 12 + newest.month - oldest.month + 1
    shown = last_months(newest, max(SHORTEST_CHART, min(LONGEST_CHART, held)))
    whole = _office_charts(months, "The whole chain", months.offices, shown)
    return {
        "period": period_name(year[0], last) + ("" if months.last_whole else ", so far"),
        "years": years,
        "longest": max([*(one["total"].commission for one in years), *budgets]),
        "chain": whole if len(months.offices) > 1 else None,
        "offices": [_office_charts(months, months.names[one], [one], shown) for one in months.offices],
        "has_budget": bool(budgets),
        "budget_notes": sorted({row.basis_note for row in months.budgets.values() if row.basis_note}),
    }


def _office_charts(months: OfficeMonths, name: str, offices: Sequence[str], shown: Sequence[date]) -> Shown:
    """The months of these offices together: unknown as soon as one office is, for half a chain is no month.

    Budgets are those of the offices that have one; nothing budgeted is no budget. `rows` are the columns of
    each month, the newest first.
    """
    of_measure: dict[str, list[ChartMonth]] = {COMMISSION: [], "sold estates": []}
    for measure, found in of_measure.items():
        field = "commission" if measure == COMMISSION else "sold_estate_parts"
        for month in shown:
            sums = []
            for one in (month, month.replace(year=month.year - 1)):
                values = [getattr(months.rows.get((office, one)), field, None) for office in offices]
                known = [value for value in values if value is not None]
                sums.append(sum(known, Decimal(0)) if len(known) == len(values) else None)
            rows = [months.budgets.get((office, month, measure)) for office in offices]
            budgets = [row.budget for row in rows if row is not None and row.budget is not None]
            is_open = any((row := months.rows.get((one, month))) and row.is_open for one in offices)
            found.append(ChartMonth(month, sums[0], sums[1], sum(budgets, Decimal(0)) or None, is_open))
    charts = (
        chart("Commission", of_measure[COMMISSION], kronor, short_kronor),
        chart("Homes sold", of_measure["sold estates"], short_number, short_number, finest=1),
    )
    rows_shown = list(zip(*(one["columns"][::-1] for one in charts), strict=True))
    return {"name": name, "charts": charts, "rows": rows_shown}


def leaderboards(facts: Facts) -> dict[str, list[Shown]]:
    """The boards that the file has something for, by kind of earner."""
    found: dict[str, list[Shown]] = {}
    for kind, heading in _EARNERS.items():
        for period, title in _PERIODS.items():
            earners = [one for one in facts.earners if (one["kind"], one["period"]) == (kind, period)]
            if not earners:
                continue
            first, last = earners[0], earners[0]["month"]
            count = {"month": 1, "quarter": (last.month - 1) % 3 + 1, "year": last.month, "twelve months": 12}
            board = {
                "title": title,
                "period": period_name(last_months(last, count[period])[0], last),
                "earners": earners,
                "others": max(0, first["earner_count"] - len(earners)),
                "is_complete": first["is_complete"],
            }
            found.setdefault(heading, []).append(board)
    return found


def leads_section(facts: Facts, months: Sequence[date]) -> Shown | None:
    """Leads of sellers and buyers, by month, and tables of incoming ones; none when the file has no lead."""
    if not facts.leads:
        return None
    all_of = {one["way"]: one for one in facts.leads if one["part"] == "all"}
    incoming = [one for one in facts.leads if one["way"] == "incoming lead"]
    by_month = {one["name"]: Decimal(one["leads"]) for one in incoming if one["part"] == "month"}
    shown = [ChartMonth(month, by_month.get(f"{month:%Y-%m}")) for month in months]
    tables = {title: [one for one in incoming if one["part"] == part] for part, title in _LEAD_TABLES.items()}
    return {
        "incoming": all_of.get("incoming lead"),
        "sides": {one["name"]: one for one in incoming if one["part"] == "side"},
        "outgoing": all_of.get("outgoing lead"),
        "tips": all_of.get("tip"),
        "chart": chart("Leads received", shown, number, number, finest=1) if by_month and shown else None,
        "tables": {title: rows for title, rows in tables.items() if rows},
    }


# Trust: how far the file can be believed


def verdict(facts: Facts) -> Shown:
    """What is wrong, in one sentence; its level is well, warning or error."""
    errors = sum(one["severity"] == "error" for one in facts.problems)
    open_problems = max((one["in_all"] for one in facts.problems), default=0)
    differing = sum(one["different_count"] for one in facts.agreements)
    late = sum(one.is_late for one in facts.standings)
    wrong = []
    if open_problems:
        grave = f", {errors} of them grave" if errors else ""
        wrong.append(f"{number(open_problems)} open problem{'s' if open_problems > 1 else ''}{grave}")
    if differing:
        wrong.append(f"{number(differing)} comparison{'s' if differing > 1 else ''} between reports differ")
    if late:
        wrong.append(f"{late} report{'s' if late > 1 else ''} late")
    if facts.missing:
        wrong.append("parts of the file could not be read")
    if wrong:
        sentence = ", ".join(wrong)
        level = "error" if errors else "warning"
        return {"level": level, "sign": "!", "text": f"{sentence[0].upper()}{sentence[1:]}"}
    if not facts.standings:
        return {"level": "warning", "sign": "!", "text": "Nothing has been loaded yet"}
    compared = sum(one["compared_count"] for one in facts.agreements)
    agree = f", all {number(compared)} comparisons between reports agree" if compared else ""
    text = f"Every report is fresh{agree}, and there is no open problem"
    return {"level": "well", "sign": "✓", "text": text}


def trust_section(facts: Facts) -> Shown:
    """How often the reports agree, by report and measure, and how fresh each is: its latest customer counts.

    Customers of which nothing is awaited count only where there is no other; a customer that never had a
    success leaves the report without one.
    """
    freshness = []
    for report, group in groupby(facts.standings, key=lambda one: one.report):
        customers = list(group)
        awaited = [one for one in customers if one.is_awaited]
        successes = [one.last_success_utc for one in awaited or customers]
        months = [one.newest_held_month for one in awaited or customers]
        freshness.append(
            {
                "report": report,
                "held_through": min((month for month in months if month), default=None),
                "oldest_success_utc": None if None in successes else min(one for one in successes if one),
                "due_utc": min((one.due_utc for one in awaited if one.due_utc), default=None),
                "awaited": len(awaited),
                "late": [one.customer for one in customers if one.is_late],
            }
        )
    found = {(one["compared"], one["measure"]): one for one in facts.agreements}
    measures = dict.fromkeys(measure for _, measure in found)
    agreement = {
        compared: {measure: found.get((compared, measure)) for measure in measures} for compared, _ in found
    }
    return {"freshness": freshness, "agreement": agreement}


# Coverage: which months are held, customers by months


def coverage(facts: Facts) -> Shown | None:
    """Customers by months, the newest first, over all reports and for each; none when no month is held.

    Months after that of the publication are left out: budgets of months to come are no coverage.
    """
    until = facts.publications[0]["at_utc"].date().replace(day=1) if facts.publications else date.max
    held = {one.month for one in facts.held_months if one.month and one.month <= until}
    if not held:
        return None
    first, last = min(held), max(held)
    count = (last.year - first.year) * 12 + last.month - first.month + 1
    months = last_months(last, min(count, MOST_COVERED_MONTHS))[::-1]
    customers = sorted({one.customer for one in (*facts.held_months, *facts.marks)})
    reports = sorted({one.report for one in facts.held_months if one.month in held})
    states = _month_states(facts, reports, customers, months)
    shown = {*states.values(), "held", "open"}
    return {
        "years": [(year, list(same)) for year, same in groupby(months, key=lambda month: month.year)],
        "whole": _matrix("All reports", reports, customers, months, states),
        "reports": [_matrix(one, [one], customers, months, states) for one in reports],
        "legend": [(state, *_STATES[state]) for state in _STATES if _STATES[state][0] and state in shown],
        "is_cut": count > MOST_COVERED_MONTHS,
    }


def _month_states(
    facts: Facts, reports: Sequence[str], customers: Sequence[str], months: Sequence[date]
) -> _MonthStates:
    held = {(one.report, one.customer, one.month): one for one in facts.held_months}
    first = {report: min(month for name, _, month in held if month and name == report) for report in reports}
    marks = {(one.report, one.customer, one.month): _MARKS[one.state] for one in facts.marks}
    off = {(one.report, one.customer) for one in facts.standings if not one.is_awaited}
    found: dict[tuple[str, str, date], str] = {}
    for key in product(reports, customers, months):
        report, customer, month = key
        one = held.get(key)
        if one:
            state = "open" if one.state == "open" else "held" if one.rows else "empty"
        else:
            state = "missing" if month >= first[report] else "none"
        if (report, customer) in off:
            found[key] = state if one else "off"
        else:
            refused = None if one else marks.get((report, customer, None))
            found[key] = marks.get(key) or refused or state
    return found


def _matrix(
    name: str, reports: Sequence[str], customers: Sequence[str], months: Sequence[date], states: _MonthStates
) -> Shown:
    """The worst of the reports' states in each square, equal squares side by side with their count.

    Of several reports, one that is rightly empty is held, and one that is not asked does not count.
    """
    rows: dict[str, list[Shown]] = {}
    wrong: dict[str, int] = {}
    for customer in customers:
        squares = []
        for month in months:
            of_reports = {report: states[report, customer, month] for report in reports}
            counted = ["held" if len(reports) > 1 and one == "empty" else one for one in of_reports.values()]
            asked = [state for state in counted if state not in ("none", "off")]
            worst = max(asked or ["off" if "off" in counted else "none"], key=_BADNESS.__getitem__)
            title = ""
            if _BADNESS[worst] >= _BADNESS["refused"]:
                guilty = ", ".join(report for report, state in of_reports.items() if state == worst)
                title = f"{customer}, {month_name(month)}: {_STATES[worst][1]} ({guilty})"
            for state in of_reports.values():
                if _BADNESS[state] >= _BADNESS["refused"]:
                    wrong[state] = wrong.get(state, 0) + 1
            squares.append((worst, title))
        rows[customer] = [
            {"state": state, "sign": _STATES[state][0], "title": title, "squares": len(list(same))}
            for (state, title), same in groupby(squares)
        ]
    summary = ", ".join(f"{count} {_STATES[state][1]}" for state, count in wrong.items())
    return {"name": name, "summary": summary or "nothing is missing", "is_complete": not wrong, "rows": rows}
