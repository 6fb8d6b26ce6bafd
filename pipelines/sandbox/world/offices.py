"""Which groups, offices and trademarks are there? Of seven offices five are a group, two stand alone."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.sandbox.world.chance import drawn
from pipelines.sandbox.world.facts import Group, Office, Trademark
from pipelines.sandbox.world.names import GROUP_NAMES, SINGLE_NAMES
from pipelines.sandbox.world.towns import QUARTERS, TOWNS

BLOCK = 7
GROUPED = 5
FIRST_NUMBER = 30_011


@dataclass(frozen=True, slots=True)
class Chain:
    """Every office of the world, and the groups some of them form."""

    offices: dict[str, Office]
    groups: dict[str, Group]
    trademarks: tuple[Trademark, ...]

    @property
    def customers(self) -> tuple[str, ...]:
        """Groups and single offices: together they hold every office once."""
        alone = [office.customer_id for office in self.offices.values() if office.group is None]
        return (*self.groups, *alone)

    def offices_of(self, customer_id: str) -> tuple[Office, ...]:
        """A group's offices, or the office itself; none for a customer nobody knows."""
        if customer_id in self.groups:
            return tuple(self.offices[member] for member in self.groups[customer_id].offices)
        return (self.offices[customer_id],) if customer_id in self.offices else ()


def chain(seed: int, count: int) -> Chain:
    """Lay out so many offices."""
    if count < 1:
        raise ValueError(f"a world needs at least one office, not {count}")
    offices = [_office(seed, index) for index in range(count)]
    groups: dict[str, Group] = {}
    for office in offices:
        if office.group is not None:
            members = tuple(other.customer_id for other in offices if other.group == office.group)
            groups[office.group] = Group(office.group, f"{_group_name(office.group)}gruppen", members)
    by_id = {office.customer_id: office for office in offices}
    return Chain(by_id, groups, tuple(_trademarks(offices)))


def _office(seed: int, index: int) -> Office:
    block, place = divmod(index, BLOCK)
    number = FIRST_NUMBER + index
    town = TOWNS[index % len(TOWNS)]
    quarter = QUARTERS[index // len(TOWNS) % len(QUARTERS)]
    group = f"G{block + 1}" if place < GROUPED else None
    brand = _group_name(group) if group else SINGLE_NAMES[(block * 2 + place - GROUPED) % len(SINGLE_NAMES)]
    desks = drawn(seed, "desks", number).randint(4, 8)
    return Office(number, f"M{number}", f"FIR{number}", f"{brand} {town.name}{quarter}", town, group, desks)


def _group_name(group: str) -> str:
    return GROUP_NAMES[(int(group[1:]) - 1) % len(GROUP_NAMES)]


def _trademarks(offices: list[Office]) -> list[Trademark]:
    """A trademark per group and per single office; every group also has one for new homes."""
    marks: dict[str, list[str]] = {}
    for office in offices:
        brand = (
            _group_name(office.group) if office.group else office.name.removesuffix(f" {office.town.name}")
        )
        marks.setdefault(brand, []).append(office.customer_id)
        if office.group:
            marks.setdefault(f"{brand} Nyproduktion", []).append(office.customer_id)
    return [
        Trademark(f"VAR{number:04d}", name, tuple(members))
        for number, (name, members) in enumerate(sorted(marks.items()), start=1)
    ]
