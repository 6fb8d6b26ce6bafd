"""Present budget of a user in a month, from three reads of the service whose rows nobody has documented.

What cannot be read for certain is Unreadable: a measure that is left out when a budget is set may be lost.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from pipelines.budgets.budget import PLACES, Values
from pipelines.catalogue.model import Report, snake_case
from pipelines.connect.models import Answer, Request
from pipelines.months import Month
from pipelines.normalize.columns.types import number_of
from pipelines.sync.run_context import Clients

WORDS = {
    "user_budget_commission": {"commission": {"commission", "amount", "value", "budget"}},
    "user_budget_estate": {"sold": {"sold"}, "registered": {"registered"}},
    "user_budget_crm": {"meetings": {"total", "meetings", "meeting"}, "own_booked": {"own"}},
}
"""The reports that show a budget, their measures, and the words by which their fields are known."""
EXACT = {
    name: {"_".join(map(snake_case, way[at:])) for at in range(len(way))} for name, way in PLACES.items()
}
"""The names that the documented budget has for a measure: alone, and under its group."""
OWN = "own"
OFFICE = "office_id"
PERIOD = frozenset({"year", "month"})
DATED = frozenset({"month", "period", "date"})
YEAR_AND_MONTH = re.compile(r"(\d{4})-(\d{2})")

Row = Mapping[str, Any]
"""The values of a row by the way to them, in snake_case."""


class Unreadable(Exception):
    """The present budget cannot be told from the answer; the message says why."""


@dataclass(frozen=True)
class Whose:
    """Whose budget is read: the customer asked, both ids of the office, the user and the month."""

    customer: str
    office_id: str
    sent_office_id: str
    user_id: str
    month: Month


@dataclass(frozen=True)
class Present:
    """A budget as it is shown now, with the answers that show it, and the ids that these give the office."""

    values: Values
    answers: tuple[Answer, ...]
    office_ids: frozenset[str]


async def read_present(clients: Clients, catalogue: Mapping[str, Report], whose: Whose) -> Present:
    """The present budget, whole; raises Unreadable, and a ConnectError when it cannot be asked for."""

    async def read(name: str) -> tuple[Answer, Row]:
        request = _request(catalogue[name], whose)
        answer, tree = await clients(whose.customer, request.path).get(request, parsed)
        try:
            return answer, own_row(tree, WORDS[name], whose)
        except Unreadable as error:
            raise Unreadable(f"{name} {error}") from None

    tasks = [asyncio.ensure_future(read(name)) for name in WORDS]
    try:
        found = await asyncio.gather(*tasks)
    finally:
        await cancelled(tasks)
    values = {
        name: row.get(name) for (_, row), words in zip(found, WORDS.values(), strict=True) for name in words
    }
    office_ids = (str(row[OFFICE]) for _, row in found if row.get(OFFICE))
    return Present(values, tuple(answer for answer, _ in found), frozenset(office_ids))


async def cancelled(tasks: Sequence[asyncio.Future[Any]]) -> None:
    """End what is under way still."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def parsed(body: bytes) -> object:
    """The value of a JSON text; raises ValueError for anything else."""
    try:
        return json.loads(body)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _request(report: Report, whose: Whose) -> Request:
    places = {
        "customerId": quote(whose.customer, safe=""),
        "userId": quote(whose.user_id, safe=""),
        "year": str(whose.month.year),
        "month": str(whose.month.number),
    }
    return Request(report.endpoint.path.format_map(places), {}, report.name, whose.customer)


def own_row(tree: object, words: Mapping[str, set[str]], whose: Whose) -> dict[str, Any]:
    """The measures that an answer shows of somebody, None for those without a budget; raises Unreadable.

    With them comes the id that the row gives the office, if it names it beside its customer id.
    """
    rows = list(_rows(tree, words, {}))
    if not rows:
        return dict.fromkeys(words)
    own = [row for row in rows if _is_own(row, whose)]
    if len(own) != 1:
        raise Unreadable(
            f"shows {len(own)} budgets of this user and office for the month, among {len(rows)} rows"
        )
    [row] = own
    keys = {name: [key for key in row if _says(key, name, words)] for name in words}
    known = {key for several in keys.values() for key in several}
    keys = {name: [key for key in several if key in EXACT[name]] or several for name, several in keys.items()}
    plain = known | _periods(row).keys()
    others = [key for key, value in row.items() if _is_number(value) and key not in plain]
    others = [key for key in others if not key.endswith("id")]
    if not known or any(len(several) > 1 for several in keys.values()):
        raise Unreadable(f"names no field for certain among {', '.join(row) or 'no fields'}")
    if others and not all(keys.values()):
        raise Unreadable(f"has {', '.join(others)}, and nobody knows what that is")
    values = {name: _whole(row[several[0]]) if several else None for name, several in keys.items()}
    return {**values, OFFICE: row.get(OFFICE)}


def _rows(node: object, words: Mapping[str, set[str]], above: Row) -> Iterator[Row]:
    """The innermost objects, with what is said beside the lists they are in, but for measures."""
    if node is None:
        return
    if isinstance(node, list):
        for one in node:
            yield from _rows(one, words, above)
    elif isinstance(node, dict):
        row, lists = _flat(node)
        said = {key: name for key in row for name in words if _says(key, name, words)}
        if any(isinstance(inner, dict | list) for one in lists for inner in one):
            beside = {
                key: value for key, value in row.items() if key not in said
            }  # a count of rows, it may be
            for one in lists:
                yield from _rows(one, words, {**above, **beside})
        elif not lists or set(said.values()) == set(words):
            yield {**above, **row}
        elif said:
            raise Unreadable(f"has {', '.join(said)} beside an empty list")
    else:
        raise Unreadable("has values where rows should be")


def _flat(node: Mapping[str, Any], way: str = "") -> tuple[dict[str, Any], list[Any]]:
    """The plain values of an object and of the objects in it by the way to them, and its lists."""
    row: dict[str, Any] = {}
    lists = []
    for key, value in node.items():
        name = f"{way}_{snake_case(key)}".removeprefix("_")
        if isinstance(value, dict):
            inner, further = _flat(value, name)
            row |= inner
            lists += further
        elif isinstance(value, list):
            lists.append(value)
        else:
            row[name] = value
    return row, lists


def _says(key: str, name: str, words: Mapping[str, set[str]]) -> bool:
    """Whether a field is that of a measure, by the words of its name."""
    parts = set(key.split("_"))
    is_own = OWN in parts and any(OWN in several for several in words.values())
    is_other = key.endswith("_id") or key.rpartition("_")[2] in PERIOD
    return bool(parts & words[name]) and (is_own is (OWN in words[name])) and not is_other


def _periods(row: Row) -> dict[str, str]:
    """The fields that say a year or a month: alone, or a pair of both under one name."""
    found = {}
    for key in row:
        above, _, last = key.rpartition("_")
        if last in PERIOD and (not above or {f"{above}_{one}" for one in PERIOD} <= row.keys()):
            found[key] = last
    return found


def _is_own(row: Row, whose: Whose) -> bool:
    return _is_of_month(row, whose.month) and _is_of_user(row, whose) and _is_of_office(row, whose)


def _is_of_month(row: Row, month: Month) -> bool:
    """Whether a row is of the month, as far as it says so; one that does not is of the month asked for."""
    written = [
        found
        for key, value in row.items()
        if key in DATED and isinstance(value, str) and (found := YEAR_AND_MONTH.match(value))
    ]
    if any((int(found[1]), int(found[2])) != (month.year, month.number) for found in written):
        return False
    wanted = {"year": month.year, "month": month.number}
    said = [(row[key], wanted[last]) for key, last in _periods(row).items() if str(row[key]).isdigit()]
    return all(int(value) == right for value, right in said)


def _is_of_user(row: Row, whose: Whose) -> bool:
    named = {str(value) for key, value in row.items() if value and key.endswith("user_id")}
    return not named or whose.user_id in named


def _is_of_office(row: Row, whose: Whose) -> bool:
    """Whether a row is of the office, under either of its ids; FIR31529 is M31529, assumed."""
    keys = ("office_id", "customer_id", "office_customer_id")
    named = {str(value) for key, value in row.items() if value and key.endswith(keys)}
    own = {whose.office_id, whose.sent_office_id}
    if named & own or not named - {whose.customer}:
        return True
    numbers = {number(one) for one in own}
    return any(number(one) in numbers for one in named)


def number(office_id: str) -> str:
    """What the two ids of an office have in common."""
    return office_id.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and number_of(value.strip()).is_finite())


def _whole(value: object) -> int | None:
    """A whole number; the service is sent no others, so another could not be sent back as it is."""
    if value is None:
        return None
    number = Decimal("NaN") if isinstance(value, bool) else number_of(str(value))
    if number.is_finite() and number == int(number):
        return int(number)
    raise Unreadable(f"says {str(value)[:40]!r}, which is not whole")
