"""What is known at the moment of asking? The world's facts, each in the version in force."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from pipelines.months import Month
from pipelines.sandbox.world.facts import (
    FOR_SALE,
    SALE,
    WITHDRAWN,
    Budget,
    Estate,
    Lead,
    LeadStep,
    Running,
    User,
    UserCard,
    Version,
)
from pipelines.sandbox.world.world import World


@dataclass(frozen=True, slots=True)
class Standing:
    """An estate with the version in force and every version known."""

    estate: Estate
    now: Version
    known: tuple[Version, ...]


@dataclass(frozen=True, slots=True)
class LeadStanding:
    """A lead with the step it has come to and the status of its estate."""

    lead: Lead
    now: LeadStep
    estate_status: str | None


class Known:
    """What the service knows of one world on its day; worked out once per office."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.moment = world.moment
        self._estates: dict[str, tuple[Standing, ...]] = {}
        self._leads: dict[str, tuple[LeadStanding, ...]] = {}
        self._running: dict[str, tuple[Running, ...]] = {}
        self._people: dict[str, dict[str, User]] = {}

    def estates(self, office_id: str) -> tuple[Standing, ...]:
        """Every assignment of the office that came to an end and still stands."""
        if office_id not in self._estates:
            found = [
                standing
                for month in self.world.history.months(office_id, self.world.horizon)
                for estate in month.estates
                if (standing := self._standing(estate)) is not None
            ]
            self._estates[office_id] = tuple(sorted(found, key=lambda one: one.estate.id))
        return self._estates[office_id]

    def sales(self, office_id: str) -> Iterator[Standing]:
        return (standing for standing in self.estates(office_id) if standing.estate.assignment == SALE)

    def leads(self, office_id: str) -> tuple[LeadStanding, ...]:
        """Leads and tips of the office, newest first."""
        if office_id not in self._leads:
            found = [
                standing
                for month in self.world.history.months(office_id, self.world.horizon)
                for lead in month.leads
                if (standing := self._lead_standing(lead)) is not None
            ]
            self._leads[office_id] = tuple(
                sorted(found, key=lambda one: (one.lead.created_at, one.lead.id), reverse=True)
            )
        return self._leads[office_id]

    def running(self, office_id: str) -> tuple[Running, ...]:
        """Running commissions credited to the office, oldest first; equal ones are all kept."""
        if office_id not in self._running:
            moment = self.moment
            office = self.world.history.chain.offices[office_id]
            around = self.world.offices_of(office.group) if office.group else (office,)
            found = [
                step
                for other in around
                for month in self.world.history.months(other.customer_id, self.world.horizon)
                for step in month.running
                if step.office == office_id
                and step.known_at <= moment
                and (step.gone_at is None or step.gone_at > moment)
            ]
            self._running[office_id] = tuple(
                sorted(found, key=lambda step: (step.obtained_on, step.estate_id, step.user_id))
            )
        return self._running[office_id]

    def users(self, office_id: str) -> Iterator[tuple[User, UserCard]]:
        """Users at work, each with the card in force."""
        for user in self.world.history.users(office_id):
            if user.works_on(self.world.as_of):
                yield user, self.card(user)

    def card(self, user: User) -> UserCard:
        at = bisect_right(user.cards, self.moment, key=lambda card: card.known_at)
        return user.cards[max(at - 1, 0)]

    def user(self, office_id: str, user_id: str) -> User:
        """Anybody who ever worked at the office."""
        if office_id not in self._people:
            self._people[office_id] = {user.id: user for user in self.world.history.users(office_id)}
        return self._people[office_id][user_id]

    def budgets(self, office_id: str, month: Month) -> list[Budget]:
        """The budgets in force for a month, one per user who has not left before it."""
        in_force: dict[str, Budget] = {}
        for budget in self.world.history.budgets(office_id, month.year):
            if budget.month != month or budget.known_at > self.moment:
                continue
            held = in_force.get(budget.user_id)
            if held is None or held.known_at <= budget.known_at:
                in_force[budget.user_id] = budget
        return [budget for budget in in_force.values() if not self._gone(budget, month)]

    def _gone(self, budget: Budget, month: Month) -> bool:
        left = self.user(budget.office, budget.user_id).left
        return left is not None and left <= self.world.as_of and Month.of(left) < month

    def _standing(self, estate: Estate) -> Standing | None:
        known = tuple(version for version in estate.versions if version.known_at <= self.moment)
        if not known or known[-1].status in (FOR_SALE, WITHDRAWN):
            return None
        return Standing(estate, known[-1], known)

    def _lead_standing(self, lead: Lead) -> LeadStanding | None:
        moment = self.moment
        steps = [step for step in lead.steps if step.known_at <= moment]
        if not steps or lead.created_at < _midnight(self.world.history.start.first_day):
            return None
        statuses = [status for known_at, status in lead.estate_statuses if known_at <= moment]
        return LeadStanding(lead, steps[-1], statuses[-1] if statuses else None)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)
