"""The guard of what is held: rows that are lost, what comes empty, amounts that jump."""

from __future__ import annotations

from datetime import date

import pytest

from pipelines.sync.guard import rows_lost, shrink_warning
from warehouse.window_result import WindowResult

JANUARY, FEBRUARY = date(2026, 1, 1), date(2026, 2, 1)


def fetched(*now: dict[date | None, int]) -> list[WindowResult]:
    return [WindowResult("sales", "M1", rows_by_month=one) for one in now]


def lost(held: dict[date | None, int], *now: dict[date | None, int]) -> bool:
    return rows_lost(held, fetched(*now)) is not None


@pytest.mark.parametrize(
    ("held", "now", "is_held_back"),
    [
        ({JANUARY: 60, FEBRUARY: 40}, {JANUARY: 0, FEBRUARY: 0}, True),
        ({JANUARY: 60, FEBRUARY: 40}, {JANUARY: 60, FEBRUARY: 0}, False),
        ({JANUARY: 60, FEBRUARY: 40}, {JANUARY: 0, FEBRUARY: 50}, False),
        ({JANUARY: 60, FEBRUARY: 40}, {JANUARY: 9, FEBRUARY: 40}, True),
        ({JANUARY: 5, FEBRUARY: 4}, {JANUARY: 0, FEBRUARY: 0}, False),
        ({JANUARY: 60, date(2025, 12, 1): 940}, {JANUARY: 0}, False),
        ({None: 3}, {None: 0}, True),
        ({None: 3}, {None: 1}, False),
        ({None: 0}, {None: 0}, False),
    ],
)
def test_only_the_loss_of_more_than_half_of_many_rows_or_of_all_without_months_is_held_back(
    held: dict[date | None, int], now: dict[date | None, int], *, is_held_back: bool
) -> None:
    assert lost(held, now) is is_held_back


def test_the_loss_of_more_than_half_of_the_months_that_were_asked_is_a_warning() -> None:
    held: dict[date | None, int] = {date(2025, 12, 1): 940, JANUARY: 60, FEBRUARY: 40}
    assert shrink_warning(held, fetched({JANUARY: 30, FEBRUARY: 20})) == ""
    assert shrink_warning(held, fetched({JANUARY: 20, FEBRUARY: 20})) == (
        "60 of the 100 rows that were held of these months are gone, more than half"
    )


def test_windows_that_share_a_month_are_added_up() -> None:
    assert not lost({JANUARY: 60, FEBRUARY: 40}, {JANUARY: 30}, {JANUARY: 30, FEBRUARY: 0})
