"""Windows: every requested day in exactly one, and none longer than allowed."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.months import Month
from pipelines.planning.windows import Span, Window, spans_of_months, windows

months = st.builds(Month, st.integers(2015, 2030), st.integers(1, 12))
days = st.dates(date(2015, 1, 1), date(2030, 12, 31))


def days_of(span: Span) -> list[date]:
    return [span.first + timedelta(days=number) for number in range(span.days)]


@given(st.sets(months, max_size=40), st.sampled_from([1, 2, 12]), days, st.none() | st.integers(1, 40))
def test_every_day_is_requested_exactly_once_in_windows_within_the_limits(
    wanted: set[Month], longest: int, today: date, longest_days: int | None
) -> None:
    past = {month for month in wanted if month <= Month.of(today)}
    cut = list(windows(past, longest, today, longest_days))
    asked = [day for window in cut for span in window.spans for day in days_of(span)]
    expected = [day for month in sorted(past) for day in days_of(Span(month.first_day, month.last_day))]
    assert asked == [day for day in expected if day <= today or Month.of(day) != Month.of(today)]
    assert all(len(window.months) <= longest for window in cut)


def test_consecutive_months_are_one_span_and_the_current_month_ends_today() -> None:
    (window,) = windows([Month(2026, 10), Month(2026, 11)], 2, date(2026, 11, 21))
    [span] = window.spans
    assert span.bounds == ("2026-10-01T00:00:00", "2026-11-21T23:59:59.999")


def test_a_learned_limit_of_days_cuts_a_month_into_spans_of_one_window() -> None:
    (window,) = windows([Month(2026, 1)], 2, date(2026, 6, 1), max_days=16)
    assert window == Window(
        (Month(2026, 1),),
        (Span(date(2026, 1, 1), date(2026, 1, 16)), Span(date(2026, 1, 17), date(2026, 1, 31))),
    )


@given(days, st.integers(2, 800))
def test_halves_cover_a_span_without_overlap(first: date, length: int) -> None:
    span = Span(first, first + timedelta(days=length - 1))
    earlier, later = span.halves()
    assert days_of(earlier) + days_of(later) == days_of(span)


@given(days, st.integers(1, 400), st.integers(1, 12))
def test_spans_of_months_cover_a_span_within_the_limit_including_an_extra_day_at_each_end(
    first: date, length: int, limit: int
) -> None:
    whole = Span(first, first + timedelta(days=length - 1))
    spans = tuple(spans_of_months(whole, limit))
    assert [day for span in spans for day in days_of(span)] == days_of(whole)
    asked = [span.widened(timedelta(days=1), Window((), spans), date.max) for span in spans]
    assert all(span.last < later_month(span.first, limit) for span in asked)


def later_month(day: date, number: int) -> date:
    """The same day of a later month, or the day after its end if the month is too short."""
    month = Month.of(day).plus(number)
    return min(month.first_day + timedelta(days=day.day - 1), month.last_day + timedelta(days=1))


@pytest.mark.parametrize(
    ("today", "asked"),
    [
        (date(2026, 6, 1), ["2025-12-31..2026-02-27", "2026-02-28..2026-04-01"]),
        (date(2026, 3, 31), ["2025-12-31..2026-02-27", "2026-02-28..2026-03-31"]),
    ],
)
def test_a_window_has_an_extra_day_at_each_end_but_no_future_day(today: date, asked: list[str]) -> None:
    (window,) = windows([Month(2026, month) for month in (1, 2, 3)], 3, today, limit=2)
    widened = [span.widened(timedelta(days=1), window, today) for span in window.spans]
    assert [f"{span.first}..{span.last}" for span in widened] == asked


def test_a_span_that_ends_before_it_begins_is_rejected() -> None:
    with pytest.raises(ValueError, match="cannot end on 2025-12-31, before it begins"):
        Span(date(2026, 1, 1), date(2025, 12, 31))
