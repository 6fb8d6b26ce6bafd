"""One window fetched: its requests, its landing file, and its rows as tables."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Report
from pipelines.clock import Clock
from pipelines.connect.client import Client
from pipelines.connect.errors import (
    BadRequest,
    ConnectError,
    NotFound,
    NotJson,
    Unavailable,
)
from pipelines.connect.models import Answer, Request
from pipelines.normalize.document import read_document
from pipelines.normalize.tables import Normalized
from pipelines.planning.windows import NOTHING_ELSE, Question, Span, Window
from pipelines.sync.guard import check_shrink
from pipelines.sync.window.answers import (
    RowsWithoutMonths,
    UnreadableRows,
    check_size,
    normalize_answers,
    rows_by_month,
    shape_in,
    with_rows,
)
from pipelines.sync.window.bisect import RefusedTogether, may_be_halved, read_spans
from pipelines.sync.window.memory_budget import MemoryBudget
from pipelines.sync.window.paging import UNPAGED, Page, PagingRefused, page_of_answer, read_whole
from warehouse.errors import WarehouseError
from warehouse.load.profile import stored_rows

if TYPE_CHECKING:
    from pipelines.sync.window.task import TaskState
    from warehouse.ledger.window_result import WindowResult
    from warehouse.load.landing import Landed, Landing, LandingWriter

TRIES_PAST_END = 2
"""Tries for a page past the stated rows: some services fail there instead of sending an empty page."""
UNREADABLE = UnreadableRows.__name__
FEWEST_LOST, LARGEST_SHARE_LOST = 10, 0.1
"""A snapshot that lost at least this many rows, and this share, is requested again."""
LARGE_ANSWER = 1_000_000
"""Bytes; larger answers are parsed one at a time: parsed, they take about seven times the memory."""


@dataclass(frozen=True)
class Fetcher:
    """Fetches the windows of one run; holds what all of them share."""

    landing: Landing
    clock: Clock
    timezone: str
    memory: MemoryBudget = field(default_factory=MemoryBudget)
    one_large: threading.Lock = field(default_factory=threading.Lock)

    def room_for(self, size: int) -> AbstractContextManager[Any]:
        """Room to parse an answer of a size: only one large answer is parsed at a time."""
        return self.one_large if size > LARGE_ANSWER else nullcontext()

    async def fetch(
        self, client: Client, task: TaskState, window: Window, result: WindowResult
    ) -> tuple[WindowResult, Exception | None]:
        """Fetch one window into a landing file; returns its record, or its record so far and the error.

        After RowsWithoutMonths and RefusedTogether nothing is kept; after any other error, HeldBack included,
        the record states where the answers are. Raises errors that end the whole run.
        """
        report = task.planned.report
        load_id = f"{self.clock.utc_now():%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}"
        result = replace(result, load_id=load_id)
        header = {
            "run_id": result.run_id,
            "months": [day.isoformat() for day in result.months],
            "history": result.history,
            "kept": report.stored_as != "not kept",
            "asked": None if result.asked is None else list(result.asked),
        }
        writer = self.landing.open(
            report.name, result.customer, result.window_start, result.window_end, result.load_id, header
        )
        reader = _WindowReader(self, client, task, report, window, result, writer)
        try:
            normalized = await reader.read()
            await reader.finish_landing()
            return with_rows(reader.record(), normalized, self.timezone, report.shape), None
        except (RowsWithoutMonths, RefusedTogether) as error:
            return reader.record(), error
        except (OSError, WarehouseError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - one bad window must not stop the others
            await reader.finish_landing(error=type(error).__name__)
            return reader.record(), error
        finally:
            writer.discard()


@dataclass
class _WindowReader:
    """Reads one window; every answer is in the landing file before it is parsed.

    Answers that do not count in the end (moved pages, repeated pages, rejections) are landed too;
    `counted_pages` holds those that do, and `bytes_held` is the size of those that still might.
    """

    fetcher: Fetcher
    client: Client
    task: TaskState
    report: Report
    window: Window
    result: WindowResult
    writer: LandingWriter
    requests: int = 0
    byte_count: int = 0
    bytes_held: int = 0
    seconds: float = 0.0
    fetched_at_utc: datetime | None = None
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    rows_by_month: Mapping[date | None, int] = field(default_factory=dict)
    landed: Landed | None = None
    counted_pages: list[Page] = field(default_factory=list)
    landing_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    normalized: Normalized | UnreadableRows | None = None

    def record(self) -> WindowResult:
        """The record of the window so far."""
        return replace(
            self.result,
            requests=self.requests,
            bytes=self.byte_count,
            seconds=self.seconds,
            fetched_at_utc=self.fetched_at_utc,
            notes=tuple(self.notes),
            warnings=tuple(self.warnings),
            rows_by_month=self.rows_by_month,
            landing=self.landed.path if self.landed else "",
            sha256=self.landed.sha256 if self.landed else "",
        )

    async def read(self) -> Normalized:
        """The window's rows; requested again if a month or a snapshot has lost rows. Raises HeldBack."""
        normalized = await self._read_once()
        if self._shrunken():
            self.notes.append("read twice")
            self.counted_pages, self.normalized, self.bytes_held = [], None, 0
            normalized = await self._read_once()
            if self._shrunken() and normalized.rejected and not any(self.rows_by_month.values()):
                raise UnreadableRows(
                    f"none of {len(normalized.rejected)} rows can be read as before "
                    f"({normalized.rejected[0].reason}); the stored rows stay"
                )
        if not self.task.accept_shrink:
            limits = self.report.shrink_limits
            check_shrink(limits, self.task.stored, normalized.tables, self.rows_by_month)
        self.warnings += [
            f"{f'{day:%Y-%m}' if day else 'the report'} had {stored_rows(self.task.stored, day)} rows "
            f"and has {self.rows_by_month[day] or 'none'} now, read twice"
            for day in self._shrunken()
        ]
        return normalized

    async def finish_landing(self, *, error: str = "") -> None:
        """Complete the landing file with the answers that count; after an error none does.

        Answers that do not fit their shape do count: a replay loads them once it is corrected.
        """
        self.fetched_at_utc = self.fetched_at_utc or self.fetcher.clock.utc_now()
        trailer = {
            "used": [page.place for page in self.counted_pages] if error in ("", UNREADABLE) else [],
            "error": error,
            "note": "; ".join((*self.notes, *self.warnings)),
            "requests": self.requests,
            "seconds": self.seconds,
            "fetched_at_utc": self.fetched_at_utc.isoformat(),
        }
        self.landed = await asyncio.to_thread(self.writer.close, trailer)

    async def _read_once(self) -> Normalized:
        """Request the whole window and make its rows."""
        limit = self.task.limit
        refused_before = len(limit.refused)
        if self.window.ids is None:
            self.counted_pages += await self._read_spans(None)
        else:
            self.counted_pages += await self._read_ids(self.window.ids)
        if (refused := len(limit.refused) - refused_before) > 0:
            self.notes.append(f"{refused} spans were rejected and halved")
        self.fetcher.memory.note(self.report.name, self.bytes_held, is_whole=True)
        normalized = self.normalized if len(self.counted_pages) == 1 else None
        if normalized is None:
            normalized = await asyncio.to_thread(self._normalize_together)
        if isinstance(normalized, UnreadableRows):
            raise normalized
        if normalized.undated:
            raise RowsWithoutMonths
        if not self.report.is_by_id:  # one id without rows does not make the report empty
            self.rows_by_month = rows_by_month(normalized.tables, self.result.months)
        return normalized

    def _shrunken(self) -> list[date | None]:
        """The months that lost all rows; None for a snapshot that lost a tenth, and at least ten rows."""
        stored = {day: stored_rows(self.task.stored, day) for day in self.rows_by_month}
        return [
            day
            for day, rows in self.rows_by_month.items()
            if (stored[day] and not rows)
            or (day is None and stored[day] - rows >= max(FEWEST_LOST, LARGEST_SHARE_LOST * stored[day]))
        ]

    async def _read_ids(self, ids: Sequence[str]) -> list[Page]:
        """The answers for every id of the window; some may be gone (404).

        If all are, the customer or the address is wrong: raises NotFound, and the stored rows stay.
        """
        pages: list[Page] = []
        gone: list[NotFound] = []
        for id_ in ids:
            try:
                pages += await self._read_spans(id_)
            except NotFound as error:
                gone.append(error)
        if len(gone) == len(ids):
            raise gone[0]
        if gone:
            self.notes.append(f"{len(gone)} of {len(ids)} are gone (404)")
        return pages

    async def _read_spans(self, asked: str | None) -> list[Page]:
        """The pages of all the window's spans."""
        ask = partial(self._read_span, asked)
        if not self.window.spans:
            return await ask(None)
        if not self.report.endpoint.paged and self.report.month_of_row == "documented date":
            ask = partial(self._read_uncut, asked)
        return await read_spans(self.report, self.window, self.task.limit, ask)

    async def _read_uncut(self, asked: str | None, span: Span) -> list[Page]:
        """The answers for one span; its halves are requested too if it may have been cut off.

        If the halves hold more rows, they count. Either way the number of rows is remembered.
        """
        pages, limit = await self._read_span(asked, span), self.task.limit
        rows = sum(page.rows for page in pages)
        if not limit.may_be_cut_off(rows) or not may_be_halved(self.report, span):
            return pages
        self.bytes_held -= sum(len(page.document.body) for page in pages)  # the halves replace them
        halves = [page for half in span.halves() for page in await self._read_uncut(asked, half)]
        if sum(page.rows for page in halves) > rows:
            limit.rows = rows
            self.notes.append(f"an answer ended after {rows} rows, so its days were requested in halves")
            return halves
        limit.whole = max(limit.whole, rows)
        return pages

    async def _read_span(self, asked: str | None, span: Span | None) -> list[Page]:
        """The pages of one span, for every value of the report's choice."""
        questions = [Question(asked, choice) for choice in self.report.endpoint.questions]
        if not self.report.endpoint.paged:
            return [await self._ask(question, span) for question in questions]
        answers = [await self._read_paged(question, span) for question in questions]
        is_unpaged = [pages[0].asked_for == UNPAGED for pages in answers]
        if any(is_unpaged):  # rows that moved between pages may have moved between choices too
            answers = [
                pages if was_unpaged else [await self._ask(question, span)]
                for question, pages, was_unpaged in zip(questions, answers, is_unpaged, strict=True)
            ]
        return list(chain.from_iterable(answers))

    async def _read_paged(self, question: Question, span: Span | None) -> list[Page]:
        """The pages of one request, or its one answer without pages; raises UnreadableRows."""

        async def unreadable_in(page: Page) -> Exception | None:
            found = await asyncio.to_thread(self._normalize, [page])
            return found if isinstance(found, UnreadableRows) else None

        ask, ask_unpaged = partial(self._ask_page, question, span), partial(self._ask, question, span)
        return await read_whole(ask, ask_unpaged, unreadable_in, self.notes.append, self.task.page_size)

    async def _ask_page(self, question: Question, span: Span | None, index: int, has_come: bool) -> Page:
        size = self.task.page_size
        if not size.is_settled:
            return await size.find(lambda rows: self._ask(question, span, rows=rows), self.notes.append)
        try:
            tries = TRIES_PAST_END if has_come else None
            return await self._ask(question, span, page=index, rows=size.rows, tries=tries)
        except (BadRequest, NotFound, Unavailable, NotJson) as error:
            if index == 0 or (isinstance(error, Unavailable | NotJson) and not has_come):
                raise
            raise PagingRefused(f"page {index} was refused ({type(error).__name__})") from error

    async def _ask(
        self,
        question: Question,
        span: Span | None,
        *,
        page: int = 0,
        rows: int = UNPAGED,
        tries: int | None = None,
    ) -> Page:
        """Send one request and land its answer, even one without rows."""
        today = self.fetcher.clock.utc_now().astimezone(ZoneInfo(self.fetcher.timezone)).date()
        asked = span and span.widened(self.report.margin, self.window, today)
        request = build_request(self.report, self.result.customer, asked, question, page=page, rows=rows)
        is_only_one = self.window.spans == (() if span is None else (span,)) and question == NOTHING_ELSE
        is_whole = is_only_one and not self.report.endpoint.paged
        parse = partial(self._parse, question=question, rows=rows, is_whole=is_whole)
        try:
            answer, found = await self.client.get(request, parse, tries=tries)
        except ConnectError as error:
            self.requests += error.tries
            if error.answer is not None:
                await self._land(error.answer, question)
            raise
        self.requests += answer.tries
        found.place = await self._land(answer, question)
        return found

    def _parse(self, body: bytes, *, question: Question, rows: int, is_whole: bool) -> Page:
        """Read a body, in a thread; raises ValueError for one that is not JSON.

        A single answer becomes rows at once. With several answers, the parsed values are dropped, and
        parsed again once all have come: they take far more memory than the body.
        """
        check_size(body)
        with self.fetcher.room_for(len(body)):
            document = read_document(body)
            found = page_of_answer(self.report, document, question, rows)
            if is_whole:
                self.normalized = self._normalize([found])
            document.forget()
        return found

    def _normalize_together(self) -> Normalized | UnreadableRows:
        with self.fetcher.room_for(sum(len(page.document.body) for page in self.counted_pages)):
            return self._normalize(self.counted_pages)

    def _normalize(self, pages: Sequence[Page]) -> Normalized | UnreadableRows:
        try:
            return normalize_answers(
                shape_in(self.report, unpaged=all(page.asked_for == UNPAGED for page in pages)),
                [page.document for page in pages],
                self.result.months,
                self.fetcher.timezone,
                [page.asked for page in pages],
                [page.choice for page in pages],
            )
        except UnreadableRows as error:
            return error

    async def _land(self, answer: Answer, question: Question) -> int:
        """Write an answer to the landing file; returns its place there."""
        self.byte_count += len(answer.body)
        self.bytes_held += len(answer.body)
        self.seconds += answer.seconds
        self.fetched_at_utc = self.fetched_at_utc or answer.fetched_at_utc
        self.fetcher.memory.note(self.report.name, self.bytes_held)
        meta = {
            "path": answer.request.path,
            "query": dict(answer.request.query),
            "status": answer.status,
            "content_type": answer.content_type,
            "tries": answer.tries,
            "seconds": answer.seconds,
            "fetched_at_utc": answer.fetched_at_utc.isoformat(),
            "asked": question.asked,
        }
        async with self.landing_lock:
            return await asyncio.to_thread(self.writer.add, meta, answer.body)


def build_request(
    report: Report,
    customer: str,
    span: Span | None,
    question: Question = NOTHING_ELSE,
    *,
    page: int = 0,
    rows: int = UNPAGED,
) -> Request:
    """The request for one span of a report (interface, Business intelligence and Budget reports).

    Without `rows` a page, a paged report is requested without pages. Ids are percent-encoded: they come from
    settings and answers.
    """
    endpoint = report.endpoint
    path, query = endpoint.path, dict(endpoint.query)
    places = {"customerId": quote(customer, safe="")}
    if "{customerId}" not in endpoint.path:
        query["customerId"] = customer
    if span is not None:
        first, last = span.first, span.last
        places |= {"year": str(first.year), "month": str(first.month)}
        if endpoint.time_parameters == "dates":
            query["dateFrom"], query["dateTo"] = span.bounds
        elif endpoint.time_parameters == "month bounds":
            query |= {"fromYear": str(first.year), "fromMonth": str(first.month)}
            query |= {"toYear": str(last.year), "toMonth": str(last.month)}
    if endpoint.choices and question.choice is not None:
        query[endpoint.choices.parameter] = question.choice
    each = endpoint.each
    for name, id_ in zip(each.names, each.parts(question.asked), strict=True) if each else ():
        if f"{{{name}}}" in path:
            places[name] = quote(id_ or "", safe="")
        elif id_ is not None:
            query[name] = id_
    if rows != UNPAGED:
        query |= {"pageIndex": str(page), "pageSize": str(rows)}
    else:
        path = endpoint.unpaged_path or path
    return Request(path=path.format_map(places), query=query, report=report.name, customer=customer)
