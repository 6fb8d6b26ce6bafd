"""Incidents at one office of the made-up chain on one day, so that the demo has some to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from pipelines.months import Month
from pipelines.sandbox.world import records
from pipelines.sandbox.world.market import split
from pipelines.sandbox.world.records import Budget, Estate, Lead, LeadStep, User, Version

KNOWN_BEFORE = timedelta(days=21)
"""An incident concerns only a sale or lead that has been known at least this long."""
EMPLOYED_BEFORE = timedelta(days=90)
"""A user who leaves has been employed at least this long."""


@dataclass(frozen=True)
class Incidents:
    """The incidents of one day at one office, except those for which it lacks suitable sales, leads or users.

    Of the sales of `month`, one is cancelled, and the commission of another is restated. A lead of that month
    is removed. One user leaves. The budgets of a user who stays are raised, from the month of `day` on.
    """

    day: date
    office: str

    @property
    def moment(self) -> datetime:
        return datetime.combine(self.day, time(11, 30))

    @property
    def month(self) -> Month:
        """The month of the affected sales and leads: two months before the day."""
        return Month.of(self.day).plus(-2)

    def users(self, users: Sequence[User]) -> tuple[User, ...]:
        """All users. The last suitable one leaves on the day.

        The first user never leaves, because that user's budgets are raised.
        """
        before = self.day - EMPLOYED_BEFORE
        at_work = [user for user in users[1:] if user.works_on(self.day) and user.works_on(before)]
        if not at_work:
            return tuple(users)
        cards = tuple(card for card in at_work[-1].cards if card.known_at < self.moment)
        leaver = replace(at_work[-1], left=self.day, cards=cards)
        return tuple(leaver if user.id == leaver.id else user for user in users)

    def budgets(self, budgets: Sequence[Budget], users: Sequence[User]) -> list[Budget]:
        """All budgets, the raised ones included, oldest first."""
        latest = {
            budget.month: budget
            for budget in budgets
            if budget.user_id == users[0].id
            and budget.known_at < self.moment
            and budget.month >= Month.of(self.day)
        }
        raised = [
            replace(budget, known_at=self.moment, commission=budget.commission + 25_000)
            for budget in latest.values()
        ]
        return sorted([*budgets, *raised], key=lambda budget: budget.known_at)

    def sales(self, estates: Sequence[Estate]) -> tuple[Estate, ...]:
        """The estates of the month, with the first suitable sale cancelled and the last one restated."""
        candidates = [sale for sale in estates if sale.assignment == records.SALE and self._is_suitable(sale)]
        if len(candidates) < 2:
            return tuple(estates)
        first, last = candidates[0], candidates[-1]
        changed = {first.id: self._cancel(first), last.id: self._restate(last)}
        return tuple(changed.get(estate.id, estate) for estate in estates)

    def leads(self, leads: Sequence[Lead]) -> tuple[Lead, ...]:
        """The leads of the month; the first suitable one gets the state of a removed lead."""
        candidates = [lead for lead in leads if lead.way == "incoming" and self._is_active(lead)]
        if not candidates:
            return tuple(leads)
        steps = tuple(step for step in candidates[0].steps if step.known_at < self.moment)
        removed = replace(candidates[0], steps=(*steps, LeadStep(self.moment, "RemovedOther", removed=True)))
        return tuple(removed if lead.id == removed.id else lead for lead in leads)

    def _is_suitable(self, estate: Estate) -> bool:
        first, *later = [version for version in estate.versions if version.known_at < self.moment]
        is_old = any(version.known_at < self.moment - KNOWN_BEFORE for version in later)
        return is_old and later[-1].status == records.SOLD and first.foreign is None

    def _is_active(self, lead: Lead) -> bool:
        is_known = lead.steps[0].known_at < self.moment - KNOWN_BEFORE
        is_of_month = Month.of(lead.created_at.date()) == self.month  # a lead that led to a sale may be older
        return (
            is_known
            and is_of_month
            and not any(step.removed and step.known_at < self.moment for step in lead.steps)
        )

    def _cancel(self, estate: Estate) -> Estate:
        before = [version for version in estate.versions if version.known_at < self.moment]
        withdrawn = replace(before[-1], known_at=self.moment, status=records.WITHDRAWN)
        return replace(estate, versions=(*before, withdrawn))

    def _restate(self, estate: Estate) -> Estate:
        before = [version for version in estate.versions if version.known_at < self.moment]
        after = [version for version in estate.versions if version.known_at >= self.moment]
        restated = (replace(before[-1], known_at=self.moment), *after)
        return replace(estate, versions=(*before, *map(_lower_commission, restated)))


def _lower_commission(version: Version) -> Version:
    commission = round(version.commission * 0.8)
    values = split(commission, [share.basis_points for share in version.shares])
    shares = tuple(replace(share, value=value) for share, value in zip(version.shares, values, strict=True))
    return replace(version, commission=commission, shares=shares)
