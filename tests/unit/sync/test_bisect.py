"""Bisection: a refused span is read whole in parts, and the limit is remembered."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

import pytest

from pipelines.catalogue.reports import report
from pipelines.connect.errors import AnswerTooLarge, ConnectError, Refused, Unavailable
from pipelines.connect.models import Request
from pipelines.months import Month
from pipelines.planning.windows import Span, Window, windows
from pipelines.sync.bisect import WindowLimit, read_spans

TODAY = date(2026, 11, 21)
YEAR = Window(
    tuple(Month(2025, number) for number in range(1, 13)), (Span(date(2025, 1, 1), date(2025, 12, 31)),)
)
QUESTION = Request("/x", {}, "sales", "M1")


def refused() -> Refused:
    return Refused("too long", request=QUESTION)


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
@pytest.mark.parametrize("refusal", [refused, too_large, timed_out])
def test_whatever_the_service_allows_the_whole_year_is_read(
    longest: int, refusal: Callable[[], ConnectError]
) -> None:
    answered = read(Service(longest, refusal))
    assert answered[0].first == date(2025, 1, 1)
    assert answered[-1].last == date(2025, 12, 31)
    assert sum(span.days for span in answered) == 365


def test_the_next_window_is_asked_in_the_length_that_was_learned() -> None:
    limit = WindowLimit()
    read(Service(100), limit=limit)
    again = Service(100)
    read(again, limit=limit)
    assert all(span.days <= 100 for span in again.asked)


def test_a_learned_number_of_days_is_kept_for_the_following_runs() -> None:
    limit = WindowLimit()
    read(Service(16), limit=limit)
    assert (limit.months, limit.days) == (1, 16)
    (january,) = windows([Month(2026, 1)], 12, TODAY, limit.days)
    assert [span.days for span in january.spans] == [16, 15]


def test_a_refusal_that_is_not_about_the_length_costs_few_requests_and_teaches_nothing() -> None:
    service, limit = Service(0), WindowLimit()
    with pytest.raises(Refused):
        read(service, limit=limit)
    assert len(service.asked) <= 10
    assert (limit.months, limit.days, limit.refused) == (None, None, [])


def test_an_aggregate_is_never_cut_below_its_month() -> None:
    service = Service(20)
    window = Window((Month(2026, 1),), (Span(date(2026, 1, 1), date(2026, 1, 31)),))
    with pytest.raises(Refused):
        read(service, window, "commission_office")
    assert len(service.asked) == 1


def test_rows_with_a_year_and_a_month_are_only_cut_between_months() -> None:
    answered = read(Service(31), name="commission_office_by_month")
    assert [span.first.day for span in answered] == [1] * 12
