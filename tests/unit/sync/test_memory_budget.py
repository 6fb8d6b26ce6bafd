"""Memory budget: windows begin in order, and wait while the answers under way fill the budget."""

from __future__ import annotations

import asyncio

from pipelines.sync.window.memory_budget import MIN_WINDOW_BYTES, MemoryBudget

LARGE = 10 * MIN_WINDOW_BYTES


async def begun(budget: MemoryBudget, *reports: str) -> list[str]:
    """The windows that may begin one after the other, before any of them is loaded."""
    entered: list[str] = []

    async def enter(report: str) -> None:
        await budget.enter(report)
        entered.append(report)

    waiting = [asyncio.create_task(enter(report)) for report in reports]
    for _ in range(5 * len(reports)):
        await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    return entered


async def knowing(budget: MemoryBudget, **sizes: int) -> MemoryBudget:
    """The budget once it has seen a window of each of these reports."""
    for report, size in sizes.items():
        await budget.enter(report)
        budget.record_size(report, size, is_complete=True)
        budget.leave(report)
    return budget


def test_the_first_window_runs_alone_until_all_its_pages_have_arrived() -> None:
    async def windows() -> list[list[str]]:
        budget = MemoryBudget(10 * LARGE)
        began = [await begun(budget, "sales", "sales")]
        budget.record_size("sales", 1)  # its first page
        began.append(await begun(budget, "sales"))
        budget.record_size("sales", LARGE, is_complete=True)
        budget.leave("sales")
        return [*began, await begun(budget, "sales", "users")]

    assert asyncio.run(windows()) == [["sales"], [], ["sales", "users"]]


def test_a_window_that_grows_larger_than_earlier_ones_leaves_room_for_fewer() -> None:
    async def windows() -> list[str]:
        budget = await knowing(MemoryBudget(4 * LARGE), sales=LARGE)
        await budget.enter("sales")
        budget.record_size("sales", 2 * LARGE)
        return await begun(budget, "sales", "sales")

    assert asyncio.run(windows()) == ["sales"]


def test_a_window_waits_while_the_budget_is_full_and_no_later_one_overtakes_it() -> None:
    async def windows() -> tuple[list[str], list[str]]:
        budget = await knowing(MemoryBudget(2 * LARGE), sales=LARGE, users=1)
        before = await begun(budget, "sales", "sales", "sales", "users")
        budget.leave("sales")
        return before, await begun(budget, "sales", "users")

    assert asyncio.run(windows()) == (["sales", "sales"], ["sales"])


def test_a_window_larger_than_the_whole_budget_runs_alone() -> None:
    async def windows() -> tuple[list[str], list[str]]:
        budget = await knowing(MemoryBudget(LARGE), sales=99 * LARGE)
        before = await begun(budget, "sales", "sales")
        budget.leave("sales")
        return before, await begun(budget, "sales")

    assert asyncio.run(windows()) == (["sales"], ["sales"])


def test_a_fetched_window_counts_with_its_own_size_until_it_is_loaded() -> None:
    async def windows() -> list[list[str]]:
        budget = await knowing(MemoryBudget(2 * LARGE), sales=LARGE)
        began = [await begun(budget, "sales", "sales", "sales")]
        budget.record_fetched("sales", 1)
        began.append(await begun(budget, "sales"))
        budget.record_fetched("sales", LARGE)
        began.append(await begun(budget, "sales"))
        budget.record_loaded(LARGE, 1)
        return [*began, await begun(budget, "sales", "sales", "sales")]

    assert asyncio.run(windows()) == [["sales"] * 2, [], [], ["sales"] * 2]
