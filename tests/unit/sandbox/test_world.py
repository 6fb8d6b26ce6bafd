"""The world: believable, and the same for the same seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date

import pytest

from pipelines.months import Month
from pipelines.sandbox.world.market import WHOLE, split
from pipelines.sandbox.world.records import SALE, Estate, Lead, RunningStep
from pipelines.sandbox.world.world import World
from tests.unit.sandbox.asking import world


def _estates(of: World) -> Iterator[Estate]:
    for office in of.offices:
        for month in of.history.months(office, Month(2025, 12)):
            yield from month.estates


def _leads(of: World) -> Iterator[Lead]:
    for office in of.offices:
        for month in of.history.months(office, Month(2025, 12)):
            yield from month.leads


def _running(of: World) -> Iterator[RunningStep]:
    for office in of.offices:
        for month in of.history.months(office, Month(2025, 12)):
            yield from month.running


def _sales(of: World) -> list[Estate]:
    return [estate for estate in _estates(of) if estate.assignment == SALE]


def test_seven_offices_are_a_group_of_five_and_two_alone() -> None:
    assert (world().customers, len(world().offices_of("G1")), len(world().offices)) == (
        ("G1", "M30016", "M30017"),
        5,
        7,
    )


def test_the_same_seed_makes_the_same_world_and_another_seed_another() -> None:
    again, other = (World.build(seed=seed, start=Month(2024, 1), as_of=date(2025, 12, 31)) for seed in (1, 2))
    assert (
        list(_estates(again)) == list(_estates(world())),
        list(_estates(other)) == list(_estates(world())),
    ) == (
        True,
        False,
    )


def test_a_later_start_leaves_out_months_and_changes_none() -> None:
    late = World.build(seed=1, start=Month(2025, 6), as_of=date(2025, 12, 31))
    known = {estate.id: estate for estate in _estates(world())}
    assert all(known[estate.id] == estate for estate in _estates(late))


def test_shares_of_every_version_sum_to_the_whole() -> None:
    for estate in _estates(world()):
        for version in estate.versions:
            if version.shares:
                assert sum(share.basis_points for share in version.shares) == WHOLE
                assert sum(share.value for share in version.shares) == version.commission


def test_an_odd_ore_is_not_lost_when_a_commission_is_split() -> None:
    assert split(10_000_01, (3_333, 3_333, 3_334)) == [333_300, 333_301, 333_400]


def test_some_sales_are_shared_between_offices_of_a_group() -> None:
    shared = [
        estate
        for estate in _sales(world())
        if len({share.office for share in estate.versions[-1].shares}) > 1
    ]
    assert 0.01 < len(shared) / len(_sales(world())) < 0.2


def test_estates_of_every_kind_are_sold() -> None:
    assert len({estate.kind for estate in _sales(world())}) == 9


def test_some_running_commissions_are_truly_equal() -> None:
    told = Counter(
        (step.user_id, step.estate_id, step.amount, step.rate, step.obtained_on) for step in _running(world())
    )
    assert max(told.values()) > 1


@pytest.mark.parametrize("seed", [1, 5])
def test_nobody_earns_before_being_hired(seed: int) -> None:
    users = {user.id: user for office in world(seed).offices for user in world(seed).history.users(office)}
    for estate in _sales(world(seed)):
        signed = estate.versions[1].contract_on
        assert signed is not None
        assert all(users[share.user_id].works_on(signed) for share in estate.versions[1].shares)
