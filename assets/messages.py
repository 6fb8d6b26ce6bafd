"""Messages about conditions: which are new since the last one and which are over, as data."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import TypeAdapter

from pipelines.sync.causes import PASSING, Cause, causes
from warehouse.ledger.conditions import LOGIN_CORRECTED, OUTAGES, WITH_ITS_RUN, Condition, Kind
from warehouse.ledger.status import ColumnNews

LOGIN = "login"
"""The cause of a subject: a login is refused, whatever it is called."""
MOST_CAUSES, MOST_COLUMNS = 50, 100
"""So many of them the cursor keeps until every channel took the message."""
JOB_OF_SELECTED_ASSETS = "__ASSET_JOB"
"""Dagster's own name for what a backfill, or a run of selected assets, is a run of."""
SELECTED_ASSETS = "a backfill or selected assets"


class Subject(NamedTuple):
    """What a message told of a condition, by which the next look knows it again.

    An outage is one subject, whomever it concerns; an error that may pass is that of a report, a lost right
    that to a report of a customer, a run that broke down is that of its job and the kind of its error, and
    everything else, a refused login too, that of a customer.
    """

    kind: str
    cause: str = ""
    report: str = ""
    customer: str = ""
    job: str = ""


@dataclass(frozen=True)
class News:
    """What one message tells: what is to do, what is over, what is new in the answers, and the failed runs.

    `more_to_do` and `more_columns` count what is left out; what is over was in the cursor before.
    """

    day: str
    to_do: tuple[Cause, ...] = ()
    more_to_do: int = 0
    over: tuple[Subject, ...] = ()
    columns: tuple[ColumnNews, ...] = ()
    more_columns: int = 0
    runs: tuple[str, ...] = ()
    ui_url: str = ""


@dataclass(frozen=True)
class Told:
    """The sensor's cursor: what was told and is not over, and the news that channels have yet to take.

    `day` is that of the latest night that was reported, `until` when that was and `looked` when runs
    were last gone through, both in seconds of the Unix epoch; `runs` need no other message. `subjects` are
    what was told, each with the moment.
    """

    day: str = ""
    until: float = 0.0
    looked: float = 0.0
    runs: Sequence[str] = ()
    subjects: Sequence[tuple[Subject, float]] = ()
    news: News | None = None
    channels: Sequence[str] = ()

    @classmethod
    def from_cursor(cls, cursor: str | None) -> Told:
        """The state that a cursor holds; a first look has none."""
        return TypeAdapter(cls).validate_json(cursor or "{}")

    @property
    def cursor(self) -> str:
        return TypeAdapter(Told).dump_json(self).decode()


@dataclass(frozen=True)
class Difference:
    """What differs from what was told: conditions to tell, subjects that are over, and those that are not."""

    new: Sequence[Condition]
    over: Sequence[Subject]
    known: Sequence[Subject]


def subject_of(one: Condition) -> Subject:
    """What a condition is told as."""
    if one.trouble in OUTAGES:
        return Subject(one.kind, one.trouble)
    if one.login:
        return Subject(one.kind, LOGIN, customer=one.customer)
    if one.kind == Kind.RUN_FAILED:
        return Subject(one.kind, one.cause, job=one.job)
    if one.cause in PASSING:
        return Subject(one.kind, one.cause, one.report)
    return Subject(one.kind, one.cause, one.report if one.kind == Kind.RIGHT_LOST else "", one.customer)


def difference(
    known: Collection[Subject],
    found: Sequence[Condition],
    *,
    after_night: bool,
    after_run: bool,
    being_fetched: Collection[str] = (),
) -> Difference:
    """What to tell of the conditions that are found, of which `known` was told before.

    After a night all that is left to do, but for what is told once; after a run that failed what is new of
    such runs. Warnings are for `brokerbi status`, and so is a login that is corrected by now. What a run is
    about to try again is left out of the night's.
    """
    errors = [one for one in found if one.is_error]
    new = []
    for one in errors:
        is_new = subject_of(one) not in known
        may_pass = one.cause in PASSING or one.kind == Kind.NEVER_READ
        is_tried = may_pass and one.customer in being_fetched
        traits = one.kind.traits
        of_night = after_night and not is_tried and (is_new or not traits.is_told_once)
        of_run = after_run and is_new and traits.told == WITH_ITS_RUN
        if (of_night or of_run) and one.cause != LOGIN_CORRECTED:
            new.append(one)
    over = [one for one in known if _is_over(one, errors)]
    subjects = dict.fromkeys((*known, *map(subject_of, new)))
    return Difference(new, over, [one for one in subjects if one not in over])


def _is_over(known: Subject, found: Sequence[Condition]) -> bool:
    """Whether nothing of it is found any more, and nothing that would hide it."""
    if any(subject_of(one) == known for one in found):
        return False
    if known.cause == LOGIN:
        return not any(one.trouble in OUTAGES for one in found)
    if known.kind == Kind.RUN_FAILED or not (known.report or known.customer):
        return True
    return not any(
        one.kind.traits.told == WITH_ITS_RUN
        and one.kind.traits.is_of_figures
        and (not known.report or one.report in ("", known.report))
        and (not known.customer or one.customer in ("", known.customer))
        for one in found
    )


def news_of(
    day: str,
    change: Difference,
    *,
    columns: Sequence[ColumnNews] = (),
    runs: Sequence[str] = (),
    ui_url: str = "",
) -> News | None:
    """The news of a change; None when there is nothing to tell.

    `columns` are new in the answers, and `runs` are the ids of those that failed.
    """
    if not (change.new or change.over or columns):
        return None
    found = causes(change.new)
    return News(
        day,
        to_do=tuple(found[:MOST_CAUSES]),
        more_to_do=len(found[MOST_CAUSES:]),
        over=tuple(change.over),
        columns=tuple(columns[:MOST_COLUMNS]),
        more_columns=len(columns[MOST_COLUMNS:]),
        runs=tuple(runs),
        ui_url=ui_url,
    )
