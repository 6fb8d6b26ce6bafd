"""Bisection: a rejected span is read in parts, and the limit is learned."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

import pytest

from pipelines.catalogue.reports import report
from pipelines.connect.errors import AnswerTooLarge, BadRequest, ConnectError, Unavailable
from pipelines.connect.models import Request
from pipelines.months import Month
from pipelines.planning.windows import Span, Window, windows
from pipelines.sync.window.bisect import RejectedTogether, WindowLimit, read_spans

TODAY = date(2026, 11, 21)
YEAR = Window(
    tuple(Month(2025, number) for number in range(1, 13)), (Span(date(2025, 1, 1), date(2025, 12, 31)),)
)
JANUARY = Window((Month(2025, 1),), (Span(date(2025, 1, 1), date(2025, 1, 31)),))
QUESTION = Request("/x", {}, "sales", "M1")


def refused() -> BadRequest:
    return BadRequest("too long", request=QUESTION)


def too_large() -> AnswerTooLarge:
    return AnswerTooLarge("too large", request=QUESTION)


def timed_out() -> Unavailable:
    error = Unavailable("too slow", request=QUESTION)
    error.timed_out = True
    return error


@dataclass
class Service:
    """Answers spans of at most so many days."""

    longest: int
    refusal: Callable[[], ConnectError] = refused
    asked: list[Span] = field(default_factory=list)

    async def answer(self, span: Span) -> list[Span]:
        self.asked.append(span)
        if span.days > self.longest:
            raise self.refusal()
        return [span]


def read(
    service: Service, window: Window = YEAR, name: str = "sales", limit: WindowLimit | None = None
) -> list[Span]:
    return asyncio.run(read_spans(report(name), window, limit or WindowLimit(), service.answer))


@pytest.mark.parametrize("longest", [365, 200, 100, 31, 30, 10, 1])
@pytest.mark.parametrize("refusal", [too_large, timed_out])
def test_a_whole_year_is_read_under_any_limit(longest: int, refusal: Callable[[], ConnectError]) -> None:
    answered = read(Service(longest, refusal))
    assert answered[0].first == date(2025, 1, 1)
    assert answered[-1].last == date(2025, 12, 31)
    assert sum(span.days for span in answered) == 365


def test_the_next_window_is_requested_in_spans_of_the_learned_length() -> None:
    limit = WindowLimit()
    read(Service(100, too_large), limit=limit)
    again = Service(100, too_large)
    read(again, limit=limit)
    assert all(span.days <= 100 for span in again.asked)


def test_a_learned_number_of_days_applies_to_later_runs() -> None:
    limit = WindowLimit()
    read(Service(16), JANUARY, limit=limit)
    assert (limit.months, limit.days) == (1, 16)
    (january,) = windows([Month(2026, 1)], 12, TODAY, limit.days)
    assert [span.days for span in january.spans] == [16, 15]


def test_several_months_that_are_rejected_together_are_not_halved_within_their_window() -> None:
    service, limit = Service(200), WindowLimit()
    with pytest.raises(RejectedTogether):
        read(service, limit=limit)
    assert (len(service.asked), limit) == (1, WindowLimit())


@pytest.mark.parametrize("longest", [31, 30, 10, 1])
def test_a_month_that_is_too_long_is_read_whole_in_spans_of_days(longest: int) -> None:
    answered = read(Service(longest), JANUARY)
    assert sum(span.days for span in answered) == 31


@pytest.mark.parametrize(
    ("known", "requests"),
    [(WindowLimit(), 6), (WindowLimit(has_bad_month=True), 1), (WindowLimit(longest_answered=16), 2)],
)
def test_a_rejection_not_caused_by_length_costs_few_requests(known: WindowLimit, requests: int) -> None:
    service = Service(0)
    with pytest.raises(BadRequest):
        read(service, JANUARY, limit=known)
    assert (len(service.asked), known.months, known.days, known.too_long) == (requests, None, None, [])


def test_only_rejections_of_months_answered_later_confirm_a_limit() -> None:
    limit = WindowLimit(months=6)
    for first, last in ((1, 4), (5, 6)):
        limit.learn(Span(date(2025, first, 1), date(2025, last, 28)))
    months = [limit.confirmed([date(2025, lost, 1)] if lost else []).months for lost in (None, 6, 4)]
    assert (limit.months, months) == (1, [1, 2, 1])


def test_an_aggregate_is_never_cut_below_its_month() -> None:
    service = Service(20)
    with pytest.raises(BadRequest):
        read(service, JANUARY, "commission_office")
    assert len(service.asked) == 1


def test_rows_with_a_year_and_a_month_are_only_cut_between_months() -> None:
    answered = read(Service(31, too_large), name="commission_office_by_month")
    assert [span.first.day for span in answered] == [1] * 12
