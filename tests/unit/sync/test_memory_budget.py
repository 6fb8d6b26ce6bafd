"""Memory budget: windows begin in their order, and wait while the answers under way are large together."""

from __future__ import annotations

import asyncio

from pipelines.sync.memory_budget import SMALLEST_WINDOW, MemoryBudget

LARGE = 10 * SMALLEST_WINDOW


async def begun(budget: MemoryBudget, *reports: str) -> list[str]:
    """The windows that may begin one after the other, before any of them is loaded."""
    entered: list[str] = []

    async def enter(report: str) -> None:
        await budget.enter(report)
        entered.append(report)

    waiting = [asyncio.create_task(enter(report)) for report in reports]
    for _ in range(5 * len(reports)):
        await asyncio.sleep(0)
    for one in waiting:
        one.cancel()
    return entered


def test_the_first_window_goes_alone_until_its_size_is_known() -> None:
    async def windows() -> tuple[list[str], list[str]]:
        budget = MemoryBudget(10 * LARGE)
        before = await begun(budget, "sales", "sales")
        budget.note("sales", LARGE)
        return before, await begun(budget, "sales", "users")

    assert asyncio.run(windows()) == (["sales"], ["sales", "users"])


def test_a_window_waits_while_others_like_it_fill_the_budget_and_no_later_one_overtakes_it() -> None:
    async def windows() -> tuple[list[str], list[str]]:
        budget = MemoryBudget(2 * LARGE)
        budget.note("sales", LARGE)
        budget.note("users", 1)
        before = await begun(budget, "sales", "sales", "sales", "users")
        budget.leave("sales")
        return before, await begun(budget, "sales", "users")

    assert asyncio.run(windows()) == (["sales", "sales"], ["sales"])


def test_a_window_larger_than_the_whole_budget_goes_alone() -> None:
    async def windows() -> tuple[list[str], list[str]]:
        budget = MemoryBudget(LARGE)
        budget.note("sales", 99 * LARGE)
        before = await begun(budget, "sales", "sales")
        budget.leave("sales")
        return before, await begun(budget, "sales")

    assert asyncio.run(windows()) == (["sales"], ["sales"])


def test_what_is_fetched_counts_for_its_own_bytes_and_makes_room_when_it_is_loaded() -> None:
    async def windows() -> list[list[str]]:
        budget = MemoryBudget(2 * LARGE)
        budget.note("sales", LARGE)
        began = [await begun(budget, "sales", "sales", "sales")]
        budget.fetched("sales", 1)
        began.append(await begun(budget, "sales"))
        budget.fetched("sales", LARGE)
        began.append(await begun(budget, "sales"))
        budget.loaded(LARGE, 1)
        return [*began, await begun(budget, "sales", "sales", "sales")]

    assert asyncio.run(windows()) == [["sales"] * 2, [], [], ["sales"] * 2]
