"""The order of windows, and the guard against reports that shrink."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import product

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.planning.plan import PlannedReport
from pipelines.planning.windows import Window
from pipelines.settings.model import Customer
from pipelines.sync.scheduler import TaskState, in_turns, shrink_reason, shrink_warning
from warehouse.window_result import WindowResult

NAMES = list(REPORTS)[:12]
WINDOWS = tuple(Window((Month(2026, month),), ()) for month in (1, 2))
JANUARY, FEBRUARY = date(2026, 1, 1), date(2026, 2, 1)


def tasks_of(customers: Sequence[str], reports: Sequence[str]) -> list[TaskState]:
    return [
        TaskState(PlannedReport(REPORTS[name], Customer(id=customer), windows=WINDOWS))
        for customer in customers
        for name in reports
    ]


def test_one_window_of_every_task_comes_first_and_then_the_others_task_by_task() -> None:
    tasks = tasks_of(["M1", "M2"], NAMES[:2])
    order = [(tasks.index(task), WINDOWS.index(window)) for task, window in in_turns(tasks)]
    assert order == [(0, 0), (3, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (3, 1)]


@pytest.mark.parametrize("many", [1, 2, 3, 5, 7, 12, 40])
def test_few_requests_reach_every_report(many: int) -> None:
    tasks = tasks_of([f"M{number}" for number in range(many)], NAMES)
    first = [task.planned.report.name for task, _ in list(in_turns(tasks))[: len(NAMES) + many]]
    assert set(first) == set(NAMES)


@pytest.mark.parametrize("customers", [[], ["M1", "M2", "M3"]])
def test_nothing_is_asked_twice_or_left_out(customers: list[str]) -> None:
    tasks = tasks_of(customers, NAMES)
    asked = [(id(task), window) for task, window in in_turns(tasks)]
    assert sorted(asked, key=str) == sorted(product(map(id, tasks), WINDOWS), key=str)


def fetched(*now: dict[date | None, int]) -> list[WindowResult]:
    return [WindowResult("sales", "M1", rows_by_month=one) for one in now]


def lost(held: dict[date | None, int], *now: dict[date | None, int]) -> bool:
    return bool(shrink_reason(held, fetched(*now)))


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
