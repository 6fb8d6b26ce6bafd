"""The order of windows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.planning.plan import PlannedReport
from pipelines.planning.windows import Window
from pipelines.settings.model import Customer
from pipelines.sync.scheduler import in_turns
from pipelines.sync.window.task import TaskState

NAMES = list(REPORTS)[:12]
WINDOWS = tuple(Window((Month(2026, month),), ()) for month in (1, 2))


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
