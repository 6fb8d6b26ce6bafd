"""Fetching: a landing file is finished or gone, whatever becomes of its window; what a window lacks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
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
from pipelines.sync.window.answers import (
    MOST_OBJECTS,
    UnreadableRows,
    check_size,
    open_months,
)
from pipelines.sync.window.bisect import WindowLimit
from pipelines.sync.window.fetch import Fetcher
from pipelines.sync.window.paging import UNPAGED, Page
from pipelines.sync.window.task import TaskState
from warehouse.load.landing import Landing

USERS = TaskState(PlannedReport(report("users"), Customer(id="M1")))


@dataclass
class Answering:
    """A client whose every answer is an empty list, unless it is about what was `removed`."""

    removed: bytes = b"[]"
    asked: list[str] = field(default_factory=list)

    async def get(self, request: Request, read: Callable[[bytes], Page], **_: object) -> tuple[Answer, Page]:
        now = datetime(2026, 1, 1, tzinfo=UTC)
        self.asked.append(request.query.get("activeStatusTipLead", ""))
        body = self.removed if self.asked[-1] == "Removed" else b"[]"
        return Answer(request, "/x", 200, body, "application/json", {}, 0.1, 1, now), read(body)


@dataclass
class CutOff(Answering):
    """A client that says of some choices of leads that there is more, and finds no second page of them."""

    cut_off: Sequence[str] = ()

    async def get(self, request: Request, read: Callable[[bytes], Page], **_: object) -> tuple[Answer, Page]:
        choice, page = request.query["activeStatusTipLead"], request.query.get("pageIndex", "unpaged")
        self.asked.append(f"{choice} {page}")
        if page == "1":
            raise NotFound("nothing here", request=request)
        body = (
            b'{"totalRowCount": 2, "incomingLeads": [{"lead": {"id": 1}}]}'
            if choice in self.cut_off
            else b"[]"
        )
        now = datetime(2026, 1, 1, tzinfo=UTC)
        return Answer(request, "/x", 200, body, "application/json", {}, 0.1, 1, now), read(body)


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
    fetcher, window = Fetcher(Landing(landing), SystemClock(), "Europe/Stockholm"), Window((), ())
    client, result = cast("Client", Answering()), USERS.begin(window, "run")
    task = asyncio.create_task(fetcher.fetch(client, USERS, window, result))
    await threads.asked.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def test_a_window_that_is_cancelled_while_it_waits_for_a_thread_leaves_no_open_file(tmp_path: Path) -> None:
    asyncio.run(cancelled_before_the_file_was_closed(tmp_path))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    "error",
    [b'{"message": "An error has occurred."}', b'{"error": {"code": 17}}', b'[{"error": "Time-out"}]'],
)
def test_an_error_message_in_place_of_a_page_is_refused_after_a_look_without_pages(
    tmp_path: Path, error: bytes
) -> None:
    leads = TaskState(PlannedReport(report("tips_and_leads"), Customer(id="M1")))
    client, result = Answering(removed=error), leads.begin(Window((), ()), "run")
    fetcher = Fetcher(Landing(tmp_path), SystemClock(), "Europe/Stockholm")
    _, refused = asyncio.run(fetcher.fetch(cast("Client", client), leads, Window((), ()), result))
    assert isinstance(refused, UnreadableRows)
    assert client.asked == ["Active", "Removed", "Removed"]
    assert str(refused).startswith("expected incomingLeads[], found ")


@pytest.mark.parametrize(
    ("cut_off", "unpaged"),
    [([], []), (["Removed"], ["Active", "Removed"]), (["Active", "Removed"], ["Active", "Removed"])],
)
def test_once_one_choice_is_read_unpaged_all_are(
    tmp_path: Path, cut_off: list[str], unpaged: list[str]
) -> None:
    leads = TaskState(PlannedReport(report("tips_and_leads"), Customer(id="M1")))
    client, result = CutOff(cut_off=cut_off), leads.begin(Window((), ()), "run")
    fetcher = Fetcher(Landing(tmp_path), SystemClock(), "Europe/Stockholm")
    asyncio.run(fetcher.fetch(cast("Client", client), leads, Window((), ()), result))
    assert sorted(asked for asked in client.asked if "unpaged" in asked) == [
        f"{one} unpaged" for one in unpaged
    ]


@dataclass
class InRows(Answering):
    """A client with pages of leads in an envelope that nobody knows, and the same report without pages."""

    without_pages: bytes = b'{"tips": [{"createdAt": "2026-01-05T10:00:00", "tip": {"id": "T1"}}]}'

    async def get(self, request: Request, read: Callable[[bytes], Page], **_: object) -> tuple[Answer, Page]:
        is_paged = "pageIndex" in request.query
        self.asked.append("page" if is_paged else "unpaged")
        if not (is_paged or self.without_pages):
            raise NotFound("nothing here", request=request)
        row = {"kind": "Tip", "createdAt": "2026-01-05T10:00:00", "tip": {"id": "T1"}}
        rows = json.dumps({"rows": [row], "totalPageCount": 1}).encode()
        now = datetime(2026, 1, 1, tzinfo=UTC)
        body = rows if is_paged else self.without_pages
        return Answer(request, "/x", 200, body, "application/json", {}, 0.1, 1, now), read(body)


def test_where_pages_come_in_an_unknown_envelope_the_report_is_read_unpaged_from_then_on(
    tmp_path: Path,
) -> None:
    leads, client = TaskState(PlannedReport(report("tips_and_leads"), Customer(id="M1"))), InRows()
    fetcher = Fetcher(Landing(tmp_path), SystemClock(), "Europe/Stockholm")
    tips = []
    for window in windows([Month(2026, 1), Month(2026, 2)], 1, date(2026, 6, 1)):
        result = leads.begin(window, "run")
        fetched, failed = asyncio.run(fetcher.fetch(cast("Client", client), leads, window, result))
        tips += [(failed, one.frame.height) for one in fetched.tables if one.name == "tips"]
    assert tips == [(None, 1), (None, 0)]
    assert (client.asked, leads.page_size.learned) == (["page", *["unpaged"] * 4], UNPAGED)


@pytest.mark.parametrize("without_pages", [b"", b'{"tips": []}', b'{"unknown": [{"a": 1}]}'])
def test_an_unknown_envelope_is_refused_where_the_report_without_pages_has_no_rows_either(
    tmp_path: Path, without_pages: bytes
) -> None:
    leads = TaskState(PlannedReport(report("tips_and_leads"), Customer(id="M1")))
    client, result = InRows(without_pages=without_pages), leads.begin(Window((), ()), "run")
    fetcher = Fetcher(Landing(tmp_path), SystemClock(), "Europe/Stockholm")
    _, refused = asyncio.run(fetcher.fetch(cast("Client", client), leads, Window((), ()), result))
    assert (type(refused), client.asked) == (UnreadableRows, ["page", "unpaged"])
    assert leads.page_size.learned is None


class FailsBeyond(Answering):
    """A client that has a single page of leads, and fails when it is asked for the next one."""

    async def get(
        self, request: Request, read: Callable[[bytes], Page], **how: object
    ) -> tuple[Answer, Page]:
        self.asked.append(f"{request.query['activeStatusTipLead']} {request.query['pageIndex']} {how}")
        if request.query["pageIndex"] == "1":
            raise Unavailable("no answer", request=request)
        lead = {"createdAt": "2026-01-05T10:00:00", "lead": {"id": f"L{len(self.asked)}"}}
        lists = {"incomingLeads": [lead], "outgoingLeads": [], "tips": []}
        body = json.dumps({"totalRowCount": 1, **lists}).encode()
        now = datetime(2026, 1, 1, tzinfo=UTC)
        return Answer(request, "/x", 200, body, "application/json", {}, 0.1, 1, now), read(body)


def test_a_page_that_fails_after_all_that_is_stated_has_come_is_the_end(tmp_path: Path) -> None:
    leads = TaskState(PlannedReport(report("tips_and_leads"), Customer(id="M1")))
    (window,) = windows([Month(2026, 1)], 1, date(2026, 6, 1))
    client, result = FailsBeyond(), leads.begin(window, "run")
    fetcher = Fetcher(Landing(tmp_path), SystemClock(), "Europe/Stockholm")
    fetched, failed = asyncio.run(fetcher.fetch(cast("Client", client), leads, window, result))
    leads_of = [table.frame.height for table in fetched.tables if table.name == "incoming_leads"]
    assert (failed, leads_of) == (None, [2])
    assert client.asked == [
        "Active 0 {'tries': None}", "Active 1 {'tries': 2}",
        "Removed 0 {'tries': None}", "Removed 1 {'tries': 2}",
    ]  # fmt: skip


@dataclass
class OfEveryHour(Answering):
    """A client with a commission of every hour, and of no more than `most` of those that are requested."""

    most: int = 1000

    async def get(self, request: Request, read: Callable[[bytes], Page], **_: object) -> tuple[Answer, Page]:
        first, last = (datetime.fromisoformat(request.query[name]) for name in ("dateFrom", "dateTo"))
        self.asked.append(f"{first:%m-%d} {last:%m-%d}")
        moments = [first + timedelta(hours=hour) for hour in range((last - first) // timedelta(hours=1) + 1)]
        body = json.dumps(
            [{"userId": "U1", "obtainedAt": moment.isoformat()} for moment in moments][: self.most]
        )
        now = datetime(2026, 1, 1, tzinfo=UTC)
        return Answer(request, "/x", 200, body.encode(), "application/json", {}, 0.1, 1, now), read(
            body.encode()
        )


@pytest.mark.parametrize(
    ("most", "requests", "learned"), [(700, [3, 3], 700), (10_000, [1, 1], None)], ids=["cut off", "whole"]
)
def test_an_answer_with_a_round_number_of_rows_is_read_in_halves_if_these_hold_more(
    tmp_path: Path, most: int, requests: list[int], learned: int | None
) -> None:
    task = TaskState(PlannedReport(report("running_commissions"), Customer(id="M1")))
    fetcher, client = Fetcher(Landing(tmp_path), SystemClock(), "Europe/Stockholm"), OfEveryHour(most=most)
    rows: list[int] = []
    asked: list[int] = []
    for window in windows([Month(2026, 1), Month(2026, 3)], 1, date(2026, 6, 1)):
        fetched, _ = asyncio.run(
            fetcher.fetch(cast("Client", client), task, window, task.begin(window, "run"))
        )
        rows.append(fetched.tables[0].frame.height)
        asked.append(len(client.asked) - sum(asked))
    assert (rows, asked, task.learned([]).rows) == ([744, 744], requests, learned)


def test_a_round_number_of_rows_that_is_all_there_is_is_asked_about_once() -> None:
    limit = WindowLimit()
    assert (limit.may_be_cut_off(500), limit.may_be_cut_off(501), limit.may_be_cut_off(400)) == (
        True,
        False,
        False,
    )
    limit.rows = 0
    assert not limit.may_be_cut_off(500)


@pytest.mark.parametrize(("stored", "rows", "tries"), [(100, 90, 2), (100, 91, 1), (80, 71, 1)])
def test_a_snapshot_that_lost_a_tenth_and_ten_rows_is_requested_twice_and_named(
    tmp_path: Path, stored: int, rows: int, tries: int
) -> None:
    class Shorter(Answering):
        async def get(
            self, request: Request, read: Callable[[bytes], Page], **_: object
        ) -> tuple[Answer, Page]:
            self.asked.append(request.path)
            body = json.dumps([{"id": str(number)} for number in range(1, rows + 1)]).encode()
            now = datetime(2026, 1, 1, tzinfo=UTC)
            return Answer(request, "/x", 200, body, "application/json", {}, 0.1, 1, now), read(body)

    task, client = replace(USERS, rows_held={None: stored}), Shorter()
    fetcher, window = Fetcher(Landing(tmp_path), SystemClock(), "Europe/Stockholm"), Window((), ())
    result = task.begin(window, "run")
    fetched, _ = asyncio.run(fetcher.fetch(cast("Client", client), task, window, result))
    warnings = (f"the report had {stored} rows and has {rows} now, asked twice",) if tries > 1 else ()
    assert (len(client.asked), fetched.warnings) == (tries, warnings)


@pytest.mark.parametrize("objects", [MOST_OBJECTS, MOST_OBJECTS + 1])
def test_an_answer_of_very_many_objects_is_refused_before_it_is_read(objects: int) -> None:
    body = b"[" + b"{}," * (objects - 2) + b"{}]"
    with pytest.raises(TooManyObjects) if objects > MOST_OBJECTS else nullcontext():
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
def test_a_month_is_open_until_it_was_asked_for_whole_after_its_end(
    last_day: date, fetched: datetime, *, are_open: bool
) -> None:
    assert bool(open_months([date(2026, 1, 1)], last_day, fetched, "Europe/Stockholm")) is are_open
