"""How does a window reach the landing? Asks its spans and pages, and writes every answer down first."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.connect.client import Client
from pipelines.connect.errors import ConnectError, NotFound, Refused
from pipelines.connect.models import Answer
from pipelines.normalize.document import Document, read_document
from pipelines.normalize.pages import ids_of, is_empty, row_count, stated_total
from pipelines.planning.windows import Span, Window
from pipelines.sync.asking import request
from pipelines.sync.desk import Desk
from pipelines.sync.paging import Id, PagingRefused, PagingUnproven, read_pages
from pipelines.sync.spans import LearnedCap, read_spans

if TYPE_CHECKING:
    from warehouse.landing import LandingWriter

PAGING_TRIES = 2
"""How often a span is read page by page before it is read unpaged."""


@dataclass(frozen=True)
class AnswerPage:
    """One answer of the service, parsed; `member` is its place in the landing file."""

    report: Report
    answer: Answer
    document: Document
    asked: str | None
    member: int

    @cached_property
    def rows(self) -> int:
        return row_count(self.report, self.document)

    @cached_property
    def total(self) -> int | None:
        return stated_total(self.document)

    @cached_property
    def is_empty(self) -> bool:
        return is_empty(self.report, self.document)

    @cached_property
    def ids(self) -> Mapping[str, Sequence[Id]]:
        return ids_of(self.report, self.document)

    @property
    def body(self) -> bytes:
        return self.answer.body

    def look(self) -> None:
        """Find out what paging asks of a page, while its document is at hand."""
        _ = self.rows, self.total, self.is_empty, self.ids


@dataclass
class WindowReader:
    """Reads one window of one report of one customer; every answer goes into one landing file.

    Answers that do not count in the end (pages that moved, the second look, refusals) are landed too;
    which ones do count is what `read` returns.
    """

    client: Client
    report: Report
    customer: str
    window: Window
    page_size: int
    cap: LearnedCap
    landing: LandingWriter
    asked: Sequence[str | None] = (None,)
    desk: Desk = field(default_factory=Desk)
    on_the_desk: int = 0
    members: int = 0
    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0
    began_utc: datetime | None = None
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    async def read(self) -> list[AnswerPage]:
        """Every page of the window, whole; raises what the client raises when it cannot be had."""
        pages: list[AnswerPage] = []
        for asked in self.asked:
            pages += await self._read_one(asked)
        if self.cap.refused:
            self.notes.append(f"{len(self.cap.refused)} spans were refused and halved")
        return pages

    async def _read_one(self, asked: str | None) -> list[AnswerPage]:
        if not self.window.spans:
            return await self._read_span(None, asked)
        parts = await read_spans(
            self.report, self.window, self.cap, lambda span: self._read_span(span, asked)
        )
        return [page for part in parts for page in part]

    async def _read_span(self, span: Span | None, asked: str | None) -> list[AnswerPage]:
        if not self.report.paged:
            return [await self._ask(span, asked)]
        for _ in range(PAGING_TRIES):
            try:
                return await self._read_paged(span, asked)
            except PagingRefused as error:
                self.notes.append(str(error))
                break
            except PagingUnproven as error:
                self.notes.append(f"read again: {error}")
        self.notes.append("read unpaged")
        return [await self._ask(span, asked, paged=False)]

    async def _read_paged(self, span: Span | None, asked: str | None) -> list[AnswerPage]:
        async def ask(index: int) -> AnswerPage:
            try:
                return await self._ask(span, asked, page=index)
            except (Refused, NotFound) as error:
                if index == 0:
                    raise
                raise PagingRefused(f"page {index} was refused ({type(error).__name__})") from error

        pages = await read_pages(ask)
        if len(pages) > 2:
            self.notes.append(f"{len(pages)} pages, proven")
        return pages

    async def _ask(
        self, span: Span | None, asked: str | None, *, page: int | None = None, paged: bool = True
    ) -> AnswerPage:
        question = request(self.report, self.customer, span, asked=asked, paged=paged)
        if page is not None:
            question = question.with_query(pageIndex=str(page), pageSize=str(self.page_size))
        try:
            answer, document = await self.client.get(question, read_document)
        except ConnectError as error:
            self.requests += error.tries
            if error.answer is not None:
                await self._land(error.answer, asked)
            raise
        self.requests += answer.tries
        found = AnswerPage(self.report, answer, document, asked, await self._land(answer, asked))
        if page is not None:
            await asyncio.to_thread(found.look)
        if self.desk.take(document.size):
            self.on_the_desk += document.size
        else:
            document.forget()
        return found

    def clear_the_desk(self) -> None:
        """Give back the room that the parsed answers of this window took."""
        self.desk.give_back(self.on_the_desk)
        self.on_the_desk = 0

    async def _land(self, answer: Answer, asked: str | None) -> int:
        """Write an answer down before anything is made of its rows; returns its place in the file."""
        self.bytes += len(answer.body)
        self.seconds += answer.seconds
        self.began_utc = self.began_utc or answer.fetched_at_utc
        meta = {
            "path": answer.request.path,
            "query": dict(answer.request.query),
            "status": answer.status,
            "content_type": answer.content_type,
            "tries": answer.tries,
            "seconds": answer.seconds,
            "fetched_at_utc": answer.fetched_at_utc.isoformat(),
            "asked": asked,
        }
        await asyncio.to_thread(self.landing.add, meta, answer.body)
        self.members += 1
        return self.members - 1
