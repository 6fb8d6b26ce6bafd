"""Offices, groups, trademarks and users, and who could have worked on something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from random import Random

from pipelines.sandbox.world.chance import drawn, happens, hex_id, working_moment
from pipelines.sandbox.world.names import (
    DOUBLE_NAMES,
    FIRST_NAMES,
    GROUP_NAMES,
    LAST_NAMES,
    QUARTERS,
    SINGLE_NAMES,
    TOWNS,
)
from pipelines.sandbox.world.records import Group, Office, Trademark, User, UserCard

BLOCK, GROUPED = 7, 5
"""Of seven offices five are a group."""
FIRST_NUMBER = 30_011
FIRST_DAY, LAST_DAY = date(1998, 1, 1), date(2045, 1, 1)
LANGUAGES = ("en", "de", "fi", "ar", "es", "fr", "pl", "so", "fa", "no", "da")


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
        """A group's offices, or the office itself; none for an unknown customer."""
        if customer_id in self.groups:
            return tuple(self.offices[member] for member in self.groups[customer_id].offices)
        return (self.offices[customer_id],) if customer_id in self.offices else ()

    def around(self, office: Office) -> tuple[Office, ...]:
        """The offices of the same group, itself included."""
        return self.offices_of(office.group or office.customer_id)


@dataclass(frozen=True, slots=True)
class Staff:
    """The people around an office at a time; neighbours come with the office they belong to."""

    office: Office
    own: Sequence[User]
    neighbours: Sequence[tuple[User, Office]]

    def at_work(self, day: date) -> list[User]:
        """Users of the office itself."""
        return [user for user in self.own if user.works_on(day)]

    def nearby(self, day: date) -> list[tuple[User, Office]]:
        """Users of the group's other offices."""
        return [(user, office) for user, office in self.neighbours if user.works_on(day)]


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
    return Chain({office.customer_id: office for office in offices}, groups, tuple(_trademarks(offices)))


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
        if office.group:
            brand = _group_name(office.group)
            marks.setdefault(f"{brand} Nyproduktion", []).append(office.customer_id)
        else:
            brand = office.name.removesuffix(f" {office.town.name}")
        marks.setdefault(brand, []).append(office.customer_id)
    return [
        Trademark(f"VAR{number:04d}", name, tuple(members))
        for number, (name, members) in enumerate(sorted(marks.items()), start=1)
    ]


def roster(seed: int, office: Office) -> tuple[User, ...]:
    """Everybody who works, worked or will work at an office; the first desk always has the same user."""
    users: list[User] = []
    for desk in range(office.desks):
        chance = drawn(seed, "desk", office.number, desk)
        hired = FIRST_DAY + timedelta(days=chance.randrange(900))
        followers = 0
        while hired < LAST_DAY:
            stays = timedelta(days=int(chance.lognormvariate(7.2, 0.6)) + 120)
            left = None if desk == 0 else hired + stays
            users.append(_user(chance, office, f"{office.number}{desk:02d}{followers:02d}", hired, left))
            if left is None:
                break
            followers += 1
            hired = left + timedelta(days=chance.randint(7, 90))
    return tuple(users)


def _user(chance: Random, office: Office, employee_id: str, hired: date, left: date | None) -> User:
    first = chance.choice(FIRST_NAMES)
    last = chance.choice(DOUBLE_NAMES) if happens(chance, 0.05) else chance.choice(LAST_NAMES)
    languages = ("sv", *sorted(chance.sample(LANGUAGES, chance.randint(0, 3))))
    image = hex_id(chance, "IMG") if happens(chance, 0.85) else None
    area = office.town.zip_prefix % 90 + 10
    cards = [
        UserCard(
            known_at=datetime.combine(hired, time(7, 30)),
            name=f"{first} {last}",
            email=f"{_plain(first)}.{_plain(last)}@{_plain(office.name)}.example",
            public_phone=f"0{area}-{chance.randint(100, 999)} {chance.randint(10, 99)}",
            cell_phone=_cell_phone(chance),
            languages=languages,
            image_id=image,
        )
    ]
    user_id = hex_id(chance, "HAN")
    day = hired + timedelta(days=int(chance.expovariate(1 / 420)) + 5)
    while day < (left or LAST_DAY):
        cards.append(_changed(chance, cards[-1], day))
        day += timedelta(days=int(chance.expovariate(1 / 420)) + 5)
    return User(user_id, office.customer_id, employee_id, hired, left, tuple(cards))


def _changed(chance: Random, card: UserCard, day: date) -> UserCard:
    """The card after one of its values was changed."""
    what = chance.random()
    if what < 0.15:
        card = replace(card, name=f"{card.name.split()[0]} {chance.choice(LAST_NAMES)}")
    elif what < 0.55:
        card = replace(card, cell_phone=_cell_phone(chance))
    elif what < 0.7:
        languages = ("sv", *sorted(chance.sample(LANGUAGES, chance.randint(1, 4))))
        card = replace(card, languages=languages)
    else:
        card = replace(card, image_id=hex_id(chance, "IMG"))
    return replace(card, known_at=working_moment(chance, day))


def _cell_phone(chance: Random) -> str:
    return f"070-{chance.randint(100, 999)} {chance.randint(10, 99)} {chance.randint(10, 99)}"


def _plain(text: str) -> str:
    return text.lower().translate(str.maketrans("åäöéč", "aaoec", " &'-."))
