"""The order of windows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.planning.plan import PlannedReport
from pipelines.planning.windows import Window
from pipelines.settings.model import Customer
from pipelines.sync.scheduler import round_robin
from pipelines.sync.window.task import TaskState

NAMES = list(REPORTS)[:12]
WINDOWS = tuple(Window((Month(2026, month),), ()) for month in (1, 2))


def tasks_of(customers: Sequence[str], reports: Sequence[str]) -> list[TaskState]:
    return [
        TaskState(PlannedReport(REPORTS[name], Customer(id=customer), windows=WINDOWS))
        for customer in customers
        for name in reports
    ]


def test_each_customer_begins_with_a_different_report() -> None:
    tasks = tasks_of(["M1", "M2"], NAMES[:2])
    assert [tasks.index(task) for task in round_robin(tasks)] == [0, 3, 1, 2]


@pytest.mark.parametrize("many", [1, 2, 3, 5, 7, 12, 40])
def test_few_requests_reach_every_report(many: int) -> None:
    tasks = tasks_of([f"M{number}" for number in range(many)], NAMES)
    first = [task.planned.report.name for task in round_robin(tasks)[: len(NAMES) + many]]
    assert set(first) == set(NAMES)


def test_the_newest_window_is_requested_first_and_cut_by_the_learned_limit() -> None:
    task = tasks_of(["M1"], NAMES[:1])[0]
    year = Window(tuple(Month(2026, month) for month in range(3, 8)), ())
    task.windows.appendleft(year)
    task.limit.months = 3
    months = [window.months for window in task.next_windows(4, date(2026, 9, 1))]
    assert [(first.first_day.month, len(rest)) for first, *rest in months] == [(5, 2), (3, 1), (2, 0), (1, 0)]
