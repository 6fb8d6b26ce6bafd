"""Windows: every wanted day in exactly one, and none longer than allowed."""

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.months import Month
from pipelines.planning.windows import Span, Window, spans_of_days, windows

months = st.builds(Month, st.integers(2015, 2030), st.integers(1, 12))
days = st.dates(date(2015, 1, 1), date(2030, 12, 31))


def days_of(span: Span) -> list[date]:
    return [span.first + timedelta(days=number) for number in range(span.days)]


@given(st.sets(months, max_size=40), st.sampled_from([1, 2, 12]), days, st.none() | st.integers(1, 40))
def test_every_wanted_day_is_asked_exactly_once(
    wanted: set[Month], longest: int, today: date, longest_days: int | None
) -> None:
    past = {month for month in wanted if month <= Month.of(today)}
    cut = list(windows(past, longest, today, longest_days))
    asked = [day for window in cut for span in window.spans for day in days_of(span)]
    expected = [day for month in sorted(past) for day in days_of(Span(month.first_day, month.last_day))]
    assert asked == [day for day in expected if day <= today or Month.of(day) != Month.of(today)]


@given(st.sets(months, max_size=40), st.sampled_from([1, 2, 12]), days)
def test_no_window_spans_more_calendar_months_than_allowed(
    wanted: set[Month], longest: int, today: date
) -> None:
    assert all(len(window.months) <= longest for window in windows(wanted, longest, today))


def test_the_current_month_is_asked_to_the_end_of_today() -> None:
    (window,) = windows([Month(2026, 10), Month(2026, 11)], 2, date(2026, 11, 21))
    assert window.spans[0].starts_at == datetime(2026, 10, 1, 0, 0, 0)
    assert window.spans[0].ends_at == datetime(2026, 11, 21, 23, 59, 59)


def test_a_leap_year_is_one_window_of_twelve_months() -> None:
    cut = list(windows([Month(2024, number) for number in range(1, 13)], 12, date(2026, 1, 1)))
    assert [window.spans for window in cut] == [(Span(date(2024, 1, 1), date(2024, 12, 31)),)]


def test_learned_days_cut_a_month_but_load_it_whole() -> None:
    (window,) = windows([Month(2026, 1)], 2, date(2026, 6, 1), longest_days=16)
    assert window == Window(
        (Month(2026, 1),),
        (Span(date(2026, 1, 1), date(2026, 1, 16)), Span(date(2026, 1, 17), date(2026, 1, 31))),
    )


@given(days, st.integers(2, 800))
def test_halves_cover_a_span_without_overlap(first: date, length: int) -> None:
    span = Span(first, first + timedelta(days=length - 1))
    earlier, later = span.halves()
    assert days_of(earlier) + days_of(later) == days_of(span)


def test_a_span_of_months_is_halved_between_months() -> None:
    earlier, later = Span(date(2025, 1, 1), date(2025, 12, 31)).halves()
    assert (earlier.last, later.first) == (date(2025, 6, 30), date(2025, 7, 1))


def test_a_single_day_cannot_be_halved() -> None:
    with pytest.raises(ValueError, match="cannot be halved"):
        Span(date(2026, 1, 1), date(2026, 1, 1)).halves()


def test_a_span_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(ValueError, match="before it begins"):
        Span(date(2026, 1, 2), date(2026, 1, 1))


def test_a_span_without_a_day_is_refused() -> None:
    with pytest.raises(ValueError, match="holds no day"):
        list(spans_of_days(Span(date(2026, 1, 1), date(2026, 1, 1)), 0))


@pytest.mark.parametrize(
    ("window", "words"),
    [
        (Window((), ()), "now"),
        (Window((Month(2026, 1),), ()), "2026-01"),
        (Window((Month(2026, 1), Month(2026, 2)), ()), "2026-01..2026-02"),
    ],
)
def test_a_window_is_written_by_its_months(window: Window, words: str) -> None:
    assert str(window) == words
