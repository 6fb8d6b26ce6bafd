"""Totals of the world in plain Python straight from its records, independent of the answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from pipelines.months import Month, months_between
from pipelines.sandbox.world.organization import daily_activity
from pipelines.sandbox.world.records import FOR_SALE, SALE, WITHDRAWN, Budget, Estate, Version
from pipelines.sandbox.world.world import World

Rows = list[dict[str, Any]]
ORE = Decimal("0.01")
MEASURES = ("meetings", "viewings", "calls", "new_contacts")


class _Sums:
    """Three sums for every key."""

    def __init__(self) -> None:
        self._cells: defaultdict[tuple[Any, ...], list[Decimal | int]] = defaultdict(lambda: [0, 0, 0])

    def add(self, key: tuple[object, ...], *values: Decimal | int) -> None:
        cell = self._cells[key]
        for number, value in enumerate(values):
            cell[number] += value

    def rows(self, *names: str) -> Rows:
        """A row for every key in order, its sums under the last three names."""
        return [dict(zip(names, (*key, *cell), strict=True)) for key, cell in sorted(self._cells.items())]


def true_part(part: str, world: World, customer_id: str, first: date, last: date) -> Rows:
    """A part of the truth, named as in PARTS, from the first to the last day, both included, as known today.

    Sales belong to the office whose estate it is; shares to the office of the user they belong to.
    """
    offices = [office.customer_id for office in world.history.chain.offices_of(customer_id)]
    return PARTS[part](world, offices, first, last)


def _neighbourhood(world: World, offices: list[str]) -> list[str]:
    """The offices and everybody in their groups."""
    groups = [set(group) for group in world.history.chain.groups.values()]
    return sorted(set(offices).union(*(group for group in groups if group & set(offices))))


def _all_estates(world: World, offices: list[str]) -> Iterator[tuple[Estate, Version, date]]:
    """Estates with the last version known by now, unless not sold yet or no longer."""
    for office_id in offices:
        for month in world.history.months(office_id, world.horizon):
            for estate in month.estates:
                known = [version for version in estate.versions if version.known_at.date() <= world.as_of]
                latest = max(reversed(known), key=lambda version: version.known_at, default=None)
                if latest is not None and latest.status not in (FOR_SALE, WITHDRAWN) and latest.contract_on:
                    yield estate, latest, latest.contract_on


def _sales(world: World, offices: list[str], first: date, last: date) -> Rows:
    sums = _Sums()
    for estate, version, signed in _all_estates(world, offices):
        if estate.assignment == SALE and first <= signed <= last:
            price = Decimal(version.final_price or 0)
            sums.add((estate.office, Month.of(signed)), 1, price, version.commission * ORE)
    return sums.rows("office", "month", "count", "finalPrice", "commission")


def _shares(world: World, offices: list[str], first: date, last: date) -> Rows:
    sums = _Sums()
    for estate, version, signed in _all_estates(world, _neighbourhood(world, offices)):
        for share in version.shares if first <= signed <= last else ():
            if share.office in offices:
                key = (share.office, share.user_id, Month.of(signed), estate.assignment)
                sums.add(key, Decimal(share.basis_points) / 10_000, share.value * ORE, share.price * ORE)
    return sums.rows("office", "user", "month", "assignment", "parts", "commission", "price")


def _running(world: World, offices: list[str], first: date, last: date) -> Rows:
    """Amounts as they are reported, and turned into kronor without rounding."""
    sums = _Sums()
    for office_id in _neighbourhood(world, offices):
        for month in world.history.months(office_id, world.horizon):
            for step in month.running:
                known = step.known_at.date() <= world.as_of
                gone = step.gone_at is not None and step.gone_at.date() <= world.as_of
                if step.office in offices and known and not gone and first <= step.obtained_on <= last:
                    key = (step.office, step.user_id, Month.of(step.obtained_on))
                    amount = step.amount * ORE
                    sums.add(key, 1, amount, amount * Decimal(step.rate) / 10_000)
    return sums.rows("office", "user", "month", "rows", "amount", "amountSek")


def _leads(world: World, offices: list[str], first: date, last: date) -> Rows:
    """Leads and tips by their state; outgoing leads have none."""
    counts: Counter[tuple[str, Month, str, str, bool]] = Counter()
    opened = world.history.start.first_day
    for office_id in offices:
        for month in world.history.months(office_id, world.horizon):
            for lead in month.leads:
                created = lead.created_at.date()
                steps = [step for step in lead.steps if step.known_at.date() <= world.as_of]
                if steps and max(first, opened) <= created <= last:
                    state = "" if lead.way == "outgoing" else steps[-1].state
                    counts[office_id, Month.of(created), lead.way, state, steps[-1].removed] += 1
    names = ("office", "month", "way", "state", "removed", "count")
    rows = [dict(zip(names, (*key, count), strict=True)) for key, count in sorted(counts.items())]
    return [row | {"state": row["state"] or None} for row in rows]


def _budgets(world: World, offices: list[str], first: date, last: date) -> Rows:
    """What is in force for every month of the interval."""
    rows: Rows = []
    for office_id in offices:
        left = {user.id: user.left for user in world.history.users(office_id)}
        for month in months_between(Month.of(first), Month.of(last)):
            latest: dict[str, Budget] = {}
            entries = [one for one in world.history.budgets(office_id, month.year) if one.month == month]
            for budget in sorted(entries, key=lambda one: one.known_at):
                if budget.known_at.date() <= world.as_of:
                    latest[budget.user_id] = budget
            for user_id, budget in sorted(latest.items()):
                gone = left[user_id]
                if gone is None or gone > world.as_of or Month.of(gone) >= month:
                    rows.append({"user": user_id, "month": month, "commission": budget.commission})
    return rows


def _receivables(world: World, offices: list[str], first: date, last: date) -> Rows:
    """Sales by what is known of possession and receipt on the world's day."""
    sums = _Sums()
    for estate, version, signed in _all_estates(world, offices):
        if estate.assignment == SALE and first <= signed <= last:
            received, access = version.commission_received_at, version.access_on
            state, days = "signed", 0
            if received and received.date() <= world.as_of:
                state = "received"
            elif access is None:
                state = "possession not known"
            elif access < world.as_of:
                state, days = "due", (world.as_of - access).days
            sums.add((estate.office, Month.of(signed), state), 1, version.commission * ORE, days)
    return sums.rows("office", "month", "state", "count", "commission", "daysDue")


def _activity(world: World, offices: list[str], first: date, last: date) -> Rows:
    """What users did on the days on which they worked, by the measures of the live report."""
    rows: Rows = []
    for user in (one for office_id in offices for one in world.history.users(office_id)):
        for month in months_between(Month.of(first), Month.of(last)):
            days = daily_activity(world.history.seed, user.id, month)
            worked = [
                counts
                for number, counts in enumerate(days, 1)
                if user.works_on(day := date(month.year, month.number, number)) and day <= world.as_of
            ]
            key = {"office": user.office, "user": user.id, "month": month}
            for measure, amounts in zip(MEASURES, zip(*worked, strict=True), strict=False):
                rows.append({**key, "measure": measure, "amount": sum(amounts)})
    return rows


PARTS: Mapping[str, Callable[[World, list[str], date, date], Rows]] = {
    "sales": _sales,
    "shares": _shares,
    "running": _running,
    "leads": _leads,
    "budgets": _budgets,
    "receivables": _receivables,
    "activity": _activity,
}
