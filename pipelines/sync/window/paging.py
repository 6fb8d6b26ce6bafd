"""Paging: pages are read until they provably form one complete answer.

In this module, a span is the days of a request, with one id and one choice (such as Active) if the report has
them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pipelines.connect.errors import BadRequest, Forbidden, NotFound
from pipelines.normalize.pages import Id, page_facts
from pipelines.sync.window.answers import report_as_read
from pipelines.words import counted

if TYPE_CHECKING:
    from pipelines.catalogue.model import Report
    from pipelines.normalize.document import Document
    from pipelines.planning.windows import RequestVariant

PAGING_TRIES = 2
"""How often a span is read page by page before it is read unpaged."""
MAX_PAGES = 1_000
"""A span that still has rows after this many pages is assumed to repeat pages, and is read unpaged."""
MIN_PAGE_SIZE = 100
"""The page size to try after a larger one was rejected. If it is rejected too, the report is read unpaged."""
UNPAGED = 0
"""The page size that requests all rows in one answer."""


class PagingUnproven(Exception):
    """Pages are not proven complete: rows moved or are missing, or a page does not fit its shape."""


class PagingRejected(PagingUnproven):
    """A page after the first was rejected, or pages never ended. The span is not read page by page again."""


@dataclass
class PageSize:
    """The page size for all windows of one report and customer.

    `learned` is the size that was accepted after larger sizes were rejected. It is None if no size
    was rejected, and UNPAGED if the report cannot be read in pages.
    """

    largest: int = 1000
    learned: int | None = None
    most_rows: int = 0  # the most rows that a page has had so far
    most_list_rows: int = 0  # the same for the longest list of a page
    rows: int = field(init=False)  # the page size to request
    is_settled: bool = field(init=False)  # a size was accepted, so later rejections have another cause

    def __post_init__(self) -> None:
        self.rows = self.largest if self.learned is None else min(self.largest, self.learned)
        self.is_settled = self.rows == UNPAGED

    def has_seen_longer(self, page: Page) -> bool:
        """Whether the service has sent a longer page, for any span. If so, it did not limit this one."""
        return page.rows < self.most_rows and page.list_rows < self.most_list_rows

    def remember(self, page: Page) -> None:
        """Remember how long a page was."""
        self.most_rows = max(self.most_rows, page.rows)
        self.most_list_rows = max(self.most_list_rows, page.list_rows)

    def accept(self, rows: int) -> None:
        """Use this page size from now on."""
        self.learned = self.learned if rows == self.rows else rows
        self.rows, self.is_settled = rows, True

    async def find(self, request: Callable[[int], Awaitable[Page]], note: Callable[[str], None]) -> Page:
        """Request the first page in ever smaller sizes, at last unpaged; returns the first accepted answer.

        If all sizes are rejected, the size is not the cause: raises the first rejection (400).
        """
        rejections: list[BadRequest] = []
        for rows in sorted({self.rows, min(self.rows, MIN_PAGE_SIZE), UNPAGED}, reverse=True):
            try:
                page = await request(rows)
            except BadRequest as error:
                rejections.append(error)
            except (NotFound, Forbidden):
                if rows != UNPAGED or not rejections:
                    raise
            else:
                if rejections:
                    accepted = f"{rows} was accepted" if rows else "read unpaged"
                    note(f"the page size {self.rows} was rejected; {accepted}")
                self.accept(rows)
                return page
        raise rejections[0]


@dataclass
class Page:
    """One answer, and the facts about its rows that show whether paging lost any."""

    document: Document
    requested_id: str | None = None
    choice: str | None = None  # the requested value of the report's `Choices`, if it has any
    requested_rows: int = UNPAGED  # the page size
    rows: int = 0
    counts: Sequence[int] = ()  # the rows of each list, if they have dates and are unpaged
    total: int | None = None  # the number of rows on all pages, if the answer states it
    ids: Mapping[str, Sequence[Id]] = field(default_factory=dict)  # the ids of the rows, by table
    rows_hash: int | None = None  # recognizes a repeated page whose rows have no ids
    mismatch: str = ""  # why the answer does not fit its shape
    landing_index: int = 0  # the index of the answer in its landing file

    @property
    def is_empty(self) -> bool:
        """Whether the answer fits its shape and has no row."""
        return not (self.rows or self.mismatch)

    @property
    def list_rows(self) -> int:
        """The number of rows of the longest list, among the lists whose rows have ids."""
        return max(map(len, self.ids.values()), default=0)

    @cached_property
    def complete_ids(self) -> set[tuple[str, Id]]:
        """The ids without a null part, each with its table."""
        return {(table, row_id) for table, ids in self.ids.items() for row_id in ids if None not in row_id}

    @property
    def is_full(self) -> bool:
        """Whether the page, or its longest list, has as many rows as requested."""
        return self.requested_rows in (self.rows, self.list_rows)

    def has_same_rows(self, other: Page) -> bool:
        """Whether another reading of this page has the same ids, number of rows and stated total."""
        first, second = ((page.rows, page.total, page.is_empty, dict(page.ids)) for page in (self, other))
        return first == second


def page_of_answer(report: Report, document: Document, variant: RequestVariant, requested_rows: int) -> Page:
    """Make a page of an answer, with the facts that paging needs."""
    page = Page(document, variant.requested_id, variant.choice, requested_rows)
    if report.endpoint.paged or report.month_of_row == "documented date":
        facts = page_facts(report_as_read(report, unpaged=requested_rows == UNPAGED), document)
        page.rows, page.mismatch = facts.count, facts.mismatch
        if requested_rows == UNPAGED:
            page.counts = [*map(len, facts.rows)]
        else:
            page.total, page.ids = facts.total, facts.ids
            page.rows_hash = None if page.complete_ids else facts.rows_hash
    return page


PageRequest = Callable[[int, bool], Awaitable[Page]]
"""Requests a page by its index. The flag tells whether all rows of the stated total have already arrived."""


async def read_answer(
    request: PageRequest,
    request_unpaged: Callable[[], Awaitable[Page]],
    shape_error: Callable[[Page], Awaitable[Exception | None]],
    note: Callable[[str], None],
    size: PageSize,
) -> list[Page]:
    """Read one span: its pages if they are proven complete, otherwise its unpaged answer.

    If the first page does not fit the shape and `shape_error` returns an error, the span is requested
    unpaged. If that answer has rows, it is used, and later spans are requested unpaged too. Otherwise, the
    error is raised.
    """
    pages = await read_proven(request, note, size)
    if pages is None:
        note("read unpaged")
        pages = [await request_unpaged()]
    first = pages[0]
    unreadable = await shape_error(first) if first.mismatch else None
    if unreadable and first.requested_rows != UNPAGED:
        try:
            unpaged = await request_unpaged()
        except (BadRequest, NotFound, Forbidden) as error:
            raise unreadable from error
        if unpaged.rows:
            note("the pages do not fit the shape; read unpaged")
            size.accept(UNPAGED)
            return [unpaged]
    if unreadable:
        raise unreadable
    return pages


async def read_proven(request: PageRequest, note: Callable[[str], None], size: PageSize) -> list[Page] | None:
    """The pages of one span, or None if they cannot be proven complete."""
    for _ in range(PAGING_TRIES):
        try:
            pages = await read_pages(request, size)
        except PagingRejected as error:
            note(str(error))
            break
        except PagingUnproven as error:
            note(f"read again: {error}")
        else:
            if len(pages) > 2:
                note(f"{len(pages)} pages, proven complete")
            return pages
    return None


async def read_pages(request: PageRequest, size: PageSize) -> list[Page]:
    """Read every page from 0 on (interface: pageIndex is 0-based) and prove that no row moved between pages.

    A first answer that is unpaged or does not fit the shape is returned alone. Otherwise, reading ends at one
    of these pages:
    - An empty page.
    - A rejected page, if the page before it was shorter than the first one (see `list_rows`).
    - Once all stated rows have arrived, a page that is rejected, fails or does not fit the shape.
    - The page that completes the stated total, if it has fewer rows than requested and an earlier page of the
      span was full, or if it is the first page and a page of another span was longer. Otherwise, a service
      that cuts pages short may have stated one page's rows as the total.

    Then some pages are read again, and must have the same rows. Raises PagingUnproven if rows are missing or
    moved. If one row is removed and another added during the reading, this may go unnoticed until the next
    sync.
    """
    pages: list[Page] = []
    seen: set[object] = set()
    has_all_stated_rows = False
    for index in range(MAX_PAGES):
        try:
            page = await request(index, has_all_stated_rows)
        except PagingRejected:
            was_last = pages[-1].list_rows < pages[0].list_rows
            if sum(item.rows for item in pages) != pages[0].total and not was_last:
                raise
            break
        if page.requested_rows == UNPAGED or (index == 0 and page.mismatch):
            return [page]
        if has_all_stated_rows and page.mismatch:
            break
        _check_page(page, pages, seen)
        pages.append(page)
        has_all_stated_rows = page.total is not None and sum(item.rows for item in pages) == pages[0].total
        is_uncapped = size.has_seen_longer(page) if len(pages) == 1 else any(item.is_full for item in pages)
        size.remember(page)
        if page.is_empty or (has_all_stated_rows and page.rows < page.requested_rows and is_uncapped):
            break
    else:
        raise PagingRejected(f"there were still rows after {MAX_PAGES} pages")
    first, received = pages[0], sum(page.rows for page in pages)
    if first.total is not None and received < first.total:
        raise PagingUnproven(f"the pages have {received} of the {first.total} stated rows")
    for index in _pages_to_reread(pages, received):
        if not pages[index].has_same_rows(await request(index, False)):
            raise PagingUnproven(f"page {index} does not have the same rows as before")
    return pages


def _pages_to_reread(pages: Sequence[Page], received: int) -> Sequence[int]:
    """The indexes of the pages to read again. If a row was removed meanwhile, one of them has other rows now.

    - If no page has rows: none.
    - If the rows add up to the stated total: the first page, but none if only one page has rows.
    - Otherwise: the empty page, if there is one, and all pages with rows except the last. If only one
      page has rows, it is read again too if it states no total and has at least as many rows as requested.
    """
    with_rows = [page for page in pages if not page.is_empty]
    if not with_rows or received == pages[0].total:
        return range(1 if len(with_rows) > 1 else 0)
    empty_pages = range(len(with_rows), len(pages))
    rows_may_have_moved = (
        len(with_rows) == 1 and pages[0].total is None and pages[0].rows >= pages[0].requested_rows
    )
    return [*range(1 if rows_may_have_moved else len(with_rows) - 1), *empty_pages]


def _check_page(page: Page, pages: Sequence[Page], seen: set[object]) -> None:
    """Raise PagingUnproven if a page does not fit its shape or if rows moved; else add its ids to `seen`."""
    if page.mismatch:
        raise PagingUnproven(f"page {len(pages)} does not fit the report's shape")
    first = pages[0] if pages else page
    totals_are_per_page = (page.total, first.total) == (page.rows, first.rows)
    if page.total != first.total and not (page.is_empty or totals_are_per_page):
        raise PagingUnproven(f"the total changed from {first.total} to {page.total}")
    if repeated := page.complete_ids & seen:
        raise PagingUnproven(f"{counted(len(repeated), 'id')} appeared again on page {len(pages)}")
    if page.rows and not page.complete_ids and page.rows_hash in seen:
        raise PagingUnproven(f"page {len(pages)} repeats an earlier page")
    seen.update(page.complete_ids or [page.rows_hash])
