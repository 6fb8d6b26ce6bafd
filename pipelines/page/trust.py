"""Can the numbers be believed? Freshness, agreement of the reports, later changes, and open problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from zoneinfo import ZoneInfo

from pipelines.page.facts import Agreement, Facts, Problem, Standing
from pipelines.page.numbers import (
    UNKNOWN,
    amount,
    moment,
    month_code,
    signed_kronor,
    whole,
)


@dataclass(frozen=True)
class Fresh:
    """How fresh a report is over all its customers."""

    report: str
    through: str
    oldest_success: str
    customers: str
    due: str
    late: str


@dataclass(frozen=True)
class Agreed:
    """One report held against the office report, for every measure they share."""

    compared: str
    cells: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Verdict:
    """The one sentence at the top, and how bad it is."""

    level: str  # well, warning or error
    sign: str
    text: str


@dataclass(frozen=True)
class TrustView:
    """Everything the page says of how far it can be believed."""

    verdict: Verdict
    fresh: tuple[Fresh, ...]
    pairs: tuple[tuple[str, ...], ...]
    measures: tuple[str, ...]
    agreed: tuple[Agreed, ...]
    differences: tuple[tuple[str, ...], ...]
    problems: tuple[tuple[str, ...], ...]
    problems_in_all: int
    restatements: tuple[tuple[str, ...], ...]
    missing: tuple[str, ...]


def trust_view(facts: Facts, timezone: ZoneInfo) -> TrustView:
    """What is known of how well the file is."""
    measures = tuple(dict.fromkeys(one.measure for one in facts.agreements))
    return TrustView(
        verdict=_verdict(facts),
        fresh=tuple(
            _fresh(report, list(some), timezone)
            for report, some in groupby(facts.standings, key=lambda one: one.report)
        ),
        pairs=tuple(
            (
                one.report,
                one.customer,
                month_code(one.newest_held_month),
                moment(one.last_success_utc, timezone) if one.last_success_utc else "never",
                moment(one.due_utc, timezone) if one.due_utc else UNKNOWN,
                one.state,
                "bad" if one.is_late else "good" if one.state == "fresh" else "",
            )
            for one in facts.standings
        ),
        measures=measures,
        agreed=_agreed(facts.agreements, measures),
        differences=_differences(facts),
        problems=tuple(_problem(one, timezone) for one in facts.problems),
        problems_in_all=max((one.in_all for one in facts.problems), default=0),
        restatements=_restatements(facts, timezone),
        missing=tuple(name.replace("_", " ") for name in facts.missing),
    )


def _verdict(facts: Facts) -> Verdict:
    errors = [one for one in facts.problems if one.severity == "error"]
    in_all = max((one.in_all for one in facts.problems), default=0)
    differing = sum(one.different_count for one in facts.agreements)
    late = sum(one.is_late for one in facts.standings)
    said = []
    if in_all:
        grave = f", {len(errors)} of them grave" if errors else ""
        said.append(f"{whole(in_all)} open problem{'s' if in_all > 1 else ''}{grave}")
    if differing:
        said.append(f"{whole(differing)} comparison{'s' if differing > 1 else ''} between reports differ")
    if late:
        said.append(f"{late} report{'s' if late > 1 else ''} late")
    if facts.missing:
        said.append("parts of the file could not be read")
    if said:
        sentence = ", ".join(said)
        return Verdict("error" if errors else "warning", "!", f"{sentence[0].upper()}{sentence[1:]}")
    compared = sum(one.compared_count for one in facts.agreements)
    agree = f", all {whole(compared)} comparisons between reports agree" if compared else ""
    if not facts.standings:
        return Verdict("warning", "!", "Nothing has been loaded yet")
    return Verdict("well", "✓", f"Every report is fresh{agree}, and there is no open problem")


def _fresh(report: str, some: Sequence[Standing], timezone: ZoneInfo) -> Fresh:
    awaited = [one for one in some if one.is_awaited]
    months = [one.newest_held_month for one in awaited or some if one.newest_held_month]
    never = any(one.last_success_utc is None for one in awaited or some)
    successes = [one.last_success_utc for one in awaited or some if one.last_success_utc]
    due = [one.due_utc for one in awaited if one.due_utc]
    late = [one.customer for one in some if one.is_late]
    return Fresh(
        report,
        month_code(min(months)) if months else UNKNOWN,
        "never" if never or not successes else moment(min(successes), timezone),
        whole(len(awaited)) if awaited else "switched off",
        moment(min(due), timezone) if due else UNKNOWN,
        ", ".join(late),
    )


def _agreed(agreements: Sequence[Agreement], measures: Sequence[str]) -> tuple[Agreed, ...]:
    found = {(one.compared, one.measure): one for one in agreements}
    return tuple(
        Agreed(compared, tuple(_cell(found.get((compared, measure))) for measure in measures))
        for compared in dict.fromkeys(one.compared for one in agreements)
    )


def _cell(one: Agreement | None) -> tuple[str, bool]:
    if one is None:
        return UNKNOWN, True
    if one.different_count:
        return f"{whole(one.different_count)} of {whole(one.compared_count)} differ", False
    return f"✓ {whole(one.compared_count)}", True


def _differences(facts: Facts) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            month_code(one.month),
            one.office_name,
            one.compared,
            one.measure,
            amount(one.amount, _unit(one.measure)),
            amount(one.compared_amount, _unit(one.measure)),
            amount(one.difference, _unit(one.measure)),
            one.likely_reason or UNKNOWN,
        )
        for one in facts.differences
    )


def _unit(measure: str) -> str:
    return "" if measure.endswith("parts") else "kr"


def _problem(one: Problem, timezone: ZoneInfo) -> tuple[str, ...]:
    where = " of ".join(part for part in (one.report, one.customer) if part)
    since = moment(one.since_utc, timezone) if one.since_utc else UNKNOWN
    month = month_code(one.month) if one.month else ""
    return (one.severity, one.kind, where, month, one.message or "", since)


def _restatements(facts: Facts, timezone: ZoneInfo) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            moment(one.noted_at_utc, timezone),
            one.report,
            one.office_name,
            month_code(one.month),
            amount(one.commission_before, "kr"),
            amount(one.commission_after, "kr"),
            signed_kronor(one.commission_change),
            whole(one.row_count_change),
        )
        for one in facts.restatements
    )
