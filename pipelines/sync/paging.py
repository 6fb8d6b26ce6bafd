"""Paging: pages read until they are proven to be one whole answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipelines.normalize.document import Document

MOST_PAGES = 10_000
"""A report that still has rows after so many pages is taken to repeat itself for ever."""

Id = tuple[str | None, ...]
"""A documented id as its columns; one with a gap identifies nothing."""


class PagingUnproven(Exception):
    """Rows moved, went missing or never ended while they were read page by page."""


class PagingRefused(PagingUnproven):
    """The service refuses a page after the first: it is not asked for again."""


@dataclass
class Page:
    """One answer, and what it says of its rows.

    `total` is the service's own count of all rows, if it states one; `ids` are by table; `place` is the
    position of the answer in its landing file.
    """

    document: Document
    asked: str | None = None
    rows: int = 0
    total: int | None = None
    is_empty: bool = False
    ids: Mapping[str, Sequence[Id]] = field(default_factory=dict)
    place: int = 0

    @property
    def fullest_list(self) -> int:
        """Rows of its longest list."""
        return max(map(len, self.ids.values()), default=0)


async def read_pages(ask: Callable[[int], Awaitable[Page]]) -> list[Page]:
    """Read every page from 0 on (interface: pageIndex is 0-based) and prove that none moved meanwhile.

    Only an empty page ends the reading: the service may cap the size of its pages, and what it calls a
    total may count something else. A page refused after the stated total has come is an end as well, or
    after one that was no longer full. When there was more than one page with rows, or no total to go by,
    the first is asked once more and must hold the same rows. Raises PagingUnproven otherwise.
    """
    pages: list[Page] = []
    seen: set[object] = set()
    for index in range(MOST_PAGES):
        try:
            page = await ask(index)
        except PagingRefused:
            runs_out = pages[-1].fullest_list < pages[0].fullest_list  # as only the last page does
            if sum(one.rows for one in pages) != pages[0].total and not runs_out:
                raise
            break
        _check_new(page, pages, seen)
        pages.append(page)
        if page.is_empty:
            break
    else:
        raise PagingUnproven(f"there were still rows after {MOST_PAGES} pages")
    first, received = pages[0], sum(page.rows for page in pages)
    if first.total is not None and received < first.total:
        raise PagingUnproven(f"the pages hold {received} rows of the {first.total} stated")
    with_rows = sum(not page.is_empty for page in pages)
    counts_something_else = first.total is None or first.total < received
    if with_rows > 1 or (with_rows == 1 and counts_something_else):
        again = await ask(0)
        if (first.rows, first.total, dict(first.ids)) != (again.rows, again.total, dict(again.ids)):
            raise PagingUnproven("the first page holds other rows than before")
    return pages


def _check_new(page: Page, pages: Sequence[Page], seen: set[object]) -> None:
    """Raise PagingUnproven when a page shows that rows have moved since the earlier ones; remember it."""
    first = pages[0] if pages else page
    counts_itself = (page.total, first.total) == (page.rows, first.rows)
    if page.total != first.total and not (page.is_empty or counts_itself):
        raise PagingUnproven(f"the total changed from {first.total} to {page.total}")
    ids = {(table, one) for table, many in page.ids.items() for one in many if None not in one}
    if repeated := ids & seen:
        raise PagingUnproven(f"{len(repeated)} ids came again on page {len(pages)}")
    digest = sha256(page.document.body).digest()
    if page.rows and digest in seen:
        raise PagingUnproven(f"page {len(pages)} is an earlier page again")
    seen.update(ids, [digest])
