"""Troubles that were told and are not over yet: which of those found are new, and which have ended."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from assets.failed_runs import job_in_words
from assets.overdue import DataState
from assets.project import Project
from pipelines.operations.causes import (
    GIVEN_UP,
    HELD_BACK,
    LATE,
    LOGIN_CORRECTED,
    LOGIN_REFUSED,
    NEVER,
    NO_RIGHT,
    NOBODY_ANSWERS,
    SHUT_OUT,
    UNPUBLISHED,
    FailedReport,
    names,
)
from pipelines.settings.model import Settings
from warehouse.store.meta_schema import aware

BROKEN_RUN, SILENCE = "broken run", "silence"
OF_THE_SERVICE = frozenset({NOBODY_ANSWERS, GIVEN_UP})
OF_EVERYTHING = OF_THE_SERVICE | {UNPUBLISHED}
OF_A_CUSTOMER = frozenset({LOGIN_REFUSED, SHUT_OUT, "NotFound", HELD_BACK, LATE, NEVER})


class ToldTrouble(NamedTuple):
    """A trouble that a message was about: its kind, what it is the trouble of, and when it was first told.

    A refused login is that of a customer, a lost right that to a report of a customer, and an error of the
    service that of a report, whomever it hits. A broken run has the name of its job as `report` and the
    beginning of what it says as `customer`.
    """

    kind: str
    report: str = ""
    customer: str = ""
    told_at: float = 0.0

    @property
    def subject(self) -> tuple[str, str, str]:
        return self.kind, self.report, self.customer


def told_trouble(found: FailedReport, told_at: float = 0.0) -> ToldTrouble:
    """What is remembered of a trouble."""
    kind = LOGIN_REFUSED if found.kind == LOGIN_CORRECTED else found.kind
    report = "" if kind in OF_EVERYTHING | OF_A_CUSTOMER else found.report
    customer = found.customer if kind in OF_A_CUSTOMER or kind == NO_RIGHT else ""
    return ToldTrouble(kind, report, customer, told_at)


def new_troubles(
    found: Iterable[FailedReport], told: Collection[ToldTrouble], settings: Settings
) -> list[FailedReport]:
    """Those found that were not told; a login told of one customer is told of all that have the same."""
    subjects = {one.subject for one in told}
    logins = {one.id: (one.username, one.password) for one in settings.customers}
    known = [logins.get(one.customer) for one in told if one.kind == LOGIN_REFUSED]
    return [
        one
        for one in found
        if told_trouble(one).subject not in subjects
        and not (one.kind == LOGIN_REFUSED and logins.get(one.customer) in known)
    ]


def remembered(told: Iterable[ToldTrouble], more: Iterable[ToldTrouble]) -> list[ToldTrouble]:
    """What was told before and what is told now, each once and with the moment it was first told at."""
    return list({one.subject: one for one in (*more, *told)}.values())


def still_asked(told: Iterable[ToldTrouble], project: Project) -> list[ToldTrouble]:
    """What was told without that of customers and reports that are not asked any more."""
    customers = {customer.id for customer in project.settings.active_customers}
    reports = {report.name for report in project.reports}
    return [
        one
        for one in told
        if one.kind in OF_EVERYTHING | {BROKEN_RUN, SILENCE}
        or ((not one.customer or one.customer in customers) and (not one.report or one.report in reports))
    ]


def ended_by_answers(
    told: Iterable[ToldTrouble], found: Collection[FailedReport], state: DataState, project: Project
) -> Iterator[ToldTrouble]:
    """What was told and is over: nothing of it is found any more, and the service has answered since.

    Where the login works or the service is there again is seen by any answer; elsewhere what is found must be
    nothing at all, as another trouble may hide the first.
    """
    still = {told_trouble(one).subject for one in found}
    asked = [other for other in found if other.kind not in (NEVER, LATE)]
    for one in (other for other in told if other.kind not in (BROKEN_RUN, SILENCE)):
        since = project.as_of(datetime.fromtimestamp(one.told_at, UTC))
        if one.kind == UNPUBLISHED:
            is_over = state.published is not None and state.published > since
        else:
            is_over = any(
                standing.last_success_utc and aware(standing.last_success_utc) > since
                for standing in state.status.standings
                if one.report in ("", standing.report) and one.customer in ("", standing.customer)
            )
        hidden = one.kind not in OF_EVERYTHING | {LOGIN_REFUSED} and any(
            one.report in ("", other.report) and one.customer in ("", other.customer) for other in asked
        )
        if is_over and not hidden and one.subject not in still:
            yield one


def ends_in_words(ended: Iterable[ToldTrouble]) -> list[str]:
    """A sentence for each kind of trouble that is over."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for one in ended:
        kind = NOBODY_ANSWERS if one.kind in OF_THE_SERVICE else one.kind
        of = {NO_RIGHT: one.customer, BROKEN_RUN: one.report}.get(kind, "")
        grouped.setdefault((kind, of), []).append(one.report or one.customer)
    return [_end_in_words(kind, names(several), of) for (kind, of), several in grouped.items()]


def _end_in_words(kind: str, what: str, customer: str) -> str:
    if kind == NOBODY_ANSWERS:
        return "The service answers again."
    if kind == LOGIN_REFUSED:
        return f"The login of {what} works again."
    if kind == UNPUBLISHED:
        return "A new file was published again."
    if kind == SILENCE:
        return "There was a night again."
    if kind == BROKEN_RUN:
        return f"{job_in_words(what)} has succeeded again."
    if kind in (NEVER, LATE, HELD_BACK):
        return f"{what} is up to date again."
    return f"{what} of {customer} is answered again." if customer else f"{what} is answered again."
