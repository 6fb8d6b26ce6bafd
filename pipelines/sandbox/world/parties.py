"""Who are the two ends of a lead or a tip, and whom does it concern?"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from random import Random

from pipelines.sandbox.world.chance import happens, hex_id
from pipelines.sandbox.world.facts import Office, Party, User
from pipelines.sandbox.world.names import DOUBLE_NAMES, FIRST_NAMES, LAST_NAMES


def user_party(user: User, office: Office, moment: datetime) -> Party:
    """A user, under the name of that moment."""
    name = next((card.name for card in reversed(user.cards) if card.known_at <= moment), user.cards[0].name)
    here = (office.own_id, office.name, office.customer_id)
    return _party(user.id, name, "User", user.employee_id, *here)


def office_party(office: Office) -> Party:
    """An office as a whole."""
    return _party(office.own_id, office.name, "Office", None, office.own_id, office.name, office.customer_id)


def outside_party(name: str) -> Party:
    """A firm that is no office; its number is made of its name."""
    number = f"{sum(ord(letter) * place for place, letter in enumerate(name, start=1)) % 100_000:05d}"
    return _party(f"KUN{number}", name, "Company", None, f"KUN{number}", name, f"S{number}")


def contact(chance: Random) -> tuple[str, str, str]:
    """Id, given name and family name of a person; a family name may be missing."""
    last = chance.choice(DOUBLE_NAMES) if happens(chance, 0.04) else chance.choice(LAST_NAMES)
    return hex_id(chance, "ADR"), chance.choice(FIRST_NAMES), "" if happens(chance, 0.02) else last


_party = lru_cache(maxsize=20_000)(Party)
"""The same party is one object, however many leads it sends."""
