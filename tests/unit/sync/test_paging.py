"""Paging: pages count only when they are proven to be one whole answer."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from pipelines.normalize.document import Document
from pipelines.sync.paging import Page, PagingRefused, PagingUnproven, read_pages


def page_of(names: Sequence[str], total: int | None = None, *, has_ids: bool = True) -> Page:
    """A page of rows with these ids; an empty name is a row without one."""
    return Page(
        Document(repr((names, total)).encode()),
        rows=len(names),
        total=total,
        is_empty=not names,
        ids={"leads": [(name or None,) for name in names]} if has_ids else {},
    )


def names_of(page: Page) -> list[str]:
    return [name or "" for (name,) in page.ids.get("leads", ())]


@dataclass
class Service:
    """Answers page by page from a script of what it holds at each request."""

    holdings: Callable[[int], Sequence[str]]
    page_size: int = 2
    states_total: bool = True
    has_ids: bool = True
    asked: list[int] = field(default_factory=list)

    async def answer(self, index: int) -> Page:
        rows = self.holdings(len(self.asked))
        self.asked.append(index)
        part = rows[index * self.page_size : (index + 1) * self.page_size]
        return page_of(part, len(rows) if self.states_total else None, has_ids=self.has_ids)


class Refusing(Service):
    async def answer(self, index: int) -> Page:
        page = await super().answer(index)
        if page.is_empty:
            raise PagingRefused("404")
        return page


def read(service: Service) -> list[str]:
    pages = asyncio.run(read_pages(service.answer))
    return [name for page in pages for name in names_of(page)]


def test_one_page_with_the_whole_total_and_an_empty_one_need_no_second_look() -> None:
    service = Service(lambda _: "a")
    assert (read(service), service.asked) == (["a"], [0, 1])


def test_a_total_of_the_page_alone_does_not_end_the_reading() -> None:
    class OfThePage(Service):
        async def answer(self, index: int) -> Page:
            page = await super().answer(index)
            return page_of(names_of(page), page.rows)

    assert read(OfThePage(lambda _: "abcde")) == ["a", "b", "c", "d", "e"]


def test_a_page_refused_after_the_whole_total_is_an_end() -> None:
    assert read(Refusing(lambda _: "abcd")) == ["a", "b", "c", "d"]


def test_a_page_refused_without_a_total_proves_nothing() -> None:
    with pytest.raises(PagingRefused):
        read(Refusing(lambda _: "abcd", states_total=False))


def test_a_page_refused_after_one_that_was_not_full_is_the_end() -> None:
    service = Refusing(lambda _: "abcde", states_total=False)
    assert (read(service), service.asked) == (list("abcde"), [0, 1, 2, 3, 0])


def test_a_page_refused_after_one_that_may_have_been_full_proves_nothing() -> None:
    with pytest.raises(PagingRefused):
        read(Refusing(lambda _: "a", states_total=False))


def test_several_pages_are_followed_by_a_second_look_at_the_first() -> None:
    service = Service(lambda _: "abc")
    assert (read(service), service.asked) == (["a", "b", "c"], [0, 1, 2, 0])


def test_without_a_total_an_empty_page_ends_the_reading() -> None:
    service = Service(lambda _: "abc", states_total=False)
    assert (read(service), service.asked) == (["a", "b", "c"], [0, 1, 2, 0])


def test_a_full_last_page_is_not_taken_for_the_end() -> None:
    service = Service(lambda _: "abcd")
    assert (read(service), service.asked) == (["a", "b", "c", "d"], [0, 1, 2, 0])


def test_a_capped_page_size_does_no_harm() -> None:
    assert read(Service(lambda _: "abcde", page_size=1)) == ["a", "b", "c", "d", "e"]


def test_no_rows_at_all_take_one_request() -> None:
    service = Service(lambda _: "", states_total=False)
    assert (read(service), service.asked) == ([], [0])


def test_a_total_that_counts_something_smaller_is_not_believed() -> None:
    class Fewer(Service):
        async def answer(self, index: int) -> Page:
            page = await super().answer(index)
            return page_of(names_of(page), 1)

    assert read(Fewer(lambda _: "abcde")) == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("holdings", "reason"),
    [
        (lambda asked: "abcd" if asked == 0 else "abcde", "the total changed"),
        (lambda asked: "abcd" if asked == 0 else "xabc", "came again"),
        (lambda asked: "abcd" if asked < 3 else "acde", "other rows than before"),
    ],
)
def test_rows_that_move_are_noticed(holdings: Callable[[int], str], reason: str) -> None:
    with pytest.raises(PagingUnproven, match=reason):
        read(Service(holdings))


def test_a_row_that_slips_off_between_two_pages_is_noticed_by_the_second_look() -> None:
    service = Service(lambda asked: "abcd" if asked == 0 else "acd", states_total=False)
    with pytest.raises(PagingUnproven, match="other rows than before"):
        read(service)


def test_a_service_that_ignores_the_page_number_is_noticed_without_ids() -> None:
    class Stuck(Service):
        async def answer(self, index: int) -> Page:
            return await super().answer(index * 0)

    with pytest.raises(PagingUnproven, match="earlier page again"):
        read(Stuck(lambda _: "abcd", states_total=False, has_ids=False))


def test_fewer_rows_than_the_stated_total_are_noticed() -> None:
    class Short(Service):
        async def answer(self, index: int) -> Page:
            page = await super().answer(index)
            return page_of(names_of(page), 9)

    with pytest.raises(PagingUnproven, match="3 rows of the 9 stated"):
        read(Short(lambda _: "abc"))


def test_rows_without_an_id_are_not_taken_for_repeated_ones() -> None:
    class Nameless(Service):
        async def answer(self, index: int) -> Page:
            page = await super().answer(index)
            return page_of([""] * page.rows, page.total)

    assert len(read(Nameless(lambda _: "abc"))) == 3
