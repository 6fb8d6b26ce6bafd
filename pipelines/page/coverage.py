"""Coverage: which months are held, customers by months, over all reports and for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from pipelines.page.comparison import last_months
from pipelines.page.facts import Facts
from pipelines.page.numbers import month_name

MOST_MONTHS = 36


@dataclass(frozen=True)
class MonthState:
    """What a square says: its sign and its words."""

    name: str
    sign: str
    words: str


STATES = {
    state.name: state
    for state in (
        MonthState("held", "✓", "held"),
        MonthState("empty", "0", "held, without a row"),
        MonthState("open", "…", "held, the month is not over"),
        MonthState("off", "·", "switched off, not asked any more"),
        MonthState("none", "", "not asked so far back"),
        MonthState("refused", "⊘", "the service gives no access"),
        MonthState("missing", "–", "missing"),
        MonthState("back", "!", "held back, waiting for somebody to look"),
        MonthState("failed", "✕", "failed"),
    )
}
"""From well to bad."""
_BADNESS = {name: place for place, name in enumerate(STATES)}
_MARKS = {"failed month": "failed", "held back": "back", "no access": "refused"}


@dataclass(frozen=True)
class SquareRun:
    """Equal squares side by side: their state, what is wrong in words, and how many they are."""

    state: MonthState
    title: str
    count: int


@dataclass(frozen=True)
class CoverageMatrix:
    """Customers by months, the newest month first."""

    name: str
    summary: str
    is_complete: bool
    rows: dict[str, list[SquareRun]]


@dataclass(frozen=True)
class Coverage:
    """Everything the page says of coverage."""

    years: tuple[tuple[int, tuple[date, ...]], ...]
    whole: CoverageMatrix
    reports: tuple[CoverageMatrix, ...]
    legend: tuple[MonthState, ...]
    is_cut: bool


_States = Mapping[tuple[str, str, date], str]  # by report, customer and month


def coverage(facts: Facts) -> Coverage | None:
    """The matrices of a file; none when no month is held.

    Months after that of the publication are left out: budgets of months to come are no coverage.
    """
    until = facts.publications[0].at_utc.date().replace(day=1) if facts.publications else date.max
    held = [one for one in facts.held_months if one.month <= until]
    if not held:
        return None
    first, last = min(one.month for one in held), max(one.month for one in held)
    count = (last.year - first.year) * 12 + last.month - first.month + 1
    months = last_months(last, min(count, MOST_MONTHS))[::-1]
    customers = sorted({one.customer for one in facts.held_months} | {one.customer for one in facts.marks})
    reports = sorted({one.report for one in held})
    states = _month_states(facts, reports, customers, months)
    shown = {*states.values(), "held", "open"}
    return Coverage(
        years=tuple((year, tuple(same)) for year, same in groupby(months, key=lambda month: month.year)),
        whole=_matrix("All reports", reports, customers, months, states),
        reports=tuple(_matrix(one, [one], customers, months, states) for one in reports),
        legend=tuple(state for state in STATES.values() if state.sign and state.name in shown),
        is_cut=count > MOST_MONTHS,
    )


def _month_states(
    facts: Facts, reports: Sequence[str], customers: Sequence[str], months: Sequence[date]
) -> _States:
    held = {(one.report, one.customer, one.month): one for one in facts.held_months}
    first = {report: min(month for name, _, month in held if name == report) for report in reports}
    marks = {(one.report, one.customer, one.month): _MARKS[one.kind] for one in facts.marks}
    off = {(one.report, one.customer) for one in facts.standings if not one.is_awaited}
    found: dict[tuple[str, str, date], str] = {}
    for report in reports:
        for customer in customers:
            for month in months:
                key = (report, customer, month)
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
    name: str, reports: Sequence[str], customers: Sequence[str], months: Sequence[date], states: _States
) -> CoverageMatrix:
    """The worst of the reports' states in each square."""
    rows: dict[str, list[SquareRun]] = {}
    wrong: dict[str, int] = {}
    for customer in customers:
        squares = []
        for month in months:
            of_reports = {report: states[report, customer, month] for report in reports}
            worst, title = _worst(list(of_reports.values())), ""
            for state in of_reports.values():
                if _BADNESS[state] >= _BADNESS["refused"]:
                    wrong[state] = wrong.get(state, 0) + 1
            if _BADNESS[worst] >= _BADNESS["refused"]:
                guilty = ", ".join(report for report, state in of_reports.items() if state == worst)
                title = f"{customer}, {month_name(month)}: {STATES[worst].words} ({guilty})"
            squares.append((worst, title))
        rows[customer] = [
            SquareRun(STATES[state], title, len(list(same))) for (state, title), same in groupby(squares)
        ]
    summary = ", ".join(f"{count} {STATES[state].words}" for state, count in wrong.items())
    return CoverageMatrix(name, summary or "nothing is missing", not wrong, rows)


def _worst(states: Sequence[str]) -> str:
    """Of several reports, one that is rightly empty is held, and one that is not asked does not count."""
    counted = ["held" if len(states) > 1 and state == "empty" else state for state in states]
    asked = [state for state in counted if state not in ("none", "off")]
    return max(asked or ["off" if "off" in counted else "none"], key=_BADNESS.__getitem__)
