"""Do months that empty and customers that shrink give themselves away?"""

import pytest

from pipelines.months import Month
from pipelines.sync.guards import emptied_months, merged, shrink_reason

JANUARY, FEBRUARY = Month(2026, 1), Month(2026, 2)


def test_a_month_that_had_rows_and_has_none_is_noticed() -> None:
    assert emptied_months({JANUARY: 5, FEBRUARY: 0}, {JANUARY: 0, FEBRUARY: 0}) == (JANUARY,)


def test_a_month_never_held_may_well_be_empty() -> None:
    assert emptied_months({}, {JANUARY: 0}) == ()


@pytest.mark.parametrize(
    ("held", "now", "is_held_back"),
    [
        ({JANUARY: 60, FEBRUARY: 40}, {JANUARY: 0, FEBRUARY: 0}, True),
        ({JANUARY: 60, FEBRUARY: 40}, {JANUARY: 60, FEBRUARY: 0}, False),
        ({JANUARY: 60, FEBRUARY: 40}, {JANUARY: 0, FEBRUARY: 50}, False),
        ({JANUARY: 60, FEBRUARY: 40}, {JANUARY: 9, FEBRUARY: 40}, True),
        ({JANUARY: 5, FEBRUARY: 4}, {JANUARY: 0, FEBRUARY: 0}, False),
    ],
)
def test_only_the_loss_of_more_than_half_of_many_rows_is_held_back(
    held: dict[Month, int], now: dict[Month, int], is_held_back: bool
) -> None:
    assert bool(shrink_reason(sum(held.values()), held, now)) is is_held_back


def test_months_not_asked_for_count_as_rows_that_stay() -> None:
    assert shrink_reason(1000, {JANUARY: 60}, {JANUARY: 0}) is None


def test_windows_that_share_a_month_are_added_up() -> None:
    assert merged([{JANUARY: 1}, {JANUARY: 2, FEBRUARY: 3}]) == {JANUARY: 3, FEBRUARY: 3}
