"""Paging: pages are used only if they provably form one complete answer."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from pipelines.normalize.document import Document
from pipelines.sync.window.paging import Page, PageSize, PagingRejected, PagingUnproven, read_pages


@dataclass
class Service:
    """Answers page by page from a script of what it holds at each request; "-" is a row without an id.

    What it holds may be an "error", which is neither a row nor an empty list of them.
    `total` is what it states of so many rows in all and so many on the page; a page has `page_size` rows at
    most, however many are `requested_rows`.
    """

    holdings: Callable[[int], Sequence[str]]
    page_size: int = 2
    requested_rows: int = 2
    total: Callable[[int, int], int | None] = lambda rows, _: rows
    has_ids: bool = True
    refuses_empty_pages: bool = False
    ignores_page_number: bool = False
    asked: list[int] = field(default_factory=list)
    size: PageSize = field(default_factory=PageSize)

    async def answer(self, index: int, is_complete: bool) -> Page:
        del is_complete
        rows = self.holdings(len(self.asked))
        if rows == "error":
            self.asked.append(index)
            body = b'{"message": "An error has occurred."}'
            return Page(Document(body), requested_rows=self.requested_rows, mismatch="expected leads[]")
        self.asked.append(index)
        first = 0 if self.ignores_page_number else index * self.page_size
        part = rows[first : first + self.page_size]
        if self.refuses_empty_pages and not part:
            raise PagingRejected("404")
        total = self.total(len(rows), len(part))
        ids = {"leads": [(None if name == "-" else name,) for name in part]} if self.has_ids else {}
        body = repr((part, total, index)).encode()
        return Page(
            Document(body),
            requested_rows=self.requested_rows,
            rows=len(part),
            total=total,
            ids=ids,
            rows_hash=hash(part),
        )


def holding(rows: str, **how: Any) -> Service:
    return Service(lambda _: rows, **how)


def no_total(_rows: int, _on_page: int) -> None:
    """A service that states no total."""


def read(service: Service) -> str:
    pages = asyncio.run(read_pages(service.answer, service.size))
    return "".join(name or "-" for page in pages for (name,) in page.ids.get("leads", ()))


WHOLE = {
    "one page with as many rows as are stated needs an empty one": (holding("a"), [0, 1]),
    "one shorter than another page needs none": (
        holding("a", size=PageSize(most_rows=2, most_list_rows=2)),
        [0],
    ),
    "one whose list may be full does": (holding("a", size=PageSize(most_rows=2, most_list_rows=1)), [0, 1]),
    "a page that is none after all rows have come": (
        Service(lambda asked: "error" if asked else "a"),
        [0, 1],
    ),
    "a capped page size and a total of the page alone": (
        holding("abcde", requested_rows=1000, total=lambda _, on_page: on_page),
        [0, 1, 2, 3, 0, 1, 3],
    ),
    "one page without a total needs an empty one": (holding("a", total=no_total), [0, 1, 1]),
    "one full page without a total needs a second look as well": (
        holding("ab", total=no_total),
        [0, 1, 0, 1],
    ),
    "one full page with a total may be followed by an empty one": (holding("ab"), [0, 1]),
    "several pages are followed by a second look": (holding("abc"), [0, 1, 0]),
    "a full last page is not the end": (holding("abcd"), [0, 1, 2, 0]),
    "a capped page size": (holding("abcde", page_size=1), [0, 1, 2, 3, 4, 5, 0]),
    "a capped page size and a total that is too low": (
        holding("abcde", page_size=1, total=lambda *_: 4),
        [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 5],
    ),
    "no rows take one request": (holding("", total=no_total), [0]),
    "no total": (holding("abc", total=no_total), [0, 1, 2, 0, 2]),
    "rows without an id are not repeated ones": (holding("---"), [0, 1, 0]),
    "a total of the page alone": (holding("abcde", total=lambda _, on_page: on_page), [0, 1, 2, 3, 0, 1, 3]),
    "no total: all pages but the last with rows are looked at twice": (
        holding("abcdefg", total=no_total),
        [0, 1, 2, 3, 4, 0, 1, 2, 4],
    ),
    "refused after the total": (holding("abcd", refuses_empty_pages=True), [0, 1, 2, 0]),
    "refused after a page that was not full": (
        holding("abcde", refuses_empty_pages=True, total=no_total),
        [0, 1, 2, 3, 0, 1],
    ),
}


@pytest.mark.parametrize(("service", "asked"), WHOLE.values(), ids=WHOLE)
def test_every_row_is_read_once(service: Service, asked: list[int]) -> None:
    assert (read(service), service.asked) == (service.holdings(0), asked)


@pytest.mark.parametrize("rows", ["abcd", "a"], ids=["full pages", "a page that may have been full"])
def test_without_a_total_a_rejected_page_is_not_the_end(rows: str) -> None:
    with pytest.raises(PagingRejected):
        read(holding(rows, total=no_total, refuses_empty_pages=True))


@pytest.mark.parametrize(
    ("service", "reason"),
    [
        (Service(lambda asked: "abcd" if asked == 0 else "abcde"), "the total changed"),
        (Service(lambda asked: "abcd" if asked == 0 else "xabc"), "appeared again"),
        (Service(lambda asked: "abcd" if asked < 3 else "acde"), "does not have the same rows"),
        (Service(lambda asked: "abcd" if asked == 0 else "acd", total=no_total), "not have the same"),
        (Service(lambda asked: "abcdef" if asked < 2 else "abdef", total=no_total), "page 1 does not have"),
        (Service(lambda asked: "abcdef" if asked != 1 else "", total=no_total), "page 1 does not have"),
        (Service(lambda asked: "abcdef" if asked != 1 else "error"), "page 1 does not fit"),
        (holding("abcd", total=no_total, has_ids=False, ignores_page_number=True), "repeats an earlier page"),
        (holding("abc", total=lambda *_: 9), "3 of the 9 stated rows"),
    ],
)
def test_rows_that_move_are_repeated_or_are_missing_are_noticed(service: Service, reason: str) -> None:
    with pytest.raises(PagingUnproven, match=reason):
        read(service)


def test_an_error_message_with_status_200_is_requested_once() -> None:
    service = holding("error")
    assert (read(service), service.asked) == ("", [0])


def test_endless_pages_are_abandoned_and_not_read_again() -> None:
    service = holding("".join(map(chr, range(1_000, 2_001))), page_size=1, requested_rows=1)
    with pytest.raises(PagingRejected, match="still rows after 1000 pages"):
        read(service)
