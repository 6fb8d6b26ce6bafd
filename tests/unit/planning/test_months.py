"""Months: counted, ordered and cut into runs as a calendar does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.months import Month, months_between, runs_of_months

months = st.builds(Month, st.integers(1990, 2090), st.integers(1, 12))


@given(months, st.integers(-500, 500))
def test_adding_and_subtracting_the_same_months_returns_the_month(month: Month, number: int) -> None:
    assert month.plus(number).plus(-number) == month


@given(months)
def test_a_month_ends_the_day_before_the_next_begins(month: Month) -> None:
    assert (month.plus(1).first_day - month.last_day).days == 1


@given(st.sets(months, max_size=60), st.integers(1, 12))
def test_runs_contain_every_month_once_and_none_is_too_long(wanted: set[Month], longest: int) -> None:
    runs = list(runs_of_months(wanted, longest))
    assert [month for run in runs for month in run] == sorted(wanted)
    assert all(len(run) <= longest for run in runs)


def test_a_gap_begins_a_new_run() -> None:
    wanted = [Month(2025, 11), Month(2025, 12), Month(2026, 2)]
    assert list(runs_of_months(wanted, 12)) == [(Month(2025, 11), Month(2025, 12)), (Month(2026, 2),)]


@pytest.mark.parametrize("text", ["2024-13", "2024", "24-01", "2024-1", "x", "2024-01-01", ""])
def test_a_text_that_is_not_a_month_is_rejected_with_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="month"):
        Month.parse(text)


def test_reversed_months_have_no_months_between_them() -> None:
    assert list(months_between(Month(2026, 2), Month(2026, 1))) == []
