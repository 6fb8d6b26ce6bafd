"""Budgets and the plan to change them: measures, changes, and the file that a plan is kept in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipelines.months import Month
from warehouse.store.files import write_file

PLACES = {
    "commission": ("commission",),
    "sold": ("estates", "sold"),
    "registered": ("estates", "registered"),
    "meetings": ("saleMeetings", "total"),
    "own_booked": ("saleMeetings", "ownBooked"),
}
"""The measures of a budget, and where each is in the body that sets it (interface, RealtorBudget)."""
MEASURES = tuple(PLACES)
FORMAT = 1
MOST_SAID = 30
"""So many problems are said at once."""
MAKE_ANEW = "make it anew with `brokerbi budget plan`"

Values = Mapping[str, int | None]
"""A budget by measure; None is no budget."""
Key = tuple[str, str, str]
"""Office, user and month of a budget."""


class BudgetError(ValueError):
    """A file or a plan that cannot be used; `problems` holds a sentence for each reason."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        further = [f"{len(problems) - MOST_SAID} more of the kind."] if len(problems) > MOST_SAID else []
        super().__init__("\n".join([*problems[:MOST_SAID], *further]))


@dataclass(frozen=True)
class Change:
    """A budget that is to be changed: `before` as it was read, `after` whole as it will be sent.

    `office_id` is the customer id of the office, `sent_office_id` the id by which its budgets are set.
    """

    customer: str
    office_id: str
    sent_office_id: str
    user_id: str
    month: str
    before: Values
    after: Values

    @property
    def key(self) -> Key:
        return (self.office_id, self.user_id, self.month)

    @property
    def body(self) -> bytes:
        """The whole budget; only what never was one and is not to be is left out."""
        tree: dict[str, Any] = {}
        for name, (first, *inner) in PLACES.items():
            value = self.after[name]
            if value is not None and inner:
                tree.setdefault(first, {})[inner[0]] = value
            elif value is not None:
                tree[first] = value
        return json.dumps(tree).encode()

    def __str__(self) -> str:
        return f"{self.user_id} at {self.office_id} in {self.month}"


@dataclass(frozen=True)
class OfficeSum:
    """A measure of an office over the cells of the file, beside the office's of the same months last year.

    `before` adds up the budgets there are, and is None where there is none; last year's sums are None where a
    month of them is not held.
    """

    office_id: str
    office_name: str
    measure: str
    cells: int
    changed: int
    before: int | None
    after: int
    last_year_budget: float | None
    last_year_actual: float | None

    @property
    def difference(self) -> int | None:
        return None if self.before is None else self.after - self.before


@dataclass(frozen=True)
class BudgetPlan:
    """What is to be changed at one service, and what it was made from."""

    plan_id: str
    made_at_utc: str
    made_by: str
    base_url: str
    file: str
    file_sha256: str
    changes: tuple[Change, ...]
    sums: tuple[OfficeSum, ...]
    notes: tuple[str, ...] = ()

    def write(self, path: Path) -> None:
        """Keep it in a file that only its owner can read, in one step."""
        content = {"format": FORMAT, **asdict(self)}
        known = {**content, "checksum": _checksum(content)}
        write_file(path, json.dumps(known, ensure_ascii=False, indent=1).encode())

    @staticmethod
    def check_place(path: Path) -> None:
        """Refuse a place at which no plan can be kept, or which holds something else; raises BudgetError."""
        if not path.parent.is_dir():
            raise BudgetError([f"There is no folder {path.parent} to keep the plan in; make it first."])
        if path.exists():
            try:
                is_plan = "plan_id" in json.loads(path.read_bytes())
            except (OSError, ValueError, TypeError):
                is_plan = False
            if not is_plan:
                raise BudgetError([f"{path} is there and is no plan of budgets; name another file."])

    @classmethod
    def read(cls, path: Path) -> BudgetPlan:
        """A plan that was kept; raises BudgetError for a file that is none, or that somebody changed."""
        try:
            known = json.loads(path.read_bytes())
            checksum = known.pop("checksum")
            if checksum != _checksum(known):
                raise BudgetError([f"The plan {path} is not as it was made; {MAKE_ANEW}."])
            if known.pop("format") != FORMAT:
                raise BudgetError([f"The plan {path} was made by another version; {MAKE_ANEW}."])
            changes = tuple(Change(**one) for one in known.pop("changes"))
            sums = tuple(OfficeSum(**one) for one in known.pop("sums"))
            return cls(**{**known, "notes": tuple(known["notes"])}, changes=changes, sums=sums)
        except OSError as error:
            raise BudgetError([f"The plan {path} cannot be read ({error.strerror}); {MAKE_ANEW}."]) from None
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError, UnicodeDecodeError):
            raise BudgetError([f"{path} is no plan of budgets; {MAKE_ANEW}."]) from None


def month_of(change: Change) -> Month:
    """The month of a change."""
    return Month.parse(change.month)


def _checksum(content: Mapping[str, Any]) -> str:
    """Of everything else in the file, however it is laid out."""
    whole = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(whole.encode()).hexdigest()
