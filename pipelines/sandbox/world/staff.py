"""Who could have worked on something? An office with its own users, and the colleagues of its group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from pipelines.sandbox.world.facts import Office, User


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
