"""Present budget of a user in a month, from three reads of the service.

The rows are not documented. They are read under the names of the documented RealtorBudget; anything else is
Unreadable, because a measure that is left out when a budget is set may be lost.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

from pipelines.budgets.budget import PLACES, Change, Values, month_of
from pipelines.catalogue.model import Report, snake_case
from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.connect.models import Request
from pipelines.normalize.types import number_of
from pipelines.sync.request_log import RequestLogger
from pipelines.sync.run_context import Clients, RunContext

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

REPORTS = {
    "user_budget_commission": ("commission",),
    "user_budget_estate": ("sold", "registered"),
    "user_budget_crm": ("meetings", "own_booked"),
}
"""The reports that show a budget, and their measures."""
NAMES = {
    "_".join(map(snake_case, way[start:])): measure
    for measure, way in PLACES.items()
    for start in range(len(way))
}
"""The measures by their documented names: alone, and under their group."""
PERIODS = ("year", "month", "period", "date", "period_year", "period_month")
OFFICES = ("customer_id", "office_id")

Row = Mapping[str, Any]
"""The values of a row by their path, in snake_case."""


class Unreadable(Exception):
    """The present budget cannot be told from the answer; the message says why."""


@asynccontextmanager
async def open_clients(settings: Settings, context: RunContext) -> AsyncIterator[Clients]:
    """The clients of all active customers, under the limits that all runs share; requests are logged."""
    clock = settings.clock_of_day(context.clock)
    run_id = f"{clock.utc_now():%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
    log = RequestLogger(settings.data_dir, run_id, clock)
    rate_limit = context.rate_limit(settings)
    async with AsyncExitStack() as stack:
        yield context.open_clients(
            settings,
            settings.active_customers,
            rate_limit,
            CircuitBreaker(rate_limit),
            stack,
            log.record,
        )


async def read_present(clients: Clients, catalogue: Mapping[str, Report], change: Change) -> Values:
    """The present budget of a change, whole; raises Unreadable or ConnectError."""
    values: dict[str, int | None] = {}
    for name, measures in REPORTS.items():
        path = catalogue[name].endpoint.path.format(
            customerId=quote(change.customer, safe=""),
            userId=quote(change.user_id, safe=""),
            year=month_of(change).year,
            month=month_of(change).number,
        )
        request = Request(path, {}, name, change.customer)
        _, tree = await clients(change.customer, path).get(request, orjson.loads)
        try:
            values |= budget_of(tree, measures, change)
        except Unreadable as error:
            raise Unreadable(f"{name} {error}") from None
    return values


def budget_of(tree: object, measures: Sequence[str], change: Change) -> Values:
    """The measures in an answer of a change's user, office and month; None if the answer has no rows.

    Raises Unreadable if there is not exactly one such row, with exactly one field for each measure.
    """
    names = {name for name, measure in NAMES.items() if measure in measures}
    rows = list(_rows(tree, names, {}))
    own = [row for row in rows if _is_own(row, change)]
    if not rows:
        return dict.fromkeys(measures)
    if len(own) != 1:
        raise Unreadable(f"shows {len(own)} budgets of this user, office and month, among {len(rows)} rows")
    fields = [name for name in own[0] if name in names]
    if sorted(NAMES[name] for name in fields) != sorted(measures):
        wanted = " and ".join(measures)
        raise Unreadable(f"has the fields {', '.join(own[0])}, and not one for {wanted} each")
    return {NAMES[name]: _whole(own[0][name]) for name in fields}


def _rows(node: object, names: set[str], above: Row) -> Iterator[Row]:
    """The innermost objects, with the values of the objects around them that are no measures."""
    if isinstance(node, list):
        for item in node:
            yield from _rows(item, names, above)
    elif isinstance(node, dict):
        row = _flat(node)
        lists = [value for value in row.values() if isinstance(value, list)]
        if any(isinstance(item, dict | list) for items in lists for item in items):
            around = {name: value for name, value in row.items() if name not in names}
            yield from _rows(lists, names, {**above, **around})
        elif not lists:
            yield {**above, **row}
        elif names & row.keys():
            raise Unreadable("has a budget next to a list without rows")
    elif node is not None:
        raise Unreadable("has values where rows should be")


def _flat(node: Mapping[str, Any], way: str = "") -> dict[str, Any]:
    """The values of an object and of the objects in it by their path."""
    row: dict[str, Any] = {}
    for key, value in node.items():
        name = f"{way}_{snake_case(key)}".removeprefix("_")
        row |= _flat(value, name) if isinstance(value, dict) else {name: value}
    return row


def _is_own(row: Row, change: Change) -> bool:
    """Whether a row states no other month, user or office; FIR31529 is M31529, assumed."""
    month = month_of(change)
    periods = [str(row[name]) for name in PERIODS if row.get(name) is not None]
    users = {str(value) for name, value in row.items() if value and name.endswith("user_id")}
    offices = {str(value) for name, value in row.items() if value and name.endswith(OFFICES)}
    is_own_office = (
        {change.office_id, change.sent_office_id} & offices
        or offices <= {change.customer}
        or any(number(office) == number(change.office_id) for office in offices)
    )
    is_own_month = all(
        text in (str(month.year), str(month.number)) or text.startswith(str(month)) for text in periods
    )
    return bool(is_own_month and is_own_office) and (not users or change.user_id in users)


def number(office_id: str) -> str:
    """The part that the two ids of an office have in common."""
    return office_id.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def _whole(value: object) -> int | None:
    """A whole number; the service is sent no others, so another could not be sent back as it is."""
    if value is None:
        return None
    amount = Decimal("NaN") if isinstance(value, bool) else number_of(str(value))
    if amount.is_finite() and amount == int(amount):
        return int(amount)
    raise Unreadable(f"says {str(value)[:40]!r}, which is not whole")
