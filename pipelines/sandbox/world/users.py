"""Who works at an office, and what does the directory say of them over the years?"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from random import Random

from pipelines.sandbox.world.chance import drawn, happens, hex_id, working_moment
from pipelines.sandbox.world.facts import Office, User, UserCard
from pipelines.sandbox.world.names import DOUBLE_NAMES, FIRST_NAMES, LAST_NAMES

FIRST_DAY = date(1998, 1, 1)
LAST_DAY = date(2045, 1, 1)
LANGUAGES = ("en", "de", "fi", "ar", "es", "fr", "pl", "so", "fa", "no", "da")


def roster(seed: int, office: Office) -> tuple[User, ...]:
    """Everybody who works, worked or will work at an office; the first desk never changes hands."""
    return tuple(user for desk in range(office.desks) for user in _desk(seed, office, desk))


def _desk(seed: int, office: Office, desk: int) -> list[User]:
    chance = drawn(seed, "desk", office.number, desk)
    users: list[User] = []
    hired = FIRST_DAY + timedelta(days=chance.randrange(900))
    while hired < LAST_DAY:
        stays = timedelta(days=int(chance.lognormvariate(7.2, 0.6)) + 120)
        left = None if desk == 0 else hired + stays
        users.append(_user(chance, office, f"{office.number}{desk:02d}{len(users):02d}", hired, left))
        if left is None:
            break
        hired = left + timedelta(days=chance.randint(7, 90))
    return users


def _user(chance: Random, office: Office, employee_id: str, hired: date, left: date | None) -> User:
    first = chance.choice(FIRST_NAMES)
    last = chance.choice(DOUBLE_NAMES) if happens(chance, 0.05) else chance.choice(LAST_NAMES)
    languages = ("sv", *sorted(chance.sample(LANGUAGES, chance.randint(0, 3))))
    image = hex_id(chance, "IMG") if happens(chance, 0.85) else None
    area = office.town.zip_prefix % 90 + 10
    card = UserCard(
        known_at=datetime.combine(hired, time(7, 30)),
        name=f"{first} {last}",
        email=f"{_plain(first)}.{_plain(last)}@{_plain(office.name)}.example",
        public_phone=f"0{area}-{chance.randint(100, 999)} {chance.randint(10, 99)}",
        cell_phone=_cell_phone(chance),
        languages=languages,
        image_id=image,
    )
    return User(
        hex_id(chance, "HAN"), office.customer_id, employee_id, hired, left, _cards(chance, card, left)
    )


def _cards(chance: Random, card: UserCard, left: date | None) -> tuple[UserCard, ...]:
    """The card a user began with, and one for every change since."""
    cards = [card]
    day = card.known_at.date() + timedelta(days=int(chance.expovariate(1 / 420)) + 5)
    while day < (left or LAST_DAY):
        cards.append(_changed(chance, cards[-1], day))
        day += timedelta(days=int(chance.expovariate(1 / 420)) + 5)
    return tuple(cards)


def _changed(chance: Random, card: UserCard, day: date) -> UserCard:
    name, cell_phone, languages, image = card.name, card.cell_phone, card.languages, card.image_id
    what = chance.random()
    if what < 0.15:
        name = f"{card.name.split()[0]} {chance.choice(LAST_NAMES)}"
    elif what < 0.55:
        cell_phone = _cell_phone(chance)
    elif what < 0.7:
        languages = ("sv", *sorted(chance.sample(LANGUAGES, chance.randint(1, 4))))
    else:
        image = hex_id(chance, "IMG")
    return UserCard(
        working_moment(chance, day), name, card.email, card.public_phone, cell_phone, languages, image
    )


def _cell_phone(chance: Random) -> str:
    return f"070-{chance.randint(100, 999)} {chance.randint(10, 99)} {chance.randint(10, 99)}"


def _plain(text: str) -> str:
    swaps = str.maketrans("åäöéč", "aaoec", " &'-.")
    return text.lower().translate(swaps)
