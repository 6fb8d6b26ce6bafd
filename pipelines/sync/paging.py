"""Are these pages one whole answer? Reads pages until that is proven, or says why it cannot be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Generic, Protocol, TypeVar

MOST_PAGES = 10_000
"""A report that still has rows after so many pages is taken to repeat itself for ever."""


Id = tuple[str | None, ...]
"""A documented id as its columns; one with a gap identifies nothing."""


class PagingUnproven(Exception):
    """Rows moved, went missing or never ended while they were read page by page."""


class PagingRefused(PagingUnproven):
    """The service refuses a page after the first: it is not asked for again."""


class Page(Protocol):
    """One page as paging sees it; `total` is the service's own count of rows, if it states one."""

    @property
    def rows(self) -> int: ...
    @property
    def total(self) -> int | None: ...
    @property
    def is_empty(self) -> bool: ...
    @property
    def ids(self) -> Mapping[str, Sequence[Id]]: ...
    @property
    def body(self) -> bytes: ...


P = TypeVar("P", bound=Page)


@dataclass
class _Reading(Generic[P]):
    """What has been read so far, and what would give a move away."""

    pages: list[P] = field(default_factory=list)
    seen: set[tuple[str, Id]] = field(default_factory=set)
    digests: set[bytes] = field(default_factory=set)
    received: int = 0

    def add(self, page: P) -> None:
        """Take the next page; raises PagingUnproven when it gives away that rows have moved."""
        first = self.pages[0] if self.pages else page
        of_pages = (page.total, first.total) == (page.rows, first.rows)  # it only counts the page itself
        if page.total != first.total and not (page.is_empty or of_pages):
            raise PagingUnproven(f"the total changed from {first.total} to {page.total}")
        ids = {(table, one) for table, many in page.ids.items() for one in many if None not in one}
        if repeated := ids & self.seen:
            raise PagingUnproven(f"{len(repeated)} ids came again on page {len(self.pages)}")
        digest = sha256(page.body).digest()
        if page.rows and digest in self.digests:
            raise PagingUnproven(f"page {len(self.pages)} is an earlier page again")
        self.seen |= ids
        self.digests.add(digest)
        self.pages.append(page)
        self.received += page.rows

    @property
    def runs_out(self) -> bool:
        """Whether the last page had fewer rows of every list than a page may hold, as only a last one has."""
        fullest, last = (
            max(map(len, page.ids.values()), default=0) for page in (self.pages[0], self.pages[-1])
        )
        return last < fullest

    @property
    def total(self) -> int | None:
        """The stated total, unless more rows than that have come: then it counts something else."""
        stated = self.pages[0].total
        return stated if stated is not None and stated >= self.received else None


async def read_pages(ask: Callable[[int], Awaitable[P]]) -> list[P]:
    """Read every page from 0 on (interface: pageIndex is 0-based) and prove that none moved meanwhile.

    Only an empty page ends the reading: the service may cap the size of its pages, and what it calls a
    total may count something else. A page refused after the stated total has come is an end as well, or
    after one that was no longer full.
    When there was more than one page with rows, or no total to go by, the first is asked once more and
    must hold the same rows. Raises PagingUnproven otherwise.
    """
    reading: _Reading[P] = _Reading()
    for index in range(MOST_PAGES):
        try:
            reading.add(await ask(index))
        except PagingRefused:
            if reading.received != reading.total and not reading.runs_out:
                raise
            break
        if reading.pages[-1].is_empty:
            break
    else:
        raise PagingUnproven(f"there were still rows after {MOST_PAGES} pages")
    if reading.total is not None and reading.received < reading.total:
        raise PagingUnproven(f"the pages hold {reading.received} rows of the {reading.total} stated")
    with_rows = sum(not page.is_empty for page in reading.pages)
    if with_rows > 1 or (with_rows == 1 and reading.total is None):
        _compare(reading.pages[0], await ask(0))
    return reading.pages


def _compare(first: Page, again: Page) -> None:
    if (first.rows, first.total, dict(first.ids)) != (again.rows, again.total, dict(again.ids)):
        raise PagingUnproven("the first page holds other rows than before")
