"""Windows: consecutive months that are loaded together, and the spans of days that requests cover."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from pipelines.months import Month, months_between, runs_of_months


@dataclass(frozen=True, slots=True)
class Span:
    """Whole days, both ends included, in the brokerage's local time."""

    first: date
    last: date

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise ValueError(f"a span cannot end on {self.last}, before it begins on {self.first}")

    @property
    def bounds(self) -> tuple[str, str]:
        """The dateFrom and dateTo to send. The service may include dateTo, exclude it or ignore its time."""
        return f"{self.first}T00:00:00", f"{self.last}T23:59:59.999"

    def widened(self, margin: timedelta, window: Window, today: date) -> Span:
        """The span, with a margin before it if it is the first of its window, and after it if it is the last.

        No margin goes beyond today.
        """
        first, last = self.first, self.last
        if first == window.spans[0].first:
            first -= margin
        if last == window.spans[-1].last:
            last = max(min(last + margin, today), last)
        return Span(first, last)

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    def halves(self) -> tuple[Span, Span]:
        """The halves of a span of at least two days. A span of several months is cut between two months."""
        months = list(months_between(Month.of(self.first).plus(1), Month.of(self.last)))
        middle = self.first + timedelta(days=(self.days + 1) // 2)
        cut = months[len(months) // 2].first_day if months else middle
        return Span(self.first, cut - timedelta(days=1)), Span(cut, self.last)


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive months that are loaded together, requested in one span or in several shorter ones.

    The window of a report without months has no months or spans; that of a probe has only spans. `ids` are
    the ids to request, if the report is requested one id at a time.
    """

    months: tuple[Month, ...]
    spans: tuple[Span, ...]
    ids: tuple[str, ...] | None = None


UNDATED_WINDOW = Window((), ())


def windows(
    months: Iterable[Month],
    max_months: int,
    today: date,
    max_days: int | None = None,
    limit: int | None = None,
) -> Iterator[Window]:
    """Cut months into the fewest windows of at most `max_months` consecutive months.

    A window whose last month is the current month ends today. Usually, a window has one span.
    - With `limit`, no span exceeds `limit` months, even if a day is added at each end. If the limit is 2,
      January to March 2023 become 1 January to 27 February (31 December to 28 February with the added days)
      and 28 February to 31 March.
    - With `max_days`, each window has one month, cut into spans of at most `max_days` days.
    """
    for run in runs_of_months(months, max_months if max_days is None else 1):
        span = Span(run[0].first_day, today if run[-1] == Month.of(today) else run[-1].last_day)
        if max_days is None and limit is not None:
            spans = spans_of_months(span, limit)
        else:
            spans = spans_of_days(span, max_days or span.days)
        yield Window(run, tuple(spans))


def halves_of(window: Window, today: date, limit: int | None = None) -> list[Window]:
    """The two halves of a window of several months, with spans as `windows` cuts them."""
    half = len(window.months) // 2
    return [
        replace(part, ids=window.ids)
        for months in (window.months[:half], window.months[half:])
        for part in windows(months, len(months), today, limit=limit)
    ]


def spans_of_months(span: Span, limit: int) -> Iterator[Span]:
    """Cut a span into shorter ones that do not exceed `limit` months, even if a day is added at each end."""
    day = timedelta(days=1)
    first = span.first
    while first <= span.last:
        before = first - day
        month = Month.of(before).plus(limit)
        latest = min(month.last_day, month.first_day + timedelta(days=before.day - 1)) - day
        last = span.last if span.last + day <= latest else min(latest, span.last - day)
        yield Span(first, last)
        first = last + day


def spans_of_days(span: Span, max_days: int) -> Iterator[Span]:
    """Cut a span into shorter ones of at most `max_days` days."""
    first = span.first
    while first <= span.last:
        last = min(first + timedelta(days=max_days - 1), span.last)
        yield Span(first, last)
        first = last + timedelta(days=1)


@dataclass(frozen=True)
class RequestVariant:
    """The id of one request, and its value of the parameter in the report's `Choices`.

    A span is requested once for each combination of id and value.
    """

    requested_id: str | None = None
    choice: str | None = None


ONLY_VARIANT = RequestVariant()
