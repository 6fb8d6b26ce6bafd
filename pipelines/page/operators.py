"""Page of those who run the pipeline: what is wrong, whether reports agree, what is fresh and what is held.

It is in English whatever the language of the other pages, as its causes, commands and documentation are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import groupby, product

from pipelines.page.facts import Facts
from pipelines.page.figures import Shown, last_months
from pipelines.page.language import Language, language

MOST_COVERED_MONTHS = 36
MOST_KINDS = 3
_STATES: Mapping[str, tuple[str, str]] = {
    "held": ("✓", "held"),
    "empty": ("0", "held, without a row"),
    "open": ("…", "held, the month is not over"),
    "off": ("·", "switched off, not asked any more"),
    "none": ("", "not asked so far back"),
    "waiting": ("~", "has its turn within a month"),
    "refused": ("⊘", "the service gives no access"),
    "missing": ("–", "missing"),
    "back": ("!", "held back, waiting for somebody to look"),
    "failed": ("✕", "failed"),
}
"""What a square of the coverage says, from well to bad: its sign and its words."""
_BADNESS = {state: place for place, state in enumerate(_STATES)}
_MARKS = {"failed": "failed", "held back": "back", "no access": "refused", "waiting": "waiting"}

MonthStates = Mapping[tuple[str, str, date], str]  # by report, customer and month


def verdict(facts: Facts, words: Language) -> Shown:
    """What is wrong, in one sentence of the page's language; its level is well, warning or error."""
    errors = sum(one["severity"] == "error" for one in facts.problems)
    counts = {
        "problems": max((one["in_all"] for one in facts.problems), default=0),
        "differ": sum(one["different_count"] for one in facts.agreements),
        "late": sum(one.is_late for one in facts.standings),
    }
    wrong = [words.text(f"verdict.{what}", count) for what, count in counts.items() if count]
    if counts["problems"]:
        wrong[0] += f" ({words.listed(_kinds(facts, words))})"
    if facts.unpublished:
        wrong.append(words.text("verdict.unpublished"))
    if facts.missing:
        wrong.append(words.text("verdict.missing"))
    if wrong:
        text = f"{words.text('verdict.begin')} {words.listed(wrong)}"
        return {"level": "error" if errors or facts.unpublished else "warning", "sign": "!", "text": text}
    if not facts.standings:
        return {"level": "warning", "sign": "!", "text": words.text("verdict.nothing")}
    is_compared = any(one["compared_count"] for one in facts.agreements)
    return {"level": "well", "sign": "✓", "text": words.text(f"verdict.{'well' if is_compared else 'fresh'}")}


def _kinds(facts: Facts, words: Language) -> list[str]:
    """What sorts of problems there are, the most frequent first."""
    counts = Counter(one["kind"] for one in facts.problems).most_common(MOST_KINDS)
    known = words.words["problems"]
    return [
        words.text(f"problems.{kind.replace(' ', '_')}", count) if kind.replace(" ", "_") in known else kind
        for kind, count in counts
    ]


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
                "refused": [one.customer for one in customers if one.state == "login refused"],
            }
        )
    found = {(one["compared"], one["measure"]): one for one in facts.agreements}
    measures = dict.fromkeys(measure for _, measure in found)
    agreement = {
        compared: {measure: found.get((compared, measure)) for measure in measures} for compared, _ in found
    }
    return {"freshness": freshness, "agreement": agreement}


def coverage(facts: Facts) -> Shown | None:
    """Customers by months, the newest first, over all reports and for each; none when no month is held.

    Months after the latest publication and request are left out: budgets of months to come are no coverage.
    """
    days = [one["at_utc"].date() for one in facts.publications] + [one["day"] for one in facts.requests]
    until = max(days, default=date.max).replace(day=1)
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
) -> MonthStates:
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
    name: str, reports: Sequence[str], customers: Sequence[str], months: Sequence[date], states: MonthStates
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
                title = f"{customer}, {language('en').month(month)}: {_STATES[worst][1]} ({guilty})"
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
