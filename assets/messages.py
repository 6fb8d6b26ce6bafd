"""Messages about conditions: which are new since the last one, which are over, and the text of both."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import NamedTuple

from assets.notify import Message
from pipelines.sync.causes import PASSING, causes, names, shortened
from pipelines.words import counted
from warehouse.ledger.conditions import LOGIN_CORRECTED, OUTAGES, Condition, Kind

LOGIN = "login"
"""The cause of a subject: a login is refused, whatever it is called."""
OF_ANSWERS = frozenset((Kind.FAILED, Kind.HELD_BACK, Kind.SHUT_OUT, Kind.RIGHT_LOST))
"""Kinds that a run ends with: they are told at once, everything else after the night."""
OF_A_RUN = OF_ANSWERS | {Kind.UNPUBLISHED, Kind.RUN_FAILED}
TOLD_ONCE = frozenset((Kind.SHUT_OUT, Kind.RIGHT_LOST, Kind.RUN_FAILED))
"""Kinds that no later night repeats."""
MOST_ENDS = 5
MOST_RUNS_NAMED = 3
LONGEST_LINE = 300
LONGEST_TEXT = 1400
"""Signs of a message below its subject; what is beyond is in the UI and in `brokerbi status`."""


class Subject(NamedTuple):
    """What a message told of a condition, by which the next look knows it again.

    An outage is one subject, whomever it concerns; an error that may pass is that of a report, a lost right
    that to a report of a customer, and everything else, a refused login too, that of a customer.
    """

    kind: str
    cause: str = ""
    report: str = ""
    customer: str = ""


@dataclass(frozen=True)
class Told:
    """The sensor's cursor: what was told and is not over, and the message that channels have yet to take.

    `day` is that of the latest night that was reported, `until` when that was and `looked` when runs
    were last gone through, both in seconds of the Unix epoch; `runs` need no other message. `subjects` are
    what was told, each with the moment.
    """

    day: str = ""
    until: float = 0.0
    looked: float = 0.0
    runs: Sequence[str] = ()
    subjects: Sequence[tuple[Subject, float]] = ()
    subject: str = ""
    text: str = ""
    channels: Sequence[str] = ()

    @classmethod
    def from_cursor(cls, cursor: str | None) -> Told:
        """What a cursor says; of one that an earlier version wrote, what still has the same name."""
        known = {one.name for one in fields(cls)}
        values = {name: value for name, value in json.loads(cursor or "{}").items() if name in known}
        subjects = [(Subject(*one), at) for one, at in values.get("subjects", ())]
        return cls(**{**values, "subjects": subjects})

    @property
    def cursor(self) -> str:
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class News:
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
    if one.kind == Kind.RUN_FAILED or one.cause in PASSING:
        return Subject(one.kind, one.cause, one.report)
    return Subject(one.kind, one.cause, one.report if one.kind == Kind.RIGHT_LOST else "", one.customer)


def difference(
    known: Collection[Subject],
    found: Sequence[Condition],
    *,
    after_night: bool,
    after_run: bool,
    being_fetched: Collection[str] = (),
) -> News:
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
        of_night = after_night and not is_tried and (is_new or one.kind not in TOLD_ONCE)
        if (of_night or (after_run and is_new and one.kind in OF_A_RUN)) and one.cause != LOGIN_CORRECTED:
            new.append(one)
    over = [one for one in known if _is_over(one, errors)]
    subjects = dict.fromkeys((*known, *map(subject_of, new)))
    return News(new, over, [one for one in subjects if one not in over])


def _is_over(known: Subject, found: Sequence[Condition]) -> bool:
    """Whether nothing of it is found any more, and nothing that would hide it."""
    if any(subject_of(one) == known for one in found):
        return False
    if known.cause == LOGIN:
        return not any(one.trouble in OUTAGES for one in found)
    if known.kind == Kind.RUN_FAILED or not (known.report or known.customer):
        return True
    return not any(
        one.kind in OF_ANSWERS
        and (not known.report or one.report in ("", known.report))
        and (not known.customer or one.customer in ("", known.customer))
        for one in found
    )


def message(
    day: str, change: News, *, columns: Iterable[str] = (), runs: Sequence[str] = ()
) -> Message | None:
    """The message about a change; None when there is nothing to tell.

    `columns` says what is new in the answers, and `runs` are the runs that failed.
    """
    parts = [f"- {one.line}" for one in causes(change.new)]
    ends = _ends(change.over)
    last = [f"- Over: {one}" for one in ends[:MOST_ENDS]]
    if len(ends) > MOST_ENDS:
        last.append(f"- Over: {len(ends) - MOST_ENDS} more")
    if news := "; ".join(columns):
        last.append(f"- New in the answers: {shortened(news, LONGEST_LINE)}")
    if not parts and not last:
        return None
    if runs and parts:
        more = ", the latest" if len(runs) > MOST_RUNS_NAMED else ""
        last.append(f"{counted(len(runs), 'run')} failed{more}: {', '.join(runs[-MOST_RUNS_NAMED:])}")
    if parts:
        subject = f"{counted(len(parts), 'thing')} to do"
    elif ends:
        subject = f"{len(ends)} trouble{'s are' if len(ends) > 1 else ' is'} over"
    else:
        subject = "the service answers in other columns"
    return Message(f"brokerbi, {day}: {subject}", _limited(parts, last))


def _ends(over: Sequence[Subject]) -> list[str]:
    """What is over, a line for the same of several customers."""
    same: dict[tuple[str, str], list[str]] = {}
    for one in over:
        about = one.report or (one.cause if one.cause == LOGIN or not one.customer else "")
        same.setdefault((one.kind, about), []).append(one.customer)
    words = {key: " of ".join(filter(None, (key[1], names(customers)))) for key, customers in same.items()}
    return [f"{kind} ({about})" if about else kind for (kind, _), about in words.items()]


def _limited(parts: Sequence[str], last: Sequence[str]) -> str:
    """As many parts as fit with those that come last, and how many do not."""
    kept: list[str] = []
    for part in parts:
        if len("\n".join([*kept, part, *last])) > LONGEST_TEXT:
            kept.append(f"- and {len(parts) - len(kept)} more; `brokerbi status` shows them all")
            break
        kept.append(part)
    return "\n".join([*kept, *last])
