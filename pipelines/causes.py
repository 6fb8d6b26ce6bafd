"""Conditions grouped by cause, so that each cause is shown as one issue with its remedy."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from math import prod

from pipelines.months import Month, months_in_words, runs_of_months
from pipelines.words import counted
from warehouse.ledger.conditions import FORBIDDEN, Condition, Kind, Severity

MAX_LINES = 6
MAX_NAMES = 4
MAX_RUNS_OF_MONTHS = 3
MAX_ERROR_LENGTH = 400  # characters; even a long path fits
TRANSIENT = frozenset({"Unreachable", "HostDown", "Unavailable", "TooManyRequests", "NotJson"})
"""Kinds of errors that may end by themselves within minutes."""


@dataclass(frozen=True)
class Cause:
    """Conditions with one cause: the service is unreachable, a login is denied, or their errors are the same.

    The error of `first` is shown for all of them. `number` is the number of conditions. If `is_example`,
    their errors differ, and the error of `first` is shown as an example.
    """

    first: Condition
    number: int
    since_utc: datetime | None
    reports: tuple[str, ...]
    customers: tuple[str, ...]
    months: tuple[date, ...]
    is_example: bool

    @classmethod
    def of(cls, conditions: Sequence[Condition]) -> Cause:
        return cls(
            first=conditions[0],
            number=len(conditions),
            since_utc=min((row.since_utc for row in conditions if row.since_utc), default=None),
            reports=tuple(sorted({row.report for row in conditions if row.report})),
            customers=tuple(sorted({row.customer for row in conditions if row.customer})),
            months=tuple(sorted({row.month for row in conditions if row.month})),
            is_example=not conditions[0].trouble and len({row.error for row in conditions}) > 1,
        )

    @property
    def affected(self) -> str:
        """The affected reports, customers and months."""
        subject = " of ".join(filter(None, (list_names(self.reports), list_names(self.customers))))
        months = months_in_words(map(Month.of, self.months), MAX_RUNS_OF_MONTHS)
        return ", ".join(filter(None, (subject, months)))

    @property
    def error(self) -> str:
        example = "for example: " if self.is_example else ""
        return example + sentence(shorten(self.first.error, MAX_ERROR_LENGTH))

    @property
    def issue(self) -> str:
        """The error, what is affected, and since when (left out if the error states it)."""
        moment = f"{self.since_utc:%Y-%m-%d %H:%M} UTC" if self.since_utc else ""
        since = "" if moment in self.error else f"since {moment}"
        scope = ", ".join(filter(None, (self.affected, since)))
        return f"{self.error.rstrip('.')}{f' ({scope})' if scope else ''}"

    @property
    def remedy(self) -> str:
        """What to do; its commands name the affected reports, customers and months if they fit all of them.

        They fit if at most MAX_NAMES reports and customers all have the condition in the same run of months.
        """
        remedy, runs = self.first.remedy, [*runs_of_months(map(Month.of, self.months))]
        number = prod(len(affected) or 1 for affected in (self.reports, self.customers, self.months))
        if number != self.number or len(runs) > 1 or max(len(self.reports), len(self.customers)) > MAX_NAMES:
            return remedy
        named = {
            " --customer ID": "".join(f" --customer {name}" for name in self.customers),
            " --report NAME": "".join(f" --report {name}" for name in self.reports),
            " --from MONTH --to MONTH": "".join(f" --from {run[0]} --to {run[-1]}" for run in runs),
            " --from MONTH": f" --from {runs[0][0] if runs else str(self.since_utc)[:7]}",
        }
        for placeholder, options in named.items():
            remedy = remedy.replace(placeholder, options)
        return remedy

    @property
    def line(self) -> str:
        """The affected reports, customers and months, the error, and the remedy."""
        text = " ".join(filter(None, (self.error, self.remedy)))
        return ": ".join(filter(None, (self.affected, text)))


def causes(conditions: Iterable[Condition], *, by_report: bool = False) -> list[Cause]:
    """The causes of the conditions; with `by_report`, a separate cause for each report and customer.

    The most severe causes come first. Among equally severe causes, those with the most conditions come first.
    """
    groups: dict[tuple[object, ...], list[Condition]] = {}
    for condition in conditions:
        pair = (condition.report, condition.customer) if by_report else ()
        groups.setdefault((condition.cause_key or condition, *pair), []).append(condition)
    severities = [Severity.ERROR, Severity.WARNING, Severity.ACKNOWLEDGED]
    return sorted(
        map(Cause.of, groups.values()),
        key=lambda cause: (severities.index(Severity(cause.first.severity)), -cause.number),
    )


def matching_conditions(
    keys: Collection[tuple[str, str, date | None]], conditions: Iterable[Condition]
) -> list[Condition]:
    """The conditions that explain why the months of `keys` (report, customer, month) were not loaded."""
    pairs, customers = {(report, customer) for report, customer, _ in keys}, {key[1] for key in keys}
    return [
        row
        for row in conditions
        if (row.kind == Kind.ACCESS_DENIED and row.customer in customers)
        or (row.kind in (Kind.ACCESS_LOST, Kind.NO_ACCESS) and (row.report, row.customer) in pairs)
        or (row.kind in (Kind.FAILED, Kind.HELD_BACK) and (row.report, row.customer, row.month) in keys)
    ]


def denial_conditions(report: str, customer: str, conditions: Iterable[Condition]) -> list[Condition]:
    """The conditions that explain why a report of a customer is denied."""
    denials = [condition for condition in conditions if condition.cause == FORBIDDEN]
    return matching_conditions({(report, customer, None)}, denials)


def cause_lines(conditions: Iterable[Condition], limit: int = MAX_LINES) -> list[str]:
    """A line for each of the first `limit` causes; if there are more, a last line with the number left."""
    all_causes = causes(conditions)
    left = len(all_causes) - limit
    more = [f"`brokerbi status` shows {counted(left, 'more cause')}."] if left > 0 else []
    return [cause.line for cause in all_causes[:limit]] + more


def sentence(text: str) -> str:
    """The text with a full stop, unless it is empty or already ends in `.`, `?`, `!` or `…`."""
    return text if not text or text.endswith((".", "?", "!", "…")) else f"{text}."


def shorten(text: str, limit: int) -> str:
    """The text on one line; if it is longer than `limit` characters, it is cut and ends in an ellipsis."""
    words = " ".join(text.split())
    return words if len(words) <= limit else f"{words[: limit + 1].rpartition(' ')[0] or words[:limit]}…"


def list_names(texts: Iterable[str], limit: int = MAX_NAMES) -> str:
    """The names in alphabetical order, at most `limit` of them: G1, M1 and 5 more."""
    unique = sorted(set(filter(None, texts)))
    return ", ".join(unique[:limit]) + (f" and {len(unique) - limit} more" if len(unique) > limit else "")
