"""Budgets set through the service, and when the world shows them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pipelines.months import Month
from pipelines.sandbox.calls import Refusal
from pipelines.sandbox.world.records import Budget

Omitted = Literal["kept", "zeroed"]
"""The effect on a measure that a written budget omits: not documented."""

MAX_COMMISSION = 10_000_000
MAX_INTEGER = 2**31 - 1
PLACES = {  # of the measures in a RealtorBudget
    "commission": ("commission",),
    "sold": ("estates", "sold"),
    "registered": ("estates", "registered"),
    "meetings": ("saleMeetings", "total"),
    "own_booked": ("saleMeetings", "ownBooked"),
}


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass
class BudgetWrites:
    """All budgets set since the service started; each is shown after a delay in seconds."""

    visible_after: float = 0.0
    omitted: Omitted = "kept"
    clock: Callable[[], datetime] = _now
    written: dict[tuple[str, str, Month], list[tuple[datetime, Budget]]] = field(default_factory=dict)

    def set(self, budget: Budget, *, at_once: bool = False) -> None:
        """Set a budget; with `at_once` it is shown without delay, as if set in the brokerage system."""
        shown = self.clock() + timedelta(seconds=0 if at_once else self.visible_after)
        key = (budget.office, budget.user_id, budget.month)
        self.written.setdefault(key, []).append((shown, budget))

    def over(self, office_id: str, month: Month, known: Mapping[str, Budget]) -> dict[str, Budget]:
        """The budgets of an office and month by user, including those set here that are shown by now."""
        found, now = dict(known), self.clock()
        for (office, _, of_month), several in self.written.items():
            if (office, of_month) == (office_id, month):
                shown_now = [budget for shown, budget in several if shown <= now]
                found.update((budget.user_id, budget) for budget in shown_now)
        return found

    def accept(self, body: bytes, known: Budget) -> None:
        """Set the budget in a body (interface, Budget maintenance); `known` is the budget shown so far.

        Rejects an invalid body. A measure that the body omits stays as last set, or becomes zero.
        """
        said = _measures(body)
        set_before = self.written.get((known.office, known.user_id, known.month))
        base = set_before[-1][1] if set_before else known
        if self.omitted == "zeroed":
            base = replace(base, commission=0, sold=0, registered=0, meetings=0, own_booked=0)
        self.set(replace(base, **said))


def no_budget(user_id: str, office_id: str, month: Month) -> Budget:
    """The stored budget of a user for whom none was set."""
    return Budget(user_id, office_id, month, datetime.min, 0, 0, 0, 0, 0)


def _measures(body: bytes) -> dict[str, Any]:
    """The measures in a RealtorBudget."""
    try:
        tree = json.loads(body)
    except ValueError:
        tree = None
    if not isinstance(tree, dict):
        raise Refusal(400, "The request is invalid.", {"budget": ["The body is not a RealtorBudget."]})
    wrong: dict[str, list[str]] = {}
    said = {}
    for name, place in PLACES.items():
        value: object = tree
        for key in place:
            value = value.get(key) if isinstance(value, dict) else None
        if value is None:
            continue
        largest = MAX_COMMISSION if name == "commission" else MAX_INTEGER
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= largest:
            wrong[f"budget.{'.'.join(place)}"] = [f"The value must be a whole number from 0 to {largest}."]
        said[name] = value
    if wrong:
        raise Refusal(400, "The request is invalid.", wrong)
    return said
