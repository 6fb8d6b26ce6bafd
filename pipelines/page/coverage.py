"""Which months are held? A square per customer and month, over all reports and for each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from pipelines.page.comparing import span
from pipelines.page.facts import Facts
from pipelines.page.numbers import month_name

MOST_MONTHS = 36


@dataclass(frozen=True)
class State:
    """What a square says: its sign, its words, and how bad it is."""

    name: str
    sign: str
    words: str


STATES = (
    State("held", "✓", "held"),
    State("empty", "0", "held, without a row"),
    State("open", "…", "held, the month is not over"),
    State("off", "·", "switched off, not asked any more"),
    State("none", "", "not asked so far back"),
    State("refused", "⊘", "the service gives no access"),
    State("missing", "–", "missing"),
    State("back", "!", "held back, waiting for somebody to look"),
    State("failed", "✕", "failed"),
)
_BY_NAME = {state.name: state for state in STATES}
_WORSE = {state.name: place for place, state in enumerate(STATES)}
_MARKS = {"failed month": "failed", "held back": "back", "no access": "refused"}


@dataclass(frozen=True, slots=True)
class Square:
    """One customer and month."""

    name: str
    sign: str
    told: str  # only where something is wrong


_TOLD_BY_COLOUR = {state.name: Square(state.name, state.sign, "") for state in STATES}
"""The squares that say no more than their state, one for all: a large chain has a hundred thousand."""


@dataclass(frozen=True)
class Matrix:
    """Customers by months, the newest month first."""

    name: str
    told: str
    is_well: bool
    rows: tuple[tuple[str, tuple[Square, ...]], ...]


@dataclass(frozen=True)
class CoverageView:
    """Everything the page says of coverage."""

    years: tuple[tuple[int, tuple[date, ...]], ...]
    whole: Matrix
    reports: tuple[Matrix, ...]
    legend: tuple[State, ...]
    is_cut: bool


Squares = Mapping[tuple[str, str, date], str]


def coverage_view(facts: Facts) -> CoverageView | None:
    """The matrices of a file; none when no month is held."""
    until = _until(facts)
    held = [one for one in facts.held_months if until is None or one.month <= until]
    if not held:
        return None
    first, last = min(one.month for one in held), max(one.month for one in held)
    count = (last.year - first.year) * 12 + last.month - first.month + 1
    months = span(last, min(count, MOST_MONTHS))[::-1]
    customers = sorted({one.customer for one in facts.held_months} | {one.customer for one in facts.marks})
    reports = sorted({one.report for one in held})
    squares = _squares(facts, reports, customers, months)
    named = {report: _matrix(report, [report], customers, months, squares) for report in reports}
    return CoverageView(
        tuple((year, tuple(of_year)) for year, of_year in groupby(months, key=lambda month: month.year)),
        _matrix("All reports", reports, customers, months, squares),
        tuple(named.values()),
        tuple(state for state in STATES if state.sign and state.name in {*squares.values(), "held", "open"}),
        count > MOST_MONTHS,
    )


def _until(facts: Facts) -> date | None:
    """The month of the publication: budgets of months to come are no coverage."""
    for publication in facts.publications:
        return publication.at_utc.date().replace(day=1)
    return None


def _squares(
    facts: Facts, reports: Sequence[str], customers: Sequence[str], months: Sequence[date]
) -> Squares:
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
                mark = marks.get(key) or (marks.get((report, customer, None)) if one is None else None)
                state = "open" if one and one.state == "open" else "held" if one and one.rows else "empty"
                absent = "missing" if month >= first[report] else "none"
                if (report, customer) in off:
                    mark, absent = None, "off"
                found[key] = mark or (state if one else absent)
    return found


def _matrix(
    name: str, reports: Sequence[str], customers: Sequence[str], months: Sequence[date], squares: Squares
) -> Matrix:
    rows = []
    bad: dict[str, int] = {}
    for customer in customers:
        line = []
        for month in months:
            states = {report: squares[report, customer, month] for report in reports}
            line.append(_square(customer, month, states))
            for state in states.values():
                bad[state] = bad.get(state, 0) + (_WORSE[state] >= _WORSE["refused"])
        rows.append((customer, tuple(line)))
    wrong = [f"{count} {_BY_NAME[state].words}" for state, count in bad.items() if count]
    told = ", ".join(wrong) if wrong else "nothing is missing"
    return Matrix(name, told, not wrong, tuple(rows))


def _square(customer: str, month: date, states: Mapping[str, str]) -> Square:
    """The worst of the reports' states; a report that is rightly empty is held."""
    worst = _worst(states.values(), of_many=len(states) > 1)
    if _WORSE[worst] < _WORSE["refused"]:
        return _TOLD_BY_COLOUR[worst]
    guilty = [report for report, state in states.items() if state == worst]
    told = f"{customer}, {month_name(month)}: {_BY_NAME[worst].words} ({', '.join(guilty)})"
    return Square(worst, _BY_NAME[worst].sign, told)


def runs(squares: Iterable[Square]) -> Iterator[tuple[Square, int]]:
    """Equal squares side by side, and how many they are: they look the same."""
    for square, same in groupby(squares):
        yield square, sum(1 for _ in same)


def _worst(states: Iterable[str], *, of_many: bool) -> str:
    counted = ["held" if of_many and state == "empty" else state for state in states]
    asked = [state for state in counted if state not in ("none", "off")]
    unasked = "off" if "off" in counted else "none"
    return max(asked or [unasked], key=_WORSE.__getitem__)
