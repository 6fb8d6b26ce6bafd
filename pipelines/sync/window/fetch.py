"""Fetching of one window: its requests, its landing file, and its rows as tables."""

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
from pipelines.connect.errors import BadRequest, ConnectError, NotFound, NotJson, Unavailable
from pipelines.connect.models import Answer, Request
from pipelines.months import Month
from pipelines.normalize.document import read_document
from pipelines.normalize.tables import Normalized
from pipelines.planning.windows import ONLY_VARIANT, RequestVariant, Span, Window
from pipelines.sync.guard import check_shrink
from pipelines.sync.window.answers import (
    RowsWithoutMonths,
    TruncatedAnswer,
    UnreadableRows,
    check_size,
    normalize_answers,
    report_as_read,
    rows_by_month,
    with_rows,
)
from pipelines.sync.window.bisect import RejectedTogether, may_be_halved, read_spans
from pipelines.sync.window.memory_budget import MemoryBudget
from pipelines.sync.window.paging import UNPAGED, Page, PagingRejected, page_of_answer, read_answer
from pipelines.words import counted
from warehouse.errors import WarehouseError
from warehouse.load.profile import stored_rows

if TYPE_CHECKING:
    from pipelines.sync.window.task import TaskState
    from warehouse.ledger.window_result import WindowResult
    from warehouse.load.landing import Landing, LandingFile, LandingWriter

TRIES_PAST_END = 2
"""Tries for a page that should be empty, because all rows of the stated total have arrived.

Some services fail on such a page instead of sending an empty one.
"""
MIN_LOST_ROWS, MIN_LOST_SHARE = 10, 0.1
"""A report without months is read again if it lost all rows, or at least this many rows and this share."""
LARGE_ANSWER_BYTES = 1_000_000
"""Larger answers are parsed one at a time, because parsing takes about seven times their size in memory."""
MAX_PARSED_BYTES = 8_000_000
"""Answers of a window stay parsed up to this total size; the others are parsed again to be normalized."""


@dataclass(frozen=True)
class Fetcher:
    """Fetches the windows of one run, which share a memory budget."""

    landing: Landing
    clock: Clock
    timezone: str
    memory: MemoryBudget = field(default_factory=MemoryBudget)
    large_answer_lock: threading.Lock = field(default_factory=threading.Lock)

    def parsing_slot(self, size: int) -> AbstractContextManager[Any]:
        """A context manager for parsing this many bytes. Large answers are parsed one at a time."""
        return self.large_answer_lock if size > LARGE_ANSWER_BYTES else nullcontext()

    async def fetch(
        self, client: Client, task: TaskState, window: Window, result: WindowResult
    ) -> tuple[WindowResult, Exception | None]:
        """Fetch a window and store its answers in landing. Returns its record, and the error if it failed.

        The landing file is kept even if the window failed, except after these errors:
        - RowsWithoutMonths and RejectedTogether, because the window is requested again in parts.
        - OSError, WarehouseError and MemoryError. These are raised, not returned.
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
        except (RowsWithoutMonths, RejectedTogether) as error:
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
    """Reads one window, once or twice. Every answer is written to the window's landing file."""

    fetcher: Fetcher
    client: Client
    task: TaskState
    report: Report
    window: Window
    result: WindowResult
    writer: LandingWriter
    requests: int = 0
    byte_count: int = 0
    reading_bytes: int = 0  # the size of the answers of the current reading
    seconds: float = 0.0
    fetched_at_utc: datetime | None = None
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    rows_by_month: Mapping[date | None, int] = field(default_factory=dict)
    landed: LandingFile | None = None
    used_pages: list[Page] = field(default_factory=list)  # the answers whose rows are loaded
    day_counts: set[int] = field(default_factory=set)  # of answers for one day that may be truncated
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
            landing=self.landed.path if self.landed else "",
            sha256=self.landed.sha256 if self.landed else "",
        )

    async def read(self) -> Normalized:
        """Read the window, a second time if it has lost rows. Raises HeldBack if the guard objects."""
        normalized = await self._read_once()
        if self._suspect_months():
            self.notes.append("read twice")
            self.used_pages, self.normalized, self.reading_bytes = [], None, 0
            normalized = await self._read_once()
            if self._suspect_months() and normalized.rejected and not any(self.rows_by_month.values()):
                raise UnreadableRows(
                    f"none of {len(normalized.rejected)} rows can be read any more "
                    f"({normalized.rejected[0].reason}); the stored rows stay"
                )
        if not self.task.accept_shrink:
            check_shrink(self.report, self.task.stored, normalized.tables, self.rows_by_month)
        self.warnings += [
            f"{f'{day:%Y-%m}' if day else 'the report'} had "
            f"{counted(stored_rows(self.task.stored, day), 'row')} and has "
            f"{self.rows_by_month[day] or 'none'} now; it was read twice"
            for day in self._suspect_months()
        ]
        return normalized

    async def finish_landing(self, *, error: str = "") -> None:
        """Close the landing file with a trailer: which answers are used, the error if any, and counts."""
        self.fetched_at_utc = self.fetched_at_utc or self.fetcher.clock.utc_now()
        trailer = {
            "used": [page.landing_index for page in self.used_pages],
            "error": error,
            "note": "; ".join((*self.notes, *self.warnings)),
            "requests": self.requests,
            "seconds": self.seconds,
            "fetched_at_utc": self.fetched_at_utc.isoformat(),
        }
        self.landed = await asyncio.to_thread(self.writer.close, trailer)

    async def _read_once(self) -> Normalized:
        halved_before = len(self.task.limit.too_long)
        self.used_pages += await self._read_ids((None,) if self.window.ids is None else self.window.ids)
        if (halved := len(self.task.limit.too_long) - halved_before) > 0:
            self.notes.append(f"{counted(halved, 'span')} halved")
        self.fetcher.memory.record_size(self.report.name, self.reading_bytes, is_complete=True)
        normalized = self.normalized if len(self.used_pages) == 1 else None
        if normalized is None:
            normalized = await asyncio.to_thread(self._normalize_used_pages)
        if isinstance(normalized, UnreadableRows):
            raise normalized
        if normalized.undated:
            raise RowsWithoutMonths
        if not self.report.is_tracked_by_id:  # one id without rows does not make the report empty
            self.rows_by_month = rows_by_month(normalized.tables, self.result.months)
        return normalized

    def _suspect_months(self) -> list[date | None]:
        """The months that lost all their rows, or [None] if a report without months lost all or many rows."""
        stored = {day: stored_rows(self.task.stored, day) for day in self.rows_by_month}
        return [
            day
            for day, rows in self.rows_by_month.items()
            if (stored[day] and not rows)
            or (day is None and stored[day] - rows >= max(MIN_LOST_ROWS, MIN_LOST_SHARE * stored[day]))
        ]

    async def _read_ids(self, ids: Sequence[str | None]) -> list[Page]:
        pages: list[Page] = []
        gone: list[NotFound] = []
        for requested_id in ids:
            try:
                pages += await self._read_spans(requested_id)
            except NotFound as error:
                gone.append(error)
        if len(gone) == len(ids):  # the customer or the address may be wrong
            raise gone[0]
        if gone:
            self.notes.append(f"{len(gone)} of {len(ids)} ids not found (404)")
        return pages

    async def _read_spans(self, requested_id: str | None) -> list[Page]:
        if not self.window.spans:
            return await self._read_span(requested_id, None)
        today = self.fetcher.clock.utc_now().astimezone(ZoneInfo(self.fetcher.timezone)).date()

        async def read(span: Span) -> list[Page]:
            widened = span.widened(self.report.margin, self.window, today)
            return await self._read_complete(requested_id, widened)

        pages = await read_spans(self.report, self.window, self.task.limit, read)
        if (rows := self.task.limit.rows) in self.day_counts:
            if len(self.window.months) > 1:
                raise RejectedTogether
            raise TruncatedAnswer(f"an answer is cut off at {rows} rows a day; the stored rows stay")
        return pages

    async def _read_complete(self, requested_id: str | None, span: Span) -> list[Page]:
        """Read a span. If its rows may be truncated, read its halves and use them if they have more rows."""
        pages, limit = await self._read_span(requested_id, span), self.task.limit
        doubtful = {rows for page in pages for rows in page.counts if limit.may_be_truncated(rows)}
        if not doubtful or not may_be_halved(self.report, span):
            self.day_counts |= doubtful if Month.of(span.first) in self.window.months else set()
            return pages
        self.reading_bytes -= sum(len(page.document.body) for page in pages)  # the halves count instead
        halves = [page for half in span.halves() for page in await self._read_complete(requested_id, half)]
        self.normalized = None
        if sum(page.rows for page in halves) > sum(page.rows for page in pages):
            limit.rows = max(doubtful)  # no list has more
            self.notes.append(f"an answer ended after {limit.rows} rows; the halves of its period have more")
            return halves
        if doubtful.isdisjoint(rows for page in halves for rows in page.counts):
            limit.whole_rows = max(limit.whole_rows, *doubtful)
        return pages

    async def _read_span(self, requested_id: str | None, span: Span | None) -> list[Page]:
        variants = [RequestVariant(requested_id, choice) for choice in self.report.endpoint.choice_values]
        if not self.report.endpoint.paged:
            return [await self._request(variant, span) for variant in variants]
        answers = [await self._read_paged(variant, span) for variant in variants]
        if any(pages[0].requested_rows == UNPAGED for pages in answers):
            # Then all choices are read unpaged: a row may have changed from one to another since.
            answers = [
                pages if pages[0].requested_rows == UNPAGED else [await self._request(variant, span)]
                for variant, pages in zip(variants, answers, strict=True)
            ]
        return list(chain.from_iterable(answers))

    async def _read_paged(self, variant: RequestVariant, span: Span | None) -> list[Page]:
        async def shape_error(page: Page) -> Exception | None:
            normalized = await asyncio.to_thread(self._normalize, [page])
            return normalized if isinstance(normalized, UnreadableRows) else None

        request_page = partial(self._request_page, variant, span)
        request_unpaged = partial(self._request, variant, span)
        size = self.task.page_size
        return await read_answer(request_page, request_unpaged, shape_error, self.notes.append, size)

    async def _request_page(
        self, variant: RequestVariant, span: Span | None, index: int, has_all_stated_rows: bool
    ) -> Page:
        size = self.task.page_size
        if not size.is_settled:
            return await size.find(lambda rows: self._request(variant, span, rows=rows), self.notes.append)
        try:
            tries = TRIES_PAST_END if has_all_stated_rows else None
            return await self._request(variant, span, index=index, rows=size.rows, tries=tries)
        except (BadRequest, NotFound, Unavailable, NotJson) as error:
            # A later page counts as rejected after 400 or 404, or once all stated rows have arrived.
            if index == 0 or (isinstance(error, Unavailable | NotJson) and not has_all_stated_rows):
                raise
            raise PagingRejected(f"page {index} was rejected ({type(error).__name__})") from error

    async def _request(
        self,
        variant: RequestVariant,
        span: Span | None,
        *,
        index: int = 0,
        rows: int = UNPAGED,
        tries: int | None = None,
    ) -> Page:
        customer, spans = self.result.customer, self.window.spans
        request = build_request(self.report, customer, span, variant, page=index, rows=rows)
        is_whole = span is None or (span.first <= spans[0].first and spans[-1].last <= span.last)
        is_only_answer = is_whole and variant == ONLY_VARIANT and not self.report.endpoint.paged
        parse = partial(self._parse, variant=variant, rows=rows, is_only_answer=is_only_answer)
        try:
            answer, page = await self.client.get(request, parse, tries=tries)
        except ConnectError as error:
            self.requests += error.tries
            if error.answer is not None:
                await self._land(error.answer, variant)
            raise
        self.requests += answer.tries
        page.landing_index = await self._land(answer, variant)
        return page

    def _parse(self, body: bytes, *, variant: RequestVariant, rows: int, is_only_answer: bool) -> Page:
        """Parse a body, and normalize it if it is the window's only answer. Runs in a worker thread."""
        check_size(body)
        with self.fetcher.parsing_slot(len(body)):
            document = read_document(body)
            page = page_of_answer(self.report, document, variant, rows)
            if is_only_answer:
                self.normalized = self._normalize([page])
            elif self.reading_bytes + len(body) > MAX_PARSED_BYTES:
                document.forget()
        return page

    def _normalize_used_pages(self) -> Normalized | UnreadableRows:
        with self.fetcher.parsing_slot(sum(len(page.document.body) for page in self.used_pages)):
            return self._normalize(self.used_pages)

    def _normalize(self, pages: Sequence[Page]) -> Normalized | UnreadableRows:
        try:
            return normalize_answers(
                report_as_read(self.report, unpaged=all(page.requested_rows == UNPAGED for page in pages)),
                [page.document for page in pages],
                self.result.months,
                self.fetcher.timezone,
                [page.requested_id for page in pages],
                [page.choice for page in pages],
            )
        except UnreadableRows as error:
            return error

    async def _land(self, answer: Answer, variant: RequestVariant) -> int:
        """Write an answer to the landing file. Returns its index there."""
        self.byte_count += len(answer.body)
        self.reading_bytes += len(answer.body)
        self.seconds += answer.seconds
        self.fetched_at_utc = self.fetched_at_utc or answer.fetched_at_utc
        self.fetcher.memory.record_size(self.report.name, self.reading_bytes)
        meta = {
            "path": answer.request.path,
            "query": dict(answer.request.query),
            "status": answer.status,
            "content_type": answer.content_type,
            "tries": answer.tries,
            "seconds": answer.seconds,
            "fetched_at_utc": answer.fetched_at_utc.isoformat(),
            "asked": variant.requested_id,
        }
        async with self.landing_lock:
            return await asyncio.to_thread(self.writer.add, meta, answer.body)


def build_request(
    report: Report,
    customer: str,
    span: Span | None,
    variant: RequestVariant = ONLY_VARIANT,
    *,
    page: int = 0,
    rows: int = UNPAGED,
) -> Request:
    """The request for one span of a report, or for a report without time parameters if `span` is None.

    The parameters are those of the interface, sections Business intelligence and Budget reports. A paged
    report is requested without pages if `rows` is UNPAGED. Ids in the path are percent-encoded, because they
    come from settings and answers.
    """
    endpoint = report.endpoint
    path, query = endpoint.path, dict(endpoint.query)
    placeholders = {"customerId": quote(customer, safe="")}
    if "{customerId}" not in endpoint.path:
        query["customerId"] = customer
    if span is not None:
        first, last = span.first, span.last
        placeholders |= {"year": str(first.year), "month": str(first.month)}
        if endpoint.time_parameters == "dates":
            query["dateFrom"], query["dateTo"] = span.bounds
        elif endpoint.time_parameters == "month bounds":
            query |= {"fromYear": str(first.year), "fromMonth": str(first.month)}
            query |= {"toYear": str(last.year), "toMonth": str(last.month)}
    if endpoint.choices and variant.choice is not None:
        query[endpoint.choices.parameter] = variant.choice
    by_id = endpoint.by_id
    for name, part in zip(by_id.parameters, by_id.parts(variant.requested_id), strict=True) if by_id else ():
        if f"{{{name}}}" in path:
            placeholders[name] = quote(part or "", safe="")
        elif part is not None:
            query[name] = part
    if rows != UNPAGED:
        query |= {"pageIndex": str(page), "pageSize": str(rows)}
    else:
        path = endpoint.unpaged_path or path
    return Request(path=path.format_map(placeholders), query=query, report=report.name, customer=customer)
