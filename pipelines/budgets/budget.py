"""Budgets and the plan to change them: measures, changes, and the file that stores a plan."""

from __future__ import annotations

import getpass
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from pipelines.months import Month
from warehouse.store.files import write_file

BODY_PATHS = {
    "commission": ("commission",),
    "sold": ("estates", "sold"),
    "registered": ("estates", "registered"),
    "meetings": ("saleMeetings", "total"),
    "own_booked": ("saleMeetings", "ownBooked"),
}
"""The measures of a budget, each with its path in the JSON that is sent (interface, RealtorBudget)."""
MEASURES = tuple(BODY_PATHS)
PLAN_AGAIN = "make it again with `brokerbi budget plan`"

Values = Mapping[str, int | None]
"""Amounts by measure; None if the measure is not set."""
BudgetKey = tuple[str, str, str]
"""The office, user and month that identify a budget."""


class BudgetError(ValueError):
    """A budget plan cannot be made or used; the message has a line for each problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))


@dataclass(frozen=True)
class Change:
    """A change of one budget from `before`, read at planning, to `after`. In a plan, both have all measures.

    `customer` is the customer that answers for the office. `office_id` is the office's customer id (M31529).
    `sent_office_id` is in the path of the request that sets the budget. It equals `office_id`, unless the
    budget file has the office's own id (FIR31529).
    """

    customer: str
    office_id: str
    sent_office_id: str
    user_id: str
    month: str
    before: Values
    after: Values

    @property
    def key(self) -> BudgetKey:
        return (self.office_id, self.user_id, self.month)

    @property
    def body(self) -> bytes:
        """The JSON that is sent: every measure of `after` that is set."""
        tree: dict[str, Any] = {}
        for name, (first, *inner) in BODY_PATHS.items():
            value = self.after[name]
            if value is not None and inner:
                tree.setdefault(first, {})[inner[0]] = value
            elif value is not None:
                tree[first] = value
        return json.dumps(tree).encode()

    def __str__(self) -> str:
        return f"{self.user_id} at {self.office_id} in {self.month}"


@dataclass(frozen=True)
class BudgetPlan:
    """The budget changes to make at one service, planned from one budget file."""

    plan_id: str
    made_at_utc: str
    made_by: str
    base_url: str
    file: str
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()

    def write(self, path: Path) -> None:
        """Write the plan atomically to a file that only its owner can read."""
        content = asdict(self)
        checked = {**content, "checksum": _checksum(content)}
        write_file(path, json.dumps(checked, ensure_ascii=False, indent=1).encode())

    @classmethod
    def read(cls, path: Path) -> BudgetPlan:
        """Read a plan; raises BudgetError if the file cannot be read, is not a plan, or was edited."""
        try:
            content = json.loads(path.read_bytes())
            is_edited = content.pop("checksum") != _checksum(content)
            plan = TypeAdapter(cls).validate_python(content)
        except OSError as error:
            raise BudgetError([f"The plan {path} cannot be read ({error.strerror}); {PLAN_AGAIN}."]) from None
        except (KeyError, TypeError, AttributeError, ValueError):  # pydantic raises ValueErrors, too
            raise BudgetError([f"{path} is not a budget plan; {PLAN_AGAIN}."]) from None
        if is_edited:
            raise BudgetError([f"The plan {path} was edited; {PLAN_AGAIN}."])
        return plan


def os_user() -> str:
    """The name of the user who runs this process, or the user's number if there is no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return str(os.getuid())


def month_of(change: Change) -> Month:
    """The month of a change."""
    return Month.parse(change.month)


def _checksum(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
