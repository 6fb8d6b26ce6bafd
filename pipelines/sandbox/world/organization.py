"""Offices, groups and trademarks; users with their budgets and daily activity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from random import Random

from pipelines.months import Month, months_between
from pipelines.sandbox.world import market, names
from pipelines.sandbox.world.chance import happens, hex_id, random_for, working_moment
from pipelines.sandbox.world.records import Budget, Office, Trademark, User, UserCard

BLOCK, GROUPED = 7, 5
"""The first five of every seven offices form a group."""
FIRST_NUMBER = 30_011
FIRST_DAY, LAST_DAY = date(1998, 1, 1), date(2045, 1, 1)
REVISED, REVISED_AGAIN = 0.35, 0.5
"""The share of users whose budgets of a year change, and the share of these whose budgets change again."""
LANGUAGES = ("en", "de", "fi", "ar", "es", "fr", "pl", "so", "fa", "no", "da")


@dataclass(frozen=True, slots=True)
class Chain:
    """Every office of the world, the groups that some of them form, and the trademarks."""

    offices: dict[str, Office]
    groups: dict[str, tuple[str, ...]]
    trademarks: tuple[Trademark, ...]

    def offices_of(self, customer_id: str) -> tuple[Office, ...]:
        """A group's offices, or the office itself; none for an unknown customer."""
        if customer_id in self.groups:
            return tuple(self.offices[member] for member in self.groups[customer_id])
        return (self.offices[customer_id],) if customer_id in self.offices else ()

    def group_offices(self, office: Office) -> tuple[Office, ...]:
        """The offices of the office's group, or the office alone if it is in no group."""
        return self.offices_of(office.group or office.customer_id)


@dataclass(frozen=True, slots=True)
class Staff:
    """An office, its users, and the users of the group's other offices, each with their office."""

    office: Office
    own: Sequence[User]
    neighbours: Sequence[tuple[User, Office]]

    def at_work(self, day: date) -> list[User]:
        """The users of the office itself who work on a day."""
        return [user for user in self.own if user.works_on(day)]

    def nearby(self, day: date) -> list[tuple[User, Office]]:
        """The users of the group's other offices who work on a day."""
        return [(user, office) for user, office in self.neighbours if user.works_on(day)]


def chain(seed: int, count: int) -> Chain:
    """A chain of `count` offices, with their groups and trademarks."""
    if count < 1:
        raise ValueError(f"a world needs at least one office, not {count}")
    offices = [_office(seed, index) for index in range(count)]
    groups: dict[str, tuple[str, ...]] = {}
    for office in offices:
        if office.group is not None:
            groups[office.group] = (*groups.get(office.group, ()), office.customer_id)
    return Chain({office.customer_id: office for office in offices}, groups, tuple(_trademarks(offices)))


def _office(seed: int, index: int) -> Office:
    block, place = divmod(index, BLOCK)
    number = FIRST_NUMBER + index
    town = names.TOWNS[index % len(names.TOWNS)]
    quarter = names.QUARTERS[index // len(names.TOWNS) % len(names.QUARTERS)]
    group = f"G{block + 1}" if place < GROUPED else None
    brand = (
        _group_name(group)
        if group
        else names.SINGLE_NAMES[(block * 2 + place - GROUPED) % len(names.SINGLE_NAMES)]
    )
    desks = random_for(seed, "desks", number).randint(4, 8)
    return Office(number, f"M{number}", f"FIR{number}", f"{brand} {town.name}{quarter}", town, group, desks)


def _group_name(group: str) -> str:
    return names.GROUP_NAMES[(int(group[1:]) - 1) % len(names.GROUP_NAMES)]


def _trademarks(offices: list[Office]) -> list[Trademark]:
    """A trademark for each group and each office without a group, and one for the new homes of each group."""
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
    """All past, present and future users of an office; the first desk always has the same user."""
    users: list[User] = []
    for desk in range(office.desks):
        rng = random_for(seed, "desk", office.number, desk)
        hired = FIRST_DAY + timedelta(days=rng.randrange(900))
        followers = 0
        while hired < LAST_DAY:
            stays = timedelta(days=int(rng.lognormvariate(7.2, 0.6)) + 120)
            left = None if desk == 0 else hired + stays
            users.append(_user(rng, office, f"{office.number}{desk:02d}{followers:02d}", hired, left))
            if left is None:
                break
            followers += 1
            hired = left + timedelta(days=rng.randint(7, 90))
    return tuple(users)


def _user(rng: Random, office: Office, employee_id: str, hired: date, left: date | None) -> User:
    first = rng.choice(names.FIRST_NAMES)
    last = rng.choice(names.DOUBLE_NAMES) if happens(rng, 0.05) else rng.choice(names.LAST_NAMES)
    languages = ("sv", *sorted(rng.sample(LANGUAGES, rng.randint(0, 3))))
    image = hex_id(rng, "IMG") if happens(rng, 0.85) else None
    area = office.town.zip_prefix % 90 + 10
    known_at, name = datetime.combine(hired, time(7, 30)), f"{first} {last}"
    email = f"{_plain(first)}.{_plain(last)}@{_plain(office.name)}.example"
    phone = f"0{area}-{rng.randint(100, 999)} {rng.randint(10, 99)}"
    cards = [UserCard(known_at, name, email, phone, _cell_phone(rng), languages, image)]
    user_id = hex_id(rng, "HAN")
    day = hired + timedelta(days=int(rng.expovariate(1 / 420)) + 5)
    while day < (left or LAST_DAY):
        cards.append(_changed_card(rng, cards[-1], day))
        day += timedelta(days=int(rng.expovariate(1 / 420)) + 5)
    return User(user_id, office.customer_id, employee_id, hired, left, tuple(cards))


def _changed_card(rng: Random, card: UserCard, day: date) -> UserCard:
    draw = rng.random()
    if draw < 0.15:
        card = replace(card, name=f"{card.name.split()[0]} {rng.choice(names.LAST_NAMES)}")
    elif draw < 0.55:
        card = replace(card, cell_phone=_cell_phone(rng))
    elif draw < 0.7:
        languages = ("sv", *sorted(rng.sample(LANGUAGES, rng.randint(1, 4))))
        card = replace(card, languages=languages)
    else:
        card = replace(card, image_id=hex_id(rng, "IMG"))
    return replace(card, known_at=working_moment(rng, day))


def _cell_phone(rng: Random) -> str:
    return f"070-{rng.randint(100, 999)} {rng.randint(10, 99)} {rng.randint(10, 99)}"


def _plain(text: str) -> str:
    return text.lower().translate(str.maketrans("åäöéč", "aaoec", " &'-."))


def budgets(seed: int, user: User, year: int) -> list[Budget]:
    """Every budget ever set for a user and a year, oldest first. Those of some users change once or twice."""
    if user.hired >= date(year, 12, 1) or (user.left is not None and user.left <= date(year, 1, 1)):
        return []
    rng = random_for(seed, "budget", user.id, year)
    decided = working_moment(rng, date(year - 1, 11, 10) + timedelta(days=rng.randrange(35)))
    hired = datetime.combine(user.hired, time(13))
    first = max(Month(year, 1), Month.of(user.hired))
    strength = rng.uniform(0.6, 1.5)
    original: list[Budget] = []
    for month in months_between(first, Month(year, 12)):
        sold = max(0, round(1.4 * strength * market.season(month)))
        new = sold + (1 if strength > 1 else 0)
        earned = round(105_000 * strength * market.season(month) * market.price_level(month) / 500) * 500
        known_at = max(decided, hired)
        original.append(
            Budget(
                user.id, user.office, month, known_at, earned, sold, new, meetings=new * 2 + 1, own_booked=new
            )
        )
    all_budgets = list(original)
    revisions = 0
    if happens(rng, REVISED):
        revisions = 2 if happens(rng, REVISED_AGAIN) else 1
    for earliest in (date(year, 3, 1), date(year, 8, 1))[:revisions]:
        moment = working_moment(rng, earliest + timedelta(days=rng.randrange(90)))
        factor = rng.choice((0.75, 0.85, 0.9, 1.1, 1.2))
        for budget in original:
            if moment > hired and budget.month > Month.of(moment.date()):
                commission = round(budget.commission * factor / 500) * 500
                sold = max(0, budget.sold + (1 if factor > 1 else -1))
                all_budgets.append(replace(budget, known_at=moment, commission=commission, sold=sold))
    return all_budgets


@lru_cache(maxsize=4_000)
def daily_activity(seed: int, user_id: str, month: Month) -> tuple[tuple[int, int, int, int], ...]:
    """A user's meetings, viewings, calls and contacts by day: none on Saturdays, only viewings on Sundays."""
    rng = random_for(seed, "activity", user_id, month)
    days: list[tuple[int, int, int, int]] = []
    for number in range(1, month.last_day.day + 1):
        weekday = date(month.year, month.number, number).weekday()
        most = (3, 2, 14, 4) if weekday < 5 else (None, 2 if weekday == 6 else None, None, None)
        meetings, viewings, calls, contacts = (
            0 if limit is None else rng.randint(0, limit) for limit in most
        )
        days.append((meetings // 3, viewings, calls, contacts))  # about one sales meeting in four weekdays
    return tuple(days)
