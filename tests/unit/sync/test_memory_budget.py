"""Memory: what would take too much together goes one after the other."""

from __future__ import annotations

import asyncio

from pipelines.sync.memory_budget import MemoryBudget


async def order_of(budget: MemoryBudget, *wanted: tuple[str, int, bool]) -> list[str]:
    """In which order tasks that want so much memory, some of them first, begin and end."""
    events: list[str] = []

    async def work(name: str, size: int, *, first: bool) -> None:
        async with budget.reserve(lambda: size, first=first):
            events.append(f"{name} begins")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            events.append(f"{name} ends")

    await asyncio.gather(*(work(name, size, first=first) for name, size, first in wanted))
    return events


def test_what_needs_too_much_memory_together_goes_one_after_the_other_and_loads_come_first() -> None:
    found = asyncio.run(order_of(MemoryBudget(10), ("a", 99, False), ("b", 6, False), ("load", 5, True)))
    assert found == ["a begins", "a ends", "load begins", "load ends", "b begins", "b ends"]


def test_a_window_is_expected_to_be_as_large_as_the_largest_like_it() -> None:
    budget = MemoryBudget(1000)
    assert budget.expected("sales") == 500
    budget.note("sales", 3)
    budget.note("users", 2)
    budget.note("users", 1)
    assert budget.expected("trademarks") == budget.expected("sales") > budget.expected("users")


def test_whoever_waits_goes_in_the_order_of_coming() -> None:
    async def order() -> list[str]:
        budget, events = MemoryBudget(10), list[str]()

        async def work(name: str) -> None:
            async with budget.reserve(lambda: 10):
                events.append(name)
                await asyncio.sleep(0)
            if name == "a":
                await work("again")

        await asyncio.gather(*map(work, "abc"))
        return events

    assert asyncio.run(order()) == ["a", "b", "c", "again"]
