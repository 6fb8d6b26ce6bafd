"""Nights of a moving world in which a quarter of all answers is faulty, judged by the sandbox's log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path

from pipelines.connect.retry import RetryPolicy
from pipelines.months import Month
from pipelines.planning.plan import Plan
from pipelines.planning.selection import Selection
from pipelines.sandbox.calls import LoggedCall
from pipelines.sandbox.faults import Fault
from pipelines.sync.sync import sync
from tests.scenarios.scenario import TODAY, Scenario, scenario
from tests.unit.assets.request_months import MONTH_IN_PATH, months_of

KINDS = "429 500 502 503 reset reset_inside half half_without_length html empty".split()
LONGEST = {  # interface, Limits: calendar months in one request
    "CommissionOfficeReport": 12,
    "CommissionUserReport": 12,
    "LiveData": 2,
    "RunningCommissions": 2,
    "TipsAndLeads": 2,
}
LATEST_LIVE_MONTHS = 3


def faulty_nights(here: Scenario, nights: int, rate: float) -> Iterator[tuple[date, int, list[str]]]:
    """The day of each night, how many requests it took, and what was wrong with them."""
    each = 1 - (1 - rate) ** (1 / len(KINDS))
    for day in (TODAY + timedelta(days=number) for number in range(nights)):
        here, plans = here.on(day), list[Plan]()
        here.service.log.clear()
        here.service.faults.switch([Fault(kind, rate=each) for kind in KINDS])
        sync(here.settings, Selection(), context=here.context, on_plan=plans.append)
        log = here.service.log
        wrong = [*asked_too_often(log.entries, RetryPolicy.tries), *outside_limits(log.entries, day)]
        of_plan = [one for one in log.entries if not MONTH_IN_PATH.search(one.path)]  # others follow a change
        if len(of_plan) > RetryPolicy.tries * plans[-1].requests:
            wrong.append(f"{len(of_plan)} requests for a plan of {plans[-1].requests}")
        if log.most_in_flight > here.settings.concurrency:
            wrong.append(f"{log.most_in_flight} requests at a time")
        yield day, len(log.entries), wrong


def asked_too_often(entries: Sequence[LoggedCall], tries: int) -> Iterator[str]:
    """Requests that were answered well more than once, or tried more often than allowed."""
    answered, tried = Counter[str](), Counter[str]()
    for one in entries:
        request = f"{one.path} {sorted(one.query.items())}"
        tried[request] += 1
        answered[request] += not one.faults
    yield from (f"answered {times} times: {one}" for one, times in answered.items() if times > 1)
    yield from (f"tried {times} times: {one}" for one, times in tried.items() if times > tries)


def outside_limits(entries: Sequence[LoggedCall], today: date) -> Iterator[str]:
    """Requests for more months than the interface allows, for days to come, or for what is not calculated."""
    this_month = Month.of(today)
    for one in entries:
        asked = (one.path, one.query)
        months = months_of(asked)
        longest = next((most for word, most in LONGEST.items() if f"/{word}" in one.path), len(months))
        is_to_come = one.query.get("dateto", "")[:10] > str(today)
        is_too_old = "LiveData/CommissionReport" in one.path and min(months) < this_month.plus(
            1 - LATEST_LIVE_MONTHS
        )
        if len(months) > longest or is_to_come or is_too_old:
            yield f"outside the limits: {asked}"


def all_reports(folder: Path, shapes: str) -> Scenario:
    """An office of which every usual report is asked, with one of the shapes of budgets."""
    here = scenario(folder, (), offices=1, start="2026-05")
    here.service.shapes = shapes  # type: ignore[assignment]
    return here
