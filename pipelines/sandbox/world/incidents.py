"""Incidents of one day at an office: what a chain asks about later, whatever chance has drawn besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from pipelines.months import Month
from pipelines.sandbox.world import records
from pipelines.sandbox.world.market import split
from pipelines.sandbox.world.records import Budget, Estate, Lead, LeadStep, User, Version

KNOWN_BEFORE = timedelta(days=21)
"""What an incident befalls has been known for so long."""
EMPLOYED_BEFORE = timedelta(days=90)


@dataclass(frozen=True)
class Incidents:
    """What happens on one day at one office, as far as there is something for it to happen to.

    A sale of two months before is cancelled and the commission of another one restated, a lead of that month
    is removed, a user leaves, and the budget of a user who stays is raised for this month and all later ones.
    """

    day: date
    office: str

    @property
    def moment(self) -> datetime:
        return datetime.combine(self.day, time(11, 30))

    @property
    def month(self) -> Month:
        """The month whose sales and leads are concerned."""
        return Month.of(self.day).plus(-2)

    def users(self, users: Sequence[User]) -> tuple[User, ...]:
        """The roster, of whom the last who has worked for long leaves; the first stays for ever."""
        before = self.day - EMPLOYED_BEFORE
        at_work = [one for one in users[1:] if one.works_on(self.day) and one.works_on(before)]
        if not at_work:
            return tuple(users)
        cards = tuple(card for card in at_work[-1].cards if card.known_at < self.moment)
        leaver = replace(at_work[-1], left=self.day, cards=cards)
        return tuple(leaver if one.id == leaver.id else one for one in users)

    def budgets(self, budgets: Sequence[Budget], users: Sequence[User]) -> list[Budget]:
        """The budgets, oldest first, with those that are raised."""
        latest = {
            one.month: one
            for one in budgets
            if one.user_id == users[0].id and one.known_at < self.moment and one.month >= Month.of(self.day)
        }
        raised = [
            replace(one, known_at=self.moment, commission=one.commission + 25_000) for one in latest.values()
        ]
        return sorted([*budgets, *raised], key=lambda one: one.known_at)

    def sales(self, estates: Sequence[Estate]) -> tuple[Estate, ...]:
        """The sales of the month, the first of them cancelled, the last restated."""
        known = [one for one in estates if one.assignment == records.SALE and self._in_force(one)]
        if len(known) < 2:
            return tuple(estates)
        changed = {known[0].id: self._cancelled(known[0]), known[-1].id: self._restated(known[-1])}
        return tuple(changed.get(one.id, one) for one in estates)

    def leads(self, leads: Sequence[Lead]) -> tuple[Lead, ...]:
        """The leads of the month, the first of them removed."""
        known = [one for one in leads if one.way == "incoming" and self._is_active(one)]
        if not known:
            return tuple(leads)
        steps = tuple(step for step in known[0].steps if step.known_at < self.moment)
        removed = replace(known[0], steps=(*steps, LeadStep(self.moment, "RemovedOther", removed=True)))
        return tuple(removed if one.id == removed.id else one for one in leads)

    def _in_force(self, estate: Estate) -> bool:
        """Whether it has long been known as sold, at home, and is not withdrawn."""
        first, *later = [one for one in estate.versions if one.known_at < self.moment]
        is_old = any(one.known_at < self.moment - KNOWN_BEFORE for one in later)
        return is_old and later[-1].status == records.SOLD and first.foreign is None

    def _is_active(self, lead: Lead) -> bool:
        is_known = lead.steps[0].known_at < self.moment - KNOWN_BEFORE
        is_of_month = Month.of(lead.created_at.date()) == self.month  # a seller's lead is older than the sale
        return (
            is_known
            and is_of_month
            and not any(step.removed and step.known_at < self.moment for step in lead.steps)
        )

    def _cancelled(self, estate: Estate) -> Estate:
        before = [one for one in estate.versions if one.known_at < self.moment]
        withdrawn = replace(before[-1], known_at=self.moment, status=records.WITHDRAWN)
        return replace(estate, versions=(*before, withdrawn))

    def _restated(self, estate: Estate) -> Estate:
        before = [one for one in estate.versions if one.known_at < self.moment]
        after = [one for one in estate.versions if one.known_at >= self.moment]
        lower = [_lower(one) for one in (replace(before[-1], known_at=self.moment), *after)]
        return replace(estate, versions=(*before, *lower))


def _lower(version: Version) -> Version:
    """The version with four fifths of its commission."""
    commission = round(version.commission * 0.8)
    values = split(commission, [share.basis_points for share in version.shares])
    shares = tuple(replace(share, value=value) for share, value in zip(version.shares, values, strict=True))
    return replace(version, commission=commission, shares=shares)
