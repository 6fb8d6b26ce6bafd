"""Budgets set through the service, each shown after a delay."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pipelines.months import Month
from pipelines.sandbox.calls import HttpError
from pipelines.sandbox.world.records import Budget

Omitted = Literal["kept", "zeroed"]
"""Whether a measure that a written budget omits stays as it was, or becomes 0. The interface does not say."""

MAX_COMMISSION = 10_000_000
MAX_INTEGER = 2**31 - 1
BODY_PATHS = {  # the path of each measure in the body (interface: RealtorBudget)
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
    """All budgets set since the service started; each is shown `visible_after` seconds after it was set."""

    visible_after: float = 0.0
    omitted: Omitted = "kept"
    clock: Callable[[], datetime] = _now
    written: dict[tuple[str, str, Month], list[tuple[datetime, Budget]]] = field(default_factory=dict)

    def set(self, budget: Budget, *, at_once: bool = False) -> None:
        """Set a budget. If `at_once`, it is shown without delay, like one set in the brokerage system."""
        shown_at = self.clock() + timedelta(seconds=0 if at_once else self.visible_after)
        key = (budget.office, budget.user_id, budget.month)
        self.written.setdefault(key, []).append((shown_at, budget))

    def merge(self, office_id: str, month: Month, budgets: Mapping[str, Budget]) -> dict[str, Budget]:
        """By user, the budgets written for the office and month and shown by now, else those of `budgets`."""
        merged, now = dict(budgets), self.clock()
        for (office, _, budget_month), writes in self.written.items():
            if (office, budget_month) == (office_id, month):
                shown = [budget for shown_at, budget in writes if shown_at <= now]
                merged.update((budget.user_id, budget) for budget in shown)
        return merged

    def accept(self, body: bytes, shown: Budget) -> None:
        """Set a budget from the body of a request; `shown` is the budget that the service shows now.

        Raises HttpError (400) for an invalid body. `omitted` decides what happens to measures that the body
        omits.
        """
        measures = _measures(body)
        writes = self.written.get((shown.office, shown.user_id, shown.month))
        base = writes[-1][1] if writes else shown
        if self.omitted == "zeroed":
            base = replace(base, commission=0, sold=0, registered=0, meetings=0, own_booked=0)
        self.set(replace(base, **measures))


def no_budget(user_id: str, office_id: str, month: Month) -> Budget:
    """The budget of a user for whom none was set: 0 for each measure."""
    return Budget(user_id, office_id, month, datetime.min, 0, 0, 0, 0, 0)


def _measures(body: bytes) -> dict[str, Any]:
    try:
        tree = json.loads(body)
    except ValueError:
        tree = None
    if not isinstance(tree, dict):
        raise HttpError(400, "The request is invalid.", {"budget": ["The body is not a RealtorBudget."]})
    errors: dict[str, list[str]] = {}
    measures = {}
    for name, path in BODY_PATHS.items():
        value: object = tree
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if value is None:
            continue
        largest = MAX_COMMISSION if name == "commission" else MAX_INTEGER
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= largest:
            errors[f"budget.{'.'.join(path)}"] = [f"The value must be a whole number from 0 to {largest}."]
        measures[name] = value
    if errors:
        raise HttpError(400, "The request is invalid.", errors)
    return measures
