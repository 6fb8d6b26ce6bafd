"""The world as known on one day, and a valid request that is answered from it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from functools import cache
from typing import Literal

from pipelines.months import Month
from pipelines.sandbox.budget_writes import BudgetWrites
from pipelines.sandbox.world import records
from pipelines.sandbox.world.records import Budget, Estate, Lead, Office, RunningStep, User, UserCard
from pipelines.sandbox.world.world import World

Shapes = Literal["a", "b"]
"""Two guesses at each shape that the interface does not describe."""

DateTo = Literal["inclusive", "exclusive", "day"]
"""Where an interval ends: at dateTo (inclusive), just before dateTo (exclusive), or at its day's end (day).

The interface does not say which.
"""


@dataclass(frozen=True, slots=True)
class EstateView:
    """An estate with its current version and all versions known so far."""

    estate: Estate
    current: records.Version
    versions: tuple[records.Version, ...]


@dataclass(frozen=True, slots=True)
class LeadView:
    """A lead with its current step and the status of its estate."""

    lead: Lead
    current: records.LeadStep
    estate_status: str | None


class Snapshot:
    """The world as known at the end of the day `world.as_of`, each thing in its latest version."""

    def __init__(self, world: World, written: BudgetWrites | None = None) -> None:
        self.world = world
        self._written = written or BudgetWrites()
        self.moment = world.moment
        self.estates = cache(self._estates)
        self.leads = cache(self._leads)
        self.running = cache(self._running)

    def users(self, office_id: str) -> Iterator[tuple[User, UserCard]]:
        """The users who work at an office now, each with the current directory entry."""
        for user in self.world.history.users(office_id):
            if user.works_on(self.world.as_of):
                yield user, self.card(user)

    def card(self, user: User) -> UserCard:
        """The current directory entry of a user."""
        at = bisect_right(user.cards, self.moment, key=lambda card: card.known_at)
        return user.cards[max(at - 1, 0)]

    def user(self, office_id: str, user_id: str) -> User:
        """A past, present or future user of the office, by id."""
        return next(user for user in self.world.history.users(office_id) if user.id == user_id)

    def budgets(self, office_id: str, month: Month) -> list[Budget]:
        """The budgets of a month as shown now. Users known to have left before that month have none."""
        current: dict[str, Budget] = {}
        for budget in self.world.history.budgets(office_id, month.year):
            left = self.user(office_id, budget.user_id).left
            has_left = left is not None and left <= self.world.as_of and Month.of(left) < month
            if budget.month == month and budget.known_at <= self.moment and not has_left:
                current[budget.user_id] = budget
        return list(self._written.merge(office_id, month, current).values())

    def _estates(self, office_id: str) -> list[EstateView]:
        """The assignments of the office that are completed and not withdrawn."""
        views: list[EstateView] = []
        for month in self.world.history.months(office_id, self.world.horizon):
            for estate in month.estates:
                versions = tuple(version for version in estate.versions if version.known_at <= self.moment)
                if versions and versions[-1].status not in (records.FOR_SALE, records.WITHDRAWN):
                    views.append(EstateView(estate, versions[-1], versions))
        return sorted(views, key=lambda view: view.estate.id)

    def _leads(self, office_id: str) -> list[LeadView]:
        opened = datetime.combine(self.world.history.start.first_day, time.min)
        views: list[LeadView] = []
        for month in self.world.history.months(office_id, self.world.horizon):
            for lead in month.leads:
                steps = [step for step in lead.steps if step.known_at <= self.moment]
                if steps and lead.created_at >= opened:
                    statuses = [status for moment, status in lead.estate_statuses if moment <= self.moment]
                    views.append(LeadView(lead, steps[-1], statuses[-1] if statuses else None))
        return sorted(views, key=lambda view: (view.lead.created_at, view.lead.id), reverse=True)

    def _running(self, office_id: str) -> list[RunningStep]:
        chain = self.world.history.chain
        steps = [
            step
            for office in chain.group_offices(chain.offices[office_id])
            for month in self.world.history.months(office.customer_id, self.world.horizon)
            for step in month.running
            if step.office == office_id
            and step.known_at <= self.moment
            and (step.gone_at is None or step.gone_at > self.moment)
        ]
        return sorted(steps, key=lambda step: (step.obtained_on, step.estate_id, step.user_id))


@dataclass(frozen=True, slots=True)
class ReportQuery:
    """A valid request: its offices, interval and parameters, and the shapes of its answer.

    `choice` is a value in routes.CHOICES; `page` is an index and a size. Only faults set the last two fields:
    the first `hidden_rows` leads are left out; a page repeats the last `repeated_rows` of the page before.
    """

    snapshot: Snapshot
    offices: tuple[Office, ...]
    shapes: Shapes
    date_to: DateTo = "inclusive"
    largest_page: int = 100_000
    start: datetime = datetime.min
    end: datetime = datetime.max
    months: tuple[Month, Month] | None = None
    choice: str | None = None
    user_id: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)  # of path and query, by name in lower case
    page: tuple[int, int] = (0, 1)
    hidden_rows: int = 0
    repeated_rows: int = 0

    def covers(self, moment: datetime | date | None) -> bool:
        """Whether a time, or the midnight of a day, is in the requested interval."""
        if moment is None:
            return False
        if not isinstance(moment, datetime):
            moment = datetime.combine(moment, time.min)
        if moment < self.start:
            return False
        if self.date_to == "exclusive":
            return moment < self.end
        if self.date_to == "day":
            return moment.date() <= self.end.date()
        return moment <= self.end

    def employed(self, office: Office, extra_ids: Container[str] = ()) -> list[tuple[User, UserCard]]:
        """An office's users employed at any time in the interval, and those in `extra_ids`."""
        first, last = self.start.date(), min(self.end.date(), self.snapshot.world.as_of)
        return [
            (user, self.snapshot.card(user))
            for user in self.snapshot.world.history.users(office.customer_id)
            if (user.hired <= last and (user.left is None or user.left > first)) or user.id in extra_ids
        ]
