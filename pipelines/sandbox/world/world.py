"""The world on a day: one history of all offices, seen at the end of that day."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from threading import RLock

from pipelines.months import Month, months_between
from pipelines.sandbox.world.chance import random_for
from pipelines.sandbox.world.estates import assignments, project_steps, running_steps, sales
from pipelines.sandbox.world.incidents import Incidents
from pipelines.sandbox.world.leads_and_tips import leads
from pipelines.sandbox.world.organization import Staff, budgets, chain, roster
from pipelines.sandbox.world.records import Budget, Estate, Lead, Office, RunningStep, User

EARLIEST = Month(2001, 1)
MONTHS_AHEAD = 6
"""History is built this many months ahead, because future sales already have leads."""
MONTHS_BEFORE = 7
"""Staff of a month includes users who left up to this many months before: its sales may have their leads."""


@dataclass(frozen=True, slots=True)
class OfficeEvents:
    """The events of an office that belong to a month, whenever they became known."""

    estates: tuple[Estate, ...]
    running: tuple[RunningStep, ...]
    leads: tuple[Lead, ...]


class History:
    """The events of every office. A month is built when it is first needed."""

    def __init__(
        self, seed: int, offices: int, start: Month, activity: float, incidents_on: date | None = None
    ) -> None:
        self.seed = seed
        self.start = start
        self.chain = chain(seed, offices)
        self._incidents = Incidents(incidents_on, next(iter(self.chain.offices))) if incidents_on else None
        self._activity = activity
        self._rosters: dict[str, tuple[User, ...]] = {}
        self._months: dict[tuple[str, Month], OfficeEvents] = {}
        self._budgets: dict[tuple[str, int], list[Budget]] = {}
        self._building = RLock()

    def users(self, office_id: str) -> tuple[User, ...]:
        """All users who ever work at the office."""
        if office_id not in self._rosters:
            users = roster(self.seed, self.chain.offices[office_id])
            incidents = self._incidents_at(office_id)
            self._rosters[office_id] = incidents.users(users) if incidents else users
        return self._rosters[office_id]

    def months(self, office_id: str, last: Month) -> Iterator[OfficeEvents]:
        """The events of the office in each month, from the start of the history to `last`."""
        for month in months_between(self.start, last):
            key = (office_id, month)
            with self._building:
                if key not in self._months:
                    self._months[key] = self._build(self.chain.offices[office_id], month)
            yield self._months[key]

    def budgets(self, office_id: str, year: int) -> list[Budget]:
        """All budgets of the office's users for a year, also replaced ones; each user's are oldest first."""
        key = (office_id, year)
        if key not in self._budgets:
            users = self.users(office_id)
            all_budgets = [budget for user in users for budget in budgets(self.seed, user, year)]
            incidents = self._incidents_at(office_id)
            self._budgets[key] = incidents.budgets(all_budgets, users) if incidents else all_budgets
        return self._budgets[key]

    def _incidents_at(self, office_id: str) -> Incidents | None:
        return self._incidents if self._incidents and self._incidents.office == office_id else None

    def _team(self, office: Office, month: Month) -> list[User]:
        first, last = month.plus(-MONTHS_BEFORE).first_day, month.last_day
        return [
            user
            for user in self.users(office.customer_id)
            if user.hired <= last and (user.left is None or user.left > first)
        ]

    def _build(self, office: Office, month: Month) -> OfficeEvents:
        own = self._team(office, month)
        others = [other for other in self.chain.group_offices(office) if other is not office]
        staff = Staff(office, own, [(user, other) for other in others for user in self._team(other, month)])
        sold: Sequence[Estate] = sales(self.seed, staff, month, self._activity)
        incidents = self._incidents_at(office.customer_id)
        if incidents and incidents.month == month:
            sold = incidents.sales(sold)
        month_leads: Sequence[Lead] = list(leads(self.seed, staff, month, sold, self._activity))
        if incidents and incidents.month == month:
            month_leads = incidents.leads(month_leads)
        return OfficeEvents(
            estates=(*sold, *assignments(self.seed, staff, month, self._activity)),
            running=(
                *running_steps(random_for(self.seed, "steps", office.number, month), sold),
                *project_steps(self.seed, office, month, own, self._activity),
            ),
            leads=tuple(month_leads),
        )


@dataclass(frozen=True)
class World:
    """The history as seen at the end of the day `as_of`."""

    history: History
    as_of: date

    @classmethod
    def build(
        cls,
        *,
        seed: int = 1,
        offices: int = 7,
        start: Month = Month(2023, 1),  # noqa: B008  (a frozen value)
        as_of: date,
        activity: float = 1.0,
        incidents_on: date | None = None,
    ) -> World:
        """A world with `activity` times the usual number of sales and leads.

        On the day `incidents_on`, one incident of each kind happens at one office.
        """
        if start < EARLIEST:
            raise ValueError(f"the sandbox's brokers opened in {EARLIEST}; a history cannot start in {start}")
        if as_of < start.first_day:
            raise ValueError(f"the world cannot be seen on {as_of}, before its history starts in {start}")
        return cls(History(seed, offices, start, activity, incidents_on), as_of)

    def at(self, as_of: date) -> World:
        """The same world on another day."""
        if as_of < self.history.start.first_day:
            raise ValueError(f"the world's history starts in {self.history.start}, after {as_of}")
        return replace(self, as_of=as_of)

    @property
    def moment(self) -> datetime:
        """The end of the day, up to which events are known."""
        return datetime.combine(self.as_of, time.max)

    @property
    def horizon(self) -> Month:
        """The last month whose sales may have leads by now."""
        return Month.of(self.as_of).plus(MONTHS_AHEAD)

    @property
    def customers(self) -> tuple[str, ...]:
        """The ids of the groups, and of the offices without a group: together they cover each office once."""
        chain = self.history.chain
        single = (office.customer_id for office in chain.offices.values() if office.group is None)
        return (*chain.groups, *single)

    @property
    def offices(self) -> tuple[str, ...]:
        """The customer id of every office."""
        return tuple(self.history.chain.offices)
