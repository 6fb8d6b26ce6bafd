"""Causes: conditions that have the same behind them, laid out together with what to do first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from pipelines.months import Month, months_in_words
from warehouse.ledger.conditions import ACCESS_REFUSED, Condition, Kind

MOST_LINES = 6
MOST_NAMES = 4
MOST_RUNS_OF_MONTHS = 3
LONGEST_REASON = 400
"""Of what was found: room for a long path, which is what has to be mended."""
PASSING = frozenset({"Unreachable", "HostDown", "Unavailable", "TooManyRequests", "NotJson"})
"""Kinds of errors that may be over in some minutes."""


@dataclass(frozen=True)
class Cause:
    """Conditions of one kind that a service which is down, a login or the same error has caused.

    `first` speaks for all: meta.conditions has it before the others. They are `number`, and concern these
    reports, customers and months, whose last tries ended like this.
    """

    first: Condition
    number: int
    since_utc: datetime | None
    reports: tuple[str, ...]
    customers: tuple[str, ...]
    months: tuple[date, ...]
    endings: tuple[str, ...]

    @classmethod
    def of(cls, several: Sequence[Condition]) -> Cause:
        """The cause of some conditions."""
        return cls(
            first=several[0],
            number=len(several),
            since_utc=min((one.since_utc for one in several if one.since_utc), default=None),
            reports=tuple(sorted({one.report for one in several if one.report})),
            customers=tuple(sorted({one.customer for one in several if one.customer})),
            months=tuple(sorted({one.month for one in several if one.month})),
            endings=tuple(sorted({one.last_try for one in several})),
        )

    @property
    def whom(self) -> str:
        """Which reports of which customers and months it concerns, and how their last tries ended."""
        subject = " of ".join(filter(None, (names(self.reports), names(self.customers))))
        months = months_in_words(map(Month.of, self.months), MOST_RUNS_OF_MONTHS)
        endings = names(self.endings) if len(self.endings) > 1 else ""
        return ", ".join(filter(None, (subject, months, endings)))

    @property
    def line(self) -> str:
        """Whom it concerns, what was found, and what to do."""
        found = sentence(shortened(self.first.error, LONGEST_REASON))
        said = " ".join(filter(None, (found, self.first.remedy)))
        return ": ".join(filter(None, (self.whom, said)))

    @property
    def begun(self) -> str:
        """Since when it is so; empty where nobody can say."""
        return f"{self.since_utc:%Y-%m-%d %H:%M} UTC" if self.since_utc else ""

    @property
    def dated_line(self) -> str:
        """The line, and since when it is so."""
        return f"{sentence(self.line)} Since {self.begun}." if self.begun else self.line


def causes(conditions: Iterable[Condition], *, by_report: bool = False) -> list[Cause]:
    """Conditions by what is behind them, of each report of a customer apart if wanted.

    Errors come first, then those that concern most.
    """
    grouped: dict[tuple[object, ...], list[Condition]] = {}
    for one in conditions:
        apart = (one.report, one.customer) if by_report else ()
        grouped.setdefault((one.cause_key or one, *apart), []).append(one)
    found = [Cause.of(several) for several in grouped.values()]
    return sorted(found, key=lambda one: (not one.first.is_error, -one.number))


def concerning(
    keys: Collection[tuple[str, str, date | None]], conditions: Iterable[Condition]
) -> list[Condition]:
    """What of these conditions such reports, customers and months have come to when they were asked for."""
    pairs, customers = {(report, customer) for report, customer, _ in keys}, {key[1] for key in keys}
    return [
        one
        for one in conditions
        if (one.kind == Kind.SHUT_OUT and one.customer in customers)
        or (one.kind in (Kind.RIGHT_LOST, Kind.NO_RIGHT) and (one.report, one.customer) in pairs)
        or (one.kind in (Kind.FAILED, Kind.HELD_BACK) and (one.report, one.customer, one.month) in keys)
    ]


def refusals(report: str, customer: str, conditions: Iterable[Condition]) -> list[Condition]:
    """What of these conditions is that the service refuses the report of the customer.

    It is wrongly refused where one of them is an error.
    """
    of_rights = [one for one in conditions if one.cause == ACCESS_REFUSED]
    return concerning({(report, customer, None)}, of_rights)


def lines(conditions: Iterable[Condition], most: int = MOST_LINES, *, with_since: bool = False) -> list[str]:
    """A line for each cause, if wanted with since when it is so; what is beyond the limit is counted."""
    found = causes(conditions)
    more = [f"{len(found) - most} more causes are in `brokerbi status`."] if len(found) > most else []
    return [one.dated_line if with_since else one.line for one in found[:most]] + more


def sentence(words: str) -> str:
    """Words with a full stop, unless something else ends them."""
    return words if not words or words.endswith((".", "?", "!", "…")) else f"{words}."


def shortened(text: str, most: int) -> str:
    """A text in one line, of at most so many signs and a mark that there was more."""
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[:most].rstrip()}…"


def names(several: Iterable[str], most: int = MOST_NAMES) -> str:
    """Some names as an enumeration: G1, M1 and 5 more."""
    found = sorted(dict.fromkeys(filter(None, several)))
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")
