"""What is true in the world? Totals in plain Python straight from the facts, a stranger to the answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from pipelines.months import Month, months_between
from pipelines.sandbox.world.facts import FOR_SALE, SALE, WITHDRAWN, WRITING, Budget, Estate, Version
from pipelines.sandbox.world.world import World

Rows = list[dict[str, Any]]
ORE = Decimal("0.01")


def truth(world: World, customer_id: str, first: date, last: date) -> dict[str, Any]:
    """Totals of a customer from the first to the last day, both included, as known on the world's day.

    Sales stand under the office whose estate it is; shares under the office of the user they belong to.
    """
    offices = [office.customer_id for office in world.offices_of(customer_id)]
    if not offices:
        raise ValueError(f"there is no customer {customer_id!r} in the world")
    if last < first:
        raise ValueError(f"the last day {last} lies before the first {first}")
    sales = _estates(world, offices, SALE, first, last)
    shares = _shares(world, offices, first, last)
    running = _running(world, offices, first, last)
    leads = _leads(world, offices, first, last)
    budgets = _budgets(world, offices, first, last)
    users = _users(world, offices)
    return {
        "customerId": customer_id,
        "from": first,
        "to": last,
        "asOf": world.as_of,
        "totals": _totals(sales, shares, running, leads, budgets, users),
        "sales": sales,
        "writings": _estates(world, offices, WRITING, first, last),
        "shares": shares,
        "running": running,
        "leads": leads,
        "budgets": budgets,
        "users": users,
    }


def written(value: object) -> object:
    """The same with amounts, days and months as text, ready for JSON."""
    if isinstance(value, dict):
        return {name: written(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [written(inner) for inner in value]
    if isinstance(value, Decimal | Month | date):
        return str(value)
    return value


def _neighbourhood(world: World, offices: list[str]) -> list[str]:
    """The offices and everybody in their groups."""
    members = set(offices)
    for group in world.history.chain.groups.values():
        if members & set(group.offices):
            members |= set(group.offices)
    return sorted(members)


def _in_force(world: World, estate: Estate) -> Version | None:
    """The last version known by now, unless the estate is not sold yet or no longer."""
    latest: Version | None = None
    for version in estate.versions:
        if version.known_at.date() <= world.as_of and (latest is None or version.known_at >= latest.known_at):
            latest = version
    return None if latest is None or latest.status in (FOR_SALE, WITHDRAWN) else latest


def _all_estates(world: World, offices: list[str]) -> Iterator[tuple[Estate, Version, date]]:
    for office_id in offices:
        for month in world.history.months(office_id, world.horizon):
            for estate in month.estates:
                version = _in_force(world, estate)
                if version is not None and version.contract_on is not None:
                    yield estate, version, version.contract_on


def _estates(world: World, offices: list[str], assignment: str, first: date, last: date) -> Rows:
    sums: dict[tuple[str, Month], list[Decimal]] = defaultdict(lambda: [Decimal(0), Decimal(0), Decimal(0)])
    for estate, version, signed in _all_estates(world, offices):
        if estate.assignment == assignment and first <= signed <= last:
            cell = sums[estate.office, Month.of(signed)]
            cell[0] += 1
            cell[1] += Decimal(version.final_price or 0)
            cell[2] += version.commission * ORE
    return [
        {"office": office, "month": month, "count": int(count), "finalPrice": price, "commission": earned}
        for (office, month), (count, price, earned) in sorted(sums.items())
    ]


def _shares(world: World, offices: list[str], first: date, last: date) -> Rows:
    sums: dict[tuple[str, str, Month, str], list[Decimal]] = defaultdict(
        lambda: [Decimal(0), Decimal(0), Decimal(0)]
    )
    for estate, version, signed in _all_estates(world, _neighbourhood(world, offices)):
        if not first <= signed <= last:
            continue
        for share in version.shares:
            if share.office in offices:
                cell = sums[share.office, share.user_id, Month.of(signed), estate.assignment]
                cell[0] += Decimal(share.basis_points) / 10_000
                cell[1] += share.value * ORE
                cell[2] += share.price * ORE
    return [
        {
            "office": office,
            "user": user,
            "month": month,
            "assignment": assignment,
            "parts": parts,
            "commission": earned,
            "price": price,
        }
        for (office, user, month, assignment), (parts, earned, price) in sorted(sums.items())
    ]


def _running(world: World, offices: list[str], first: date, last: date) -> Rows:
    """Amounts as they are told, and turned into kronor without rounding."""
    sums: dict[tuple[str, str, Month], list[Decimal]] = defaultdict(
        lambda: [Decimal(0), Decimal(0), Decimal(0)]
    )
    for office_id in _neighbourhood(world, offices):
        for month in world.history.months(office_id, world.horizon):
            for step in month.running:
                known = step.known_at.date() <= world.as_of
                gone = step.gone_at is not None and step.gone_at.date() <= world.as_of
                if step.office not in offices or not known or gone or not first <= step.obtained_on <= last:
                    continue
                cell = sums[step.office, step.user_id, Month.of(step.obtained_on)]
                cell[0] += 1
                cell[1] += step.amount * ORE
                cell[2] += step.amount * ORE * Decimal(step.rate) / 10_000
    return [
        {
            "office": office,
            "user": user,
            "month": month,
            "rows": int(rows),
            "amount": amount,
            "amountSek": in_sek,
        }
        for (office, user, month), (rows, amount, in_sek) in sorted(sums.items())
    ]


def _leads(world: World, offices: list[str], first: date, last: date) -> Rows:
    """Leads and tips by the state they are in; outgoing leads have none to show."""
    counts: dict[tuple[str, Month, str, str, bool], int] = defaultdict(int)
    opened = world.history.start.first_day
    for office_id in offices:
        for month in world.history.months(office_id, world.horizon):
            for lead in month.leads:
                created = lead.created_at.date()
                if not max(first, opened) <= created <= last:
                    continue
                steps = [step for step in lead.steps if step.known_at.date() <= world.as_of]
                if steps:
                    state = "" if lead.way == "outgoing" else steps[-1].state
                    counts[office_id, Month.of(created), lead.way, state, steps[-1].removed] += 1
    return [
        {
            "office": office,
            "month": month,
            "way": way,
            "state": state or None,
            "removed": removed,
            "count": count,
        }
        for (office, month, way, state, removed), count in sorted(counts.items())
    ]


def _budgets(world: World, offices: list[str], first: date, last: date) -> Rows:
    """What is in force for every month the days touch."""
    rows: Rows = []
    for office_id in offices:
        left = {user.id: user.left for user in world.history.users(office_id)}
        for month in months_between(Month.of(first), Month.of(last)):
            latest: dict[str, Budget] = {}
            entries = [one for one in world.history.budgets(office_id, month.year) if one.month == month]
            for budget in sorted(entries, key=lambda one: one.known_at):
                if budget.known_at < _after(world.as_of):
                    latest[budget.user_id] = budget
            for user_id, budget in sorted(latest.items()):
                gone = left[user_id]
                if gone is None or gone > world.as_of or Month.of(gone) >= month:
                    rows.append(_budget_row(budget))
    return rows


def _budget_row(budget: Budget) -> dict[str, object]:
    return {
        "office": budget.office,
        "user": budget.user_id,
        "month": budget.month,
        "commission": budget.goals.commission,
        "sold": budget.goals.sold,
        "registered": budget.goals.registered,
        "meetings": budget.goals.meetings,
        "ownBooked": budget.goals.own_booked,
    }


def _after(day: date) -> datetime:
    return datetime(day.year, day.month, day.day) + timedelta(days=1)


def _users(world: World, offices: list[str]) -> Rows:
    return [
        {
            "office": office_id,
            "user": user.id,
            "name": [card.name for card in user.cards if card.known_at.date() <= world.as_of][-1],
        }
        for office_id in offices
        for user in world.history.users(office_id)
        if user.hired <= world.as_of and (user.left is None or user.left > world.as_of)
    ]


def _totals(
    sales: Rows, shares: Rows, running: Rows, leads: Rows, budgets: Rows, users: Rows
) -> dict[str, object]:
    sold = [row for row in shares if row["assignment"] == SALE]
    return {
        "sales": {name: _sum(sales, name) for name in ("count", "finalPrice", "commission")},
        "sold": {name: _sum(sold, name) for name in ("parts", "commission", "price")},
        "commission": _sum(shares, "commission"),
        "running": {name: _sum(running, name) for name in ("rows", "amount", "amountSek")},
        "leads": {
            way: _sum([row for row in leads if row["way"] == way], "count")
            for way in ("incoming", "outgoing", "tip")
        },
        "budgets": {
            name: _sum(budgets, name)
            for name in ("commission", "sold", "registered", "meetings", "ownBooked")
        },
        "users": len(users),
    }


def _sum(rows: Rows, name: str) -> Decimal:
    return sum((Decimal(str(row[name])) for row in rows), Decimal(0))
