"""How far the file can be believed: one verdict, freshness by report, and agreement of the reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby

from pipelines.page.facts import Facts, Freshness, ReportAgreement
from pipelines.page.numbers import number


@dataclass(frozen=True)
class Verdict:
    """The one sentence at the top of the page, and how bad it is."""

    level: str  # well, warning or error
    sign: str
    text: str


@dataclass(frozen=True)
class ReportFreshness:
    """How fresh a report is over all its customers: the latest of them counts."""

    report: str
    held_through: date | None
    oldest_success_utc: datetime | None  # none as long as one customer never had any
    due_utc: datetime | None
    awaited: int
    late: tuple[str, ...]


def verdict(facts: Facts) -> Verdict:
    """What is wrong, in one sentence."""
    errors = sum(one.severity == "error" for one in facts.problems)
    open_problems = max((one.in_all for one in facts.problems), default=0)
    differing = sum(one.different_count for one in facts.agreements)
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
        return Verdict("error" if errors else "warning", "!", f"{sentence[0].upper()}{sentence[1:]}")
    if not facts.standings:
        return Verdict("warning", "!", "Nothing has been loaded yet")
    compared = sum(one.compared_count for one in facts.agreements)
    agree = f", all {number(compared)} comparisons between reports agree" if compared else ""
    return Verdict("well", "✓", f"Every report is fresh{agree}, and there is no open problem")


def freshness_by_report(standings: Sequence[Freshness]) -> list[ReportFreshness]:
    """One line per report; customers of which nothing is awaited count only where there is no other."""
    found = []
    for report, group in groupby(standings, key=lambda one: one.report):
        customers = list(group)
        awaited = [one for one in customers if one.is_awaited]
        successes = [one.last_success_utc for one in awaited or customers]
        months = [one.newest_held_month for one in awaited or customers]
        found.append(
            ReportFreshness(
                report=report,
                held_through=min((month for month in months if month), default=None),
                oldest_success_utc=None if None in successes else min(one for one in successes if one),
                due_utc=min((one.due_utc for one in awaited if one.due_utc), default=None),
                awaited=len(awaited),
                late=tuple(one.customer for one in customers if one.is_late),
            )
        )
    return found


def agreement_table(agreements: Sequence[ReportAgreement]) -> dict[str, dict[str, ReportAgreement | None]]:
    """For every report compared and every measure that any of them shares, how often they agree."""
    found = {(one.compared, one.measure): one for one in agreements}
    measures = dict.fromkeys(one.measure for one in agreements)
    return {
        one.compared: {measure: found.get((one.compared, measure)) for measure in measures}
        for one in agreements
    }
