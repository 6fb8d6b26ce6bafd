"""Causes of trouble: failed windows grouped by what went wrong, one sentence for each, its remedy first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipelines.months import Month, months_in_words
from pipelines.settings.model import login_in_words

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

MOST_SENTENCES = 6
MOST_NAMES = 4
MOST_RUNS_OF_MONTHS = 3
LONGEST_REASON = 200
HELD_BACK = "held back"
SHUT_OUT = "shut out"
LATE = "late"
NEVER = "never"
LOGIN_REFUSED, LOGIN_CORRECTED = "Unauthorized", "login corrected"
NO_RIGHT = "Forbidden"
UNKNOWN_LOGIN = "(not in the settings)"
NOBODY_ANSWERS, NO_ANSWER, GIVEN_UP = "Unreachable", "Unavailable", "HostDown"
ALL_REFUSED = "AllRefused"
UNPUBLISHED = "unpublished"
CLOCK_AHEAD = "ClockAhead"
WAITS = "It is tried again by itself."
TRIED_AGAIN = frozenset({NOBODY_ANSWERS, GIVEN_UP, NO_ANSWER})
"""Kinds of errors of which a sentence says that nothing need be done about them now."""
SENTENCES: Mapping[str, str] = {
    LOGIN_REFUSED: "Correct {login}: the service refuses it (401), and it is used no more until it is "
    "changed; {reports} of {customers} wait.",
    LOGIN_CORRECTED: "Wait for the next run, or sync: the login of {customers} is not the one that was "
    "refused (401), or was accepted since; {reports} are asked again.",
    NO_RIGHT: "Ask the service's support for the right to {reports} of {customers}: it was answered "
    "before and is refused now (403); what is held stays, and each day it is asked for once more.",
    SHUT_OUT: "Check the id of {customers} and the login's rights: every report was refused (403).",
    ALL_REFUSED: "Ask the service's support what has become of the rights, which `brokerbi doctor` shows: "
    "every report was refused (403), customer after customer; {reports} of {customers} wait.",
    "NotFound": "Check the id of {customers} and BROKERBI_BASE_URL: the service knows no such thing (404), "
    "asked for {reports}{months}.",
    NOBODY_ANSWERS: "Check BROKERBI_BASE_URL and the network of this machine: nobody answers there; "
    "{reports} of {customers} wait.",
    GIVEN_UP: "Ask the service's support if it lasts: the service fails again and again{answered}; "
    "{reports} of {customers} wait.",
    NO_ANSWER: "Ask the service's support if it lasts: the service had no answer to {reports} of "
    "{customers}{answered_months}.",
    "AnswerTooLarge": "Raise BROKERBI_LARGEST_ANSWER_MB: an answer is larger, for {reports} of "
    "{customers}{months}.",
    HELD_BACK: "Ask the service about what `brokerbi status` says of {reports} of {customers}{months}; if it "
    "is right, launch them with the tag brokerbi/accept_shrink=yes, or give `brokerbi sync` the option "
    "--accept-shrink: too many rows would go, or values come empty or multiplied, and the old ones stay.",
    CLOCK_AHEAD: "Wait for the next run, or sync: {reports} of {customers}{months} was read under a clock "
    "that was ahead; it is asked again.",
    LATE: "See that the schedule `nightly` and the daemon run: {reports} of {customers} was not read for a "
    "day and a half.",
    UNPUBLISHED: "Look at the latest run of the job `publish` and its checks: no new file was published for "
    "a day and a half.",
    NEVER: "Launch a backfill, or wait for the next night: {reports} of {customers} was never fetched.",
}
OTHER = (
    "Look at `brokerbi status` and ask the service's support: {reason} ({reports} of {customers}{and_months})"
)
PASSING = frozenset({NOBODY_ANSWERS, GIVEN_UP, NO_ANSWER, "TooManyRequests", "NotJson"})
"""Kinds of errors that may be over in some minutes."""


@dataclass(frozen=True)
class FailedReport:
    """One report of one customer that is not as it should be, in these months; `kind` names the error.

    `reason` is what was found, and `last_try` how the last of several tries ended, where the service had no
    answer.
    """

    report: str
    customer: str
    kind: str
    reason: str = ""
    months: tuple[Month, ...] = ()
    last_try: str = ""


def causes(troubles: Iterable[FailedReport], settings: Settings, *, waits: str = WAITS) -> list[str]:
    """One sentence for each cause, those that concern most first; what is beyond the limit is counted.

    `waits` ends those about what is tried again by itself.

    The same login, the same kind of error, or else the same words are one cause.
    Refused logins that are corrected by now are told apart before, by `with_corrected_logins`.
    """
    configured = {one.id: one for one in settings.customers}
    grouped: dict[tuple[str, str], list[FailedReport]] = {}
    for one in with_kinds(troubles):
        if one.kind == LOGIN_REFUSED:
            customer = configured.get(one.customer)
            same = login_in_words(settings, customer) if customer else UNKNOWN_LOGIN
        else:
            same = "" if one.kind in SENTENCES else shortened(one.reason, LONGEST_REASON)
        grouped.setdefault((one.kind, same), []).append(one)
    groups = sorted(grouped.items(), key=lambda group: -len(group[1]))
    sentences = [
        f"{_sentence(kind, same, several)} {waits if kind in TRIED_AGAIN else ''}".rstrip()
        for (kind, same), several in groups[:MOST_SENTENCES]
    ]
    if len(groups) > MOST_SENTENCES:
        sentences.append(f"{len(groups) - MOST_SENTENCES} more causes are in `brokerbi status`.")
    return sentences


def shortened(text: str, most: int) -> str:
    """A text in one line, of at most so many signs and a mark that there was more."""
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[:most].rstrip()}…"


def names(several: Iterable[str], most: int = MOST_NAMES) -> str:
    """Some names as an enumeration: G1, M1 and 5 more."""
    found = sorted(dict.fromkeys(several))
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")


def with_kinds(troubles: Iterable[FailedReport]) -> Sequence[FailedReport]:
    """What was not asked because of other trouble of its report and customer is part of that.

    What was not asked because nobody answered others is part of that outage, and so is what had no answer
    until the run gave up.
    """
    several = list(troubles)
    kinds = {(one.report, one.customer): one.kind for one in several if one.kind}
    given_up = NOBODY_ANSWERS if NOBODY_ANSWERS in kinds.values() else GIVEN_UP
    same = {GIVEN_UP: given_up}
    if GIVEN_UP in kinds.values() and given_up == GIVEN_UP:
        same[NO_ANSWER] = GIVEN_UP
    found = (one.kind or kinds.get((one.report, one.customer), "") for one in several)
    return [replace(one, kind=same.get(kind, kind)) for one, kind in zip(several, found, strict=True)]


def _sentence(kind: str, same: str, several: Sequence[FailedReport]) -> str:
    customers = names(one.customer for one in several)
    login = f"the login of {customers}" if same == UNKNOWN_LOGIN else same
    answered = names(one.last_try for one in several if one.last_try)
    months = months_in_words((month for one in several for month in one.months), MOST_RUNS_OF_MONTHS)
    return SENTENCES.get(kind, OTHER).format(
        login=login,
        customers=customers,
        reports=names(one.report for one in several),
        reason=same,
        answered=f" ({answered})" if answered else "",
        months=f" ({months})" if months else "",
        and_months=f", {months}" if months else "",
        answered_months=f" ({', '.join(filter(None, (answered, months)))})" if answered or months else "",
    )
