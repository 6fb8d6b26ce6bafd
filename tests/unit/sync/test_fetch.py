"""Fetching: each landing file is complete or removed, and unusable answers are recognized."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from pipelines.catalogue.reports import report
from pipelines.clock import SystemClock
from pipelines.connect.client import Client
from pipelines.connect.errors import NotFound, TooManyObjects, Unavailable
from pipelines.connect.models import Answer, Request
from pipelines.months import Month
from pipelines.planning.plan import PlannedReport
from pipelines.planning.windows import Window, windows
from pipelines.settings.model import Customer
from pipelines.sync.window.answers import MAX_OBJECTS, UnreadableRows, check_size, open_months
from pipelines.sync.window.bisect import WindowLimit
from pipelines.sync.window.fetch import Fetcher
from pipelines.sync.window.paging import UNPAGED, Page, PageSize
from pipelines.sync.window.task import TaskState
from warehouse.ledger.window_result import WindowResult
from warehouse.load.landing import Landing
from warehouse.load.profile import TableProfile

USERS = TaskState(PlannedReport(report("users"), Customer(id="M1")))
NOW = datetime(2026, 1, 1, tzinfo=UTC)
LEAD = {"createdAt": "2026-01-05T10:00:00"}


@dataclass
class Answering:
    """A client that answers with the result of `answer`, which may note each request in `asked`."""

    answer: Callable[[Request, list[str]], object]
    asked: list[str] = field(default_factory=list)

    async def get(self, request: Request, read: Callable[[bytes], Page], **_: object) -> tuple[Answer, Page]:
        found = self.answer(request, self.asked)
        body = found if isinstance(found, bytes) else json.dumps(found).encode()
        return Answer(request, "/x", 200, body, "application/json", {}, 0.1, 1, NOW), read(body)


def nothing(_: Request, asked: list[str]) -> object:
    asked.append("")
    return []


def task_of(name: str) -> TaskState:
    return TaskState(PlannedReport(report(name), Customer(id="M1")))


async def fetched_once(
    landing: Path, client: Answering, task: TaskState, window: Window
) -> tuple[WindowResult, Exception | None]:
    fetcher, result = Fetcher(Landing(landing), SystemClock(), "Europe/Stockholm"), task.begin(window, "run")
    return await fetcher.fetch(cast("Client", client), task, window, result)


def fetched(
    landing: Path, client: Answering, task: TaskState, window: Window | None = None
) -> tuple[WindowResult, Exception | None]:
    """The result of a window, and the error that ended it, if any."""
    return asyncio.run(fetched_once(landing, client, task, window or Window((), ())))


class NeverClosing(ThreadPoolExecutor):
    """Threads that are always busy when a landing file is to be closed."""

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        work = getattr(call, "args", (None,))[0]
        if getattr(work, "__name__", "") == "close":
            self.asked.set()
            return Future()
        return super().submit(call, *args, **kwargs)

    asked: asyncio.Event


async def cancelled_before_the_file_was_closed(landing: Path) -> None:
    threads = NeverClosing(1)
    threads.asked = asyncio.Event()
    asyncio.get_running_loop().set_default_executor(threads)
    task = asyncio.create_task(fetched_once(landing, Answering(nothing), USERS, Window((), ())))
    await threads.asked.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def test_a_window_cancelled_while_it_waits_for_a_thread_leaves_no_file(tmp_path: Path) -> None:
    asyncio.run(cancelled_before_the_file_was_closed(tmp_path))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("error", [{"error": {"code": 17}}, [{"error": "Time-out"}]])
def test_an_error_message_is_no_page_even_if_requested_unpaged(tmp_path: Path, error: object) -> None:
    def answer(request: Request, asked: list[str]) -> object:
        asked.append(request.query["activeStatusTipLead"])
        return error if asked[-1] == "Removed" else []

    client = Answering(answer)
    _, raised = fetched(tmp_path, client, task_of("tips_and_leads"))
    assert isinstance(raised, UnreadableRows)
    assert client.asked == ["Active", "Removed", "Removed"]
    assert str(raised).startswith("expected incomingLeads[], found ")


@pytest.mark.parametrize(("cut_off", "unpaged"), [([], []), (["Removed"], ["Active", "Removed"])])
def test_if_one_choice_is_unpaged_all_are(tmp_path: Path, cut_off: list[str], unpaged: list[str]) -> None:
    def answer(request: Request, asked: list[str]) -> object:
        """The choices in `cut_off` have more rows than their first page, but no second page."""
        choice, page = request.query["activeStatusTipLead"], request.query.get("pageIndex", "unpaged")
        asked.append(f"{choice} {page}")
        if page == "1":
            raise NotFound("nothing here", request=request)
        return {"totalRowCount": 2, "incomingLeads": [{"lead": {"id": 1}}]} if choice in cut_off else []

    client = Answering(answer)
    fetched(tmp_path, client, task_of("tips_and_leads"))
    found = sorted(one for one in client.asked if "unpaged" in one)
    assert found == [f"{choice} unpaged" for choice in unpaged]


def in_unknown_pages(without_pages: object) -> Answering:
    """A client whose pages of leads have an unknown envelope. Without pages it answers `without_pages`."""

    def answer(request: Request, asked: list[str]) -> object:
        asked.append("page" if "pageIndex" in request.query else "unpaged")
        if asked[-1] == "unpaged":
            return without_pages
        return {"rows": [{"kind": "Tip", **LEAD, "tip": {"id": "T1"}}], "totalPageCount": 1}

    return Answering(answer)


def test_a_report_with_pages_in_an_unknown_envelope_is_read_unpaged_from_then_on(tmp_path: Path) -> None:
    leads, client = task_of("tips_and_leads"), in_unknown_pages({"tips": [{**LEAD, "tip": {"id": "T1"}}]})
    tips = []
    for window in [*windows([Month(2026, 1)], 1, date(2026, 6, 1))] * 2:
        result, raised = fetched(tmp_path, client, leads, window)
        tips += [(raised, one.frame.height) for one in result.tables if one.name == "tips"]
    assert tips == [(None, 1), (None, 1)]
    assert (client.asked, leads.page_size.learned) == (["page", *["unpaged"] * 4], UNPAGED)


@pytest.mark.parametrize("without_pages", [{"tips": []}, {"unknown": [{"a": 1}]}])
def test_an_unknown_envelope_is_rejected_if_the_unpaged_report_has_no_rows_either(
    tmp_path: Path, without_pages: object
) -> None:
    leads, client = task_of("tips_and_leads"), in_unknown_pages(without_pages)
    _, raised = fetched(tmp_path, client, leads)
    assert (type(raised), client.asked) == (UnreadableRows, ["page", "unpaged"])
    assert leads.page_size.learned is None


def test_a_failing_page_after_all_stated_rows_ends_the_reading(tmp_path: Path) -> None:
    def answer(request: Request, asked: list[str]) -> object:
        asked.append(f"{request.query['activeStatusTipLead']} {request.query['pageIndex']}")
        if request.query["pageIndex"] == "1":
            raise Unavailable("no answer", request=request)
        lead = {**LEAD, "lead": {"id": f"L{len(asked)}"}}
        return {"totalRowCount": 1, "incomingLeads": [lead], "outgoingLeads": [], "tips": []}

    (window,) = windows([Month(2026, 1)], 1, date(2026, 6, 1))
    client = Answering(answer)
    result, raised = fetched(tmp_path, client, task_of("tips_and_leads"), window)
    leads = [table.frame.height for table in result.tables if table.name == "incoming_leads"]
    assert (raised, leads) == (None, [2])
    assert client.asked == ["Active 0", "Active 1", "Removed 0", "Removed 1"]


@pytest.mark.parametrize(
    ("name", "most", "requests", "learned"),
    [
        ("running_commissions", 700, [7, 7], 700),
        ("running_commissions", 10_000, [1, 1], None),
        ("tips_and_leads", 700, [14, 14], 700),
    ],
    ids=["cut off", "whole", "one list of an unpaged answer cut off"],
)
def test_an_answer_with_a_round_number_of_rows_is_requested_in_halves(
    tmp_path: Path, name: str, most: int, requests: list[int], learned: int | None
) -> None:
    def answer(request: Request, asked: list[str]) -> object:
        """One commission or lead for each requested hour, but at most `most` of them."""
        first, last = (datetime.fromisoformat(request.query[name]) for name in ("dateFrom", "dateTo"))
        asked.append(f"{first:%m-%d} {last:%m-%d}")
        moments = [first + timedelta(hours=hour) for hour in range((last - first) // timedelta(hours=1) + 1)]
        if name == "running_commissions":
            return [{"userId": "U1", "obtainedAt": moment.isoformat()} for moment in moments][:most]
        leads = [{"createdAt": moment.isoformat(), "lead": {"id": str(moment)}} for moment in moments]
        return {"incomingLeads": leads[:most], "tips": [{**leads[0], "tip": {"id": "T1"}}]}

    task, client = replace(task_of(name), page_size=PageSize(learned=UNPAGED)), Answering(answer)
    rows: list[int] = []
    asked: list[int] = []
    for window in windows([Month(2026, 1), Month(2026, 3)], 1, date(2026, 6, 1)):
        result, _ = fetched(tmp_path, client, task, window)
        rows.append(result.tables[0].frame.height)
        asked.append(len(client.asked) - sum(asked))
    assert (rows, asked, task.learned([]).rows) == ([744, 744], requests, learned)


def test_a_day_with_as_many_rows_as_the_service_sends_at_most_is_an_error(tmp_path: Path) -> None:
    def answer(request: Request, _: list[str]) -> object:
        """The commissions of the requested days, but at most 700."""
        first, last = (request.query[name][:10] for name in ("dateFrom", "dateTo"))
        days = ["2025-12-31"] * 400 + ["2026-01-01"] * 400 + ["2026-02-05"] * 900
        return [{"userId": "U1", "obtainedAt": day} for day in days if first <= day <= last][:700]

    task, months = task_of("running_commissions"), [Month(2026, 1), Month(2026, 2)]
    parts = (months[:1], months[1:], months)
    [january], [february], [both] = (windows(part, 2, date(2026, 6, 1)) for part in parts)
    fetched(tmp_path, Answering(answer), task, february)
    assert (task.limit.rows, task.limit.whole_rows) == (None, 0)  # it may have been cut off or complete
    found = [fetched(tmp_path, Answering(answer), task, window) for window in (january, both, february)]
    errors = [str(error).partition(";")[0] for _, error in found]
    assert errors == ["None", "", "an answer is cut off at 700 rows a day"]
    assert found[0][0].tables[0].frame.height == 400


def test_an_answer_shorter_than_a_complete_one_is_not_halved() -> None:
    limit = WindowLimit()
    assert [limit.may_be_truncated(rows) for rows in (500, 501, 400)] == [True, False, False]
    limit.whole_rows = 700
    assert [limit.may_be_truncated(rows) for rows in (500, 700, 1000)] == [False, True, True]
    limit.rows = 700
    assert limit.may_be_truncated(700)


@pytest.mark.parametrize(("stored", "rows", "tries"), [(100, 90, 2), (100, 91, 1), (80, 71, 1)])
def test_a_snapshot_that_lost_a_tenth_and_ten_rows_is_requested_twice_with_a_warning(
    tmp_path: Path, stored: int, rows: int, tries: int
) -> None:
    def answer(_: Request, asked: list[str]) -> object:
        asked.append("")
        return [{"id": str(number), "spokenLanguages": [1]} for number in range(1, rows + 1)]

    client, languages = Answering(answer), TableProfile(9 * stored, is_nested=True)
    tables = {"users": TableProfile(stored), "users__spoken_languages": languages}
    result, _ = fetched(tmp_path, client, replace(USERS, stored={None: tables}))
    warnings = (f"the report had {stored} rows and has {rows} now; it was read twice",) if tries > 1 else ()
    assert (len(client.asked), result.warnings) == (tries, warnings)


@pytest.mark.parametrize("objects", [MAX_OBJECTS, MAX_OBJECTS + 1])
def test_an_answer_of_very_many_objects_is_rejected_before_it_is_parsed(objects: int) -> None:
    body = b"[" + b"{}," * (objects - 2) + b"{}]"
    with pytest.raises(TooManyObjects) if objects > MAX_OBJECTS else nullcontext():
        check_size(body)


@pytest.mark.parametrize(
    ("last_day", "fetched", "are_open"),
    [
        (date(2026, 1, 31), datetime(2026, 2, 1, 4, tzinfo=UTC), False),
        (date(2026, 1, 31), datetime(2026, 1, 31, 22, tzinfo=UTC), True),
        (date(2026, 1, 31), datetime(2026, 1, 31, 23, 30, tzinfo=UTC), False),  # February in Sweden
        (date(2026, 1, 20), datetime(2026, 2, 1, 4, tzinfo=UTC), True),
    ],
)
def test_a_month_is_open_until_it_is_requested_completely_after_its_end(
    last_day: date, fetched: datetime, *, are_open: bool
) -> None:
    assert bool(open_months([date(2026, 1, 1)], last_day, fetched, "Europe/Stockholm")) is are_open
