"""The world: the same for the same seed, whole to the öre, and edited from one day to the next."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from pipelines.months import Month
from pipelines.sandbox.service import Service
from pipelines.sandbox.world.records import Estate
from pipelines.sandbox.world.world import World
from tests.unit.sandbox.asking import AGREED, BI, END_OF_2025, Json, ask, estates, world

SUMMER, WINTER = date(2025, 7, 31), date(2026, 3, 31)
HALF_YEAR = {"dateFrom": "2025-01-01T00:00:00", "dateTo": "2025-06-30T23:59:59"}


def _estates(of: World) -> Iterator[Estate]:
    for office in of.offices:
        for month in of.history.months(office, Month(2025, 12)):
            yield from month.estates


def _on(day: date) -> Service:
    return Service(world().at(day))


def _sales(service: Service) -> dict[str, Json]:
    tree = ask(service, f"{BI}/GetSalesReport", customerId="G1", **AGREED, **HALF_YEAR)
    return {estate["id"]: estate for _, _, estate in estates(tree)}


def test_the_same_seed_makes_the_same_world_and_another_seed_another() -> None:
    again, other = (World.build(seed=seed, start=Month(2024, 1), as_of=END_OF_2025) for seed in (1, 2))
    assert list(_estates(again)) == list(_estates(world())) != list(_estates(other))


def test_a_later_start_leaves_out_months_and_changes_none() -> None:
    late = World.build(seed=1, start=Month(2025, 6), as_of=END_OF_2025)
    known = {estate.id: estate for estate in _estates(world())}
    assert all(known[estate.id] == estate for estate in _estates(late))


def test_a_changed_sale_carries_what_it_was_before_and_is_found_by_the_date_of_its_change() -> None:
    before, after = _sales(_on(SUMMER)), _sales(_on(WINTER))
    both = before.keys() & after.keys()
    assert all(after[key]["changes"][: len(before[key]["changes"])] == before[key]["changes"] for key in both)
    since = {"dateFrom": "2025-08-01T00:00:00", "dateTo": "2026-03-31T23:59:59"}
    tree = ask(_on(WINTER), f"{BI}/GetSalesReport", customerId="G1", selectionType="Changed", **since)
    changed = {key for key in both if before[key]["changedAt"] != after[key]["changedAt"]}
    assert changed
    assert changed <= {estate["id"] for _, _, estate in estates(tree)}
