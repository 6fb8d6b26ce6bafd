"""What has happened and will happen? The whole history, built office by office as it is needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import RLock

from pipelines.months import Month, months_between
from pipelines.sandbox.world.assignments import assignments
from pipelines.sandbox.world.budgets import budgets
from pipelines.sandbox.world.chance import drawn
from pipelines.sandbox.world.estates import sales
from pipelines.sandbox.world.facts import Budget, Estate, Lead, Office, Running, User
from pipelines.sandbox.world.leads import leads
from pipelines.sandbox.world.offices import Chain, chain
from pipelines.sandbox.world.running import of_estates, of_projects
from pipelines.sandbox.world.staff import Staff
from pipelines.sandbox.world.users import roster

MONTHS_AHEAD = 6
"""Sales to come have already sent their leads; so far ahead of a moment the history is needed."""

MONTHS_BEFORE = 7
"""No sale's first lead is older than that when the contract is signed."""


@dataclass(frozen=True, slots=True)
class OfficeMonth:
    """What an office's sales of a month brought about, whenever it became known."""

    estates: tuple[Estate, ...]
    running: tuple[Running, ...]
    leads: tuple[Lead, ...]


@dataclass(frozen=True)
class History:
    """The same for every moment it is looked at; only budgets posted to the service are added to it."""

    seed: int
    start: Month
    chain: Chain
    activity: float
    posted: list[Budget] = field(default_factory=list)
    _rosters: dict[str, tuple[User, ...]] = field(default_factory=dict)
    _months: dict[tuple[str, Month], OfficeMonth] = field(default_factory=dict)
    _budgets: dict[tuple[str, int], list[Budget]] = field(default_factory=dict)
    _building: RLock = field(default_factory=RLock)

    def users(self, office_id: str) -> tuple[User, ...]:
        """Everybody who ever works at the office."""
        if office_id not in self._rosters:
            self._rosters[office_id] = roster(self.seed, self.chain.offices[office_id])
        return self._rosters[office_id]

    def months(self, office_id: str, last: Month) -> Iterator[OfficeMonth]:
        """Every month of the office from the start of the history on."""
        for month in months_between(self.start, last):
            key = (office_id, month)
            with self._building:
                if key not in self._months:
                    self._months[key] = self._build(self.chain.offices[office_id], month)
            yield self._months[key]

    def budgets(self, office_id: str, year: int) -> list[Budget]:
        """Every budget ever set for the office's users and the year, oldest first."""
        key = (office_id, year)
        if key not in self._budgets:
            self._budgets[key] = [
                budget for user in self.users(office_id) for budget in budgets(self.seed, user, year)
            ]
        added = [budget for budget in self.posted if budget.office == office_id and budget.month.year == year]
        return self._budgets[key] + added

    def _around(self, office_id: str, month: Month) -> list[User]:
        """Who was at the office in the month or the half year before, in which its sales began."""
        first, last = month.plus(-MONTHS_BEFORE).first_day, month.last_day
        return [
            user
            for user in self.users(office_id)
            if user.hired <= last and (user.left is None or user.left > first)
        ]

    def _build(self, office: Office, month: Month) -> OfficeMonth:
        own = self._around(office.customer_id, month)
        group = self.chain.offices_of(office.group) if office.group else ()
        others = [other for other in group if other is not office]
        nearby = [(user, other) for other in others for user in self._around(other.customer_id, month)]
        staff = Staff(office, own, nearby)
        sold = sales(self.seed, staff, month, self.activity)
        small = assignments(self.seed, staff, month, self.activity)
        stepped = of_estates(drawn(self.seed, "steps", office.number, month), sold)
        projects = of_projects(self.seed, office, month, own, self.activity)
        written = leads(self.seed, staff, month, sold, self.activity)
        return OfficeMonth((*sold, *small), (*stepped, *projects), tuple(written))


def history(seed: int, offices: int, start: Month, activity: float) -> History:
    """The history of a world with so many offices, from a month on."""
    return History(seed, start, chain(seed, offices), activity)
