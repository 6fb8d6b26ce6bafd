"""The world: the same for the same seed, whole to the öre, and edited from one day to the next."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

import pytest

from pipelines.months import Month
from pipelines.sandbox.service import Service
from pipelines.sandbox.world.market import WHOLE
from pipelines.sandbox.world.records import Estate
from pipelines.sandbox.world.world import World
from tests.truth import truth
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


def test_shares_of_every_version_sum_to_the_whole() -> None:
    for estate in _estates(world()):
        for version in estate.versions:
            if version.shares:
                assert sum(share.basis_points for share in version.shares) == WHOLE
                assert sum(share.value for share in version.shares) == version.commission


def test_a_changed_sale_carries_what_it_was_before_and_is_found_by_the_date_of_its_change() -> None:
    before, after = _sales(_on(SUMMER)), _sales(_on(WINTER))
    both = before.keys() & after.keys()
    assert all(after[key]["changes"][: len(before[key]["changes"])] == before[key]["changes"] for key in both)
    since = {"dateFrom": "2025-08-01T00:00:00", "dateTo": "2026-03-31T23:59:59"}
    tree = ask(_on(WINTER), f"{BI}/GetSalesReport", customerId="G1", selectionType="Changed", **since)
    changed = {key for key in both if before[key]["changedAt"] != after[key]["changedAt"]}
    assert changed
    assert changed <= {estate["id"] for _, _, estate in estates(tree)}


@pytest.mark.parametrize("day", [date(2025, 1, 14), date(2025, 6, 30), date(2025, 12, 9)])
def test_on_a_day_of_incidents_something_of_every_kind_happens_at_one_office(day: date) -> None:
    eventful = World.build(start=Month(2024, 6), as_of=day, incidents_on=day)
    [office, *_] = eventful.offices
    first, last = date(2024, 6, 1), date(2025, 12, 31)
    before, after = (truth(eventful.at(one), office, first, last) for one in (day - timedelta(days=1), day))

    def growth(part: str, amount: str, **kind: object) -> Decimal:
        sums = [
            sum(row[amount] for row in known[part] if kind.items() <= row.items())
            for known in (before, after)
        ]
        return Decimal(sums[1] - sums[0])

    month = Month.of(day).plus(-2)
    assert growth("sales", "count", month=month) == -1
    assert growth("sales", "commission", month=month) < 0
    assert growth("leads", "count", month=month, removed=True) == 1
    assert growth("budgets", "commission", month=Month.of(day)) == 25_000
    assert len(after["users"]) == len(before["users"]) - 1


def test_a_service_follows_the_calendar_or_is_moved_to_another_day() -> None:
    days = [SUMMER]
    following, moved = Service(world().at(SUMMER), today=lambda: days[-1]), _on(SUMMER)
    assert _sales(following) == _sales(moved)
    days.append(WINTER)
    moved.set_as_of(WINTER)
    assert _sales(following) == _sales(moved) == _sales(_on(WINTER))
