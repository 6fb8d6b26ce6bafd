"""Windows, cut from wanted months into as few as are legal, and the requests for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from urllib.parse import quote

from pipelines.catalogue.model import Report
from pipelines.connect.models import Request
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
        """What dateFrom and dateTo say; right whether dateTo is inclusive, exclusive or cut to a date.

        Times of the service carry fractions of a second, so the end does as well.
        """
        return f"{self.first}T00:00:00", f"{self.last}T23:59:59.999"

    def widened(self, margin: timedelta, window: Window, today: date) -> Span:
        """The span as it is asked: with the margin where it begins or ends its window, but no day to come."""
        first, last = window.spans[0].first, window.spans[-1].last
        return Span(
            self.first - margin if self.first == first else self.first,
            max(min(self.last + margin, today), self.last) if self.last == last else self.last,
        )

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    def halves(self) -> tuple[Span, Span]:
        """Two spans that cover this one, cut at a month boundary if it has one, else between days."""
        if self.first == self.last:
            raise ValueError(f"the single day {self.first} cannot be halved")
        months = list(months_between(Month.of(self.first).plus(1), Month.of(self.last)))
        if months:
            cut = months[len(months) // 2].first_day
        else:
            cut = self.first + timedelta(days=(self.days + 1) // 2)
        return Span(self.first, cut - timedelta(days=1)), Span(cut, self.last)


@dataclass(frozen=True, slots=True)
class Window:
    """Neighbouring months loaded together, asked in one span unless the service refuses so long a one.

    `months` is empty for a report that has none; it is then asked for the present state. `ids` are those of
    a report that is asked one by one.
    """

    months: tuple[Month, ...]
    spans: tuple[Span, ...]
    ids: tuple[str, ...] | None = None

    def __str__(self) -> str:
        if not self.months:
            return "now"
        if len(self.months) == 1:
            return str(self.months[0])
        return f"{self.months[0]}..{self.months[-1]}"


NOW = Window((), ())


def windows(
    months: Iterable[Month],
    longest: int,
    today: date,
    longest_days: int | None = None,
    limit: int | None = None,
) -> Iterator[Window]:
    """Cut wanted months into the fewest windows of at most `longest` whole calendar months.

    Where a request may span only `limit` months, the margin of a day on both sides of a window included, a
    longer window is asked in several spans.

    A window that reaches into the current month ends today; one of months to come keeps its whole
    months (only budgets ask for those). `longest_days` is the learned limit of a service that refuses
    whole months: the window's days are then asked in spans of at most so many.
    """
    for run in runs_of_months(months, longest if longest_days is None else 1):
        last = run[-1].last_day
        if run[-1] == Month.of(today):
            last = today
        whole = Span(run[0].first_day, last)
        if longest_days is None and limit is not None:
            yield Window(run, tuple(spans_of_months(whole, limit)))
        else:
            yield Window(run, tuple(spans_of_days(whole, longest_days or whole.days)))


def halves_of(window: Window, today: date, limit: int | None = None) -> list[Window]:
    """Two windows in place of one of several months, cut as `windows` does."""
    half = len(window.months) // 2
    several = (window.months[:half], window.months[half:])
    return [
        replace(one, ids=window.ids)
        for months in several
        for one in windows(months, len(months), today, limit=limit)
    ]


def spans_of_months(span: Span, limit: int) -> Iterator[Span]:
    """Cut a span into neighbours that are within so many months even with a day more on both sides."""
    day = timedelta(days=1)
    first = span.first
    while first <= span.last:
        latest = _months_later(first - day, limit) - day  # the last day that is within the limit
        last = span.last if span.last + day <= latest else min(latest, span.last - day)
        yield Span(first, last)
        first = last + day


def _months_later(day: date, months: int) -> date:
    """The same day so many months later, or the last of that month."""
    then = Month.of(day).plus(months)
    return min(then.last_day, then.first_day + timedelta(days=day.day - 1))


def spans_of_days(span: Span, longest_days: int) -> Iterator[Span]:
    """Cut a span into neighbours of at most so many days."""
    if longest_days < 1:
        raise ValueError(f"a span of {longest_days} days holds no day")
    first = span.first
    while first <= span.last:
        last = min(first + timedelta(days=longest_days - 1), span.last)
        yield Span(first, last)
        first = last + timedelta(days=1)


@dataclass(frozen=True)
class Question:
    """What is asked besides customer and span: an id, and one of the report's choices."""

    asked: str | None = None
    choice: str | None = None


NOTHING_ELSE = Question()


def build_request(
    report: Report, customer: str, span: Span | None, question: Question = NOTHING_ELSE, *, paged: bool = True
) -> Request:
    """The request for one span of a report (interface, Business intelligence and Budget reports).

    `paged=False` takes the path without pages of a paged report. Ids are percent-encoded: they come from
    settings and answers.
    """
    path = (
        report.endpoint.path
        if paged or report.endpoint.unpaged_path is None
        else report.endpoint.unpaged_path
    )
    query = dict(report.endpoint.query)
    places = {"customerId": quote(customer, safe="")}
    if report.endpoint.customer_parameter:
        query[report.endpoint.customer_parameter] = customer
    if span is not None:
        places |= {"year": str(span.first.year), "month": str(span.first.month)}
        if report.endpoint.time_parameters == "dates":
            query["dateFrom"], query["dateTo"] = span.bounds
        elif report.endpoint.time_parameters == "month bounds":
            query |= {
                "fromYear": str(span.first.year),
                "fromMonth": str(span.first.month),
                "toYear": str(span.last.year),
                "toMonth": str(span.last.month),
            }
    if report.endpoint.choices and question.choice is not None:
        query[report.endpoint.choices.parameter] = question.choice
    each = report.endpoint.each
    for name, id_ in zip(each.names, each.parts(question.asked), strict=True) if each else ():
        if f"{{{name}}}" in path:
            places[name] = quote(id_ or "", safe="")
        elif id_ is not None:
            query[name] = id_
    return Request(path=path.format_map(places), query=query, report=report.name, customer=customer)
