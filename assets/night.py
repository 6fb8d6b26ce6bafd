"""What is to be done tonight? The months due of all customers, and what single customers lack beyond them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.months import Month
from pipelines.planning.due import Calendar

if TYPE_CHECKING:
    from pipelines.planning.plan import Planned
    from pipelines.planning.selection import Pair

MOST = 0.5
"""A month that is due for so many of the customers is part of the night's rectangle."""


@dataclass(frozen=True)
class Rectangle:
    """Neighbouring customers by neighbouring months."""

    customers: tuple[str, ...]
    first: Month
    last: Month


def tonight(
    planned: Sequence[Planned], denied: Iterable[Pair], customers: Sequence[str], calendar: Calendar
) -> tuple[Rectangle, list[Rectangle]]:
    """The night's rectangle over all customers, and one for each customer that lacks older months.

    What is due is what the plan says; the rectangle reaches back from the current month for as long as
    most customers have something due in the next month before. What a customer lacks of a report that
    it was refused is left to the night itself: asking for it all over again helps nobody.
    """
    due = Counter(month for months in _by_customer(planned, of_due=True).values() for month in months)
    first = calendar.this_month
    while _is_of_the_night(first.plus(-1), due[first.plus(-1)], len(customers), calendar):
        first = first.plus(-1)
    refused = set(denied)
    owed = _by_customer([one for one in planned if one.pair not in refused], of_due=False)
    return (
        Rectangle(tuple(customers), first, calendar.this_month),
        list(_older(owed, customers, first)),
    )


def usual_night(customers: Sequence[str], calendar: Calendar) -> Rectangle:
    """The night when nothing is known of what is held: the months that are due every night."""
    first = max(calendar.start, calendar.this_month.plus(1 - calendar.due_months))
    return Rectangle(tuple(customers), min(first, calendar.this_month), calendar.this_month)


def _is_of_the_night(month: Month, customers_due: int, customers: int, calendar: Calendar) -> bool:
    if month < calendar.start:
        return False
    return month >= usual_night((), calendar).first or customers_due >= max(customers * MOST, 1)


def _by_customer(planned: Iterable[Planned], *, of_due: bool) -> dict[str, set[Month]]:
    """The months of each customer that are held and due, or else all that are wanted.

    Those that are due only because a sale was changed are read by the night itself, whatever its rectangle.
    """
    months: dict[str, set[Month]] = {}
    for one in planned:
        wanted = one.wanted.due if of_due else one.wanted.months
        months.setdefault(one.customer.id, set()).update(set(wanted) - set(one.wanted.changed))
    return months


def _older(owed: dict[str, set[Month]], customers: Sequence[str], first: Month) -> Iterator[Rectangle]:
    for customer in customers:
        older = sorted(month for month in owed.get(customer, ()) if month < first)
        if older:
            yield Rectangle((customer,), older[0], older[-1])
