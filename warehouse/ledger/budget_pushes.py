"""Budget pushes: the budgets that were to be set at the service, and how far each has come."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from warehouse.store.meta_schema import replace_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class PushStatus(StrEnum):
    """How far a budget has come; SENT is written before it is sent."""

    PLANNED = "planned"
    SENT = "sent"
    CONFIRMED = "confirmed"
    UNCONFIRMED = "unconfirmed"
    CHANGED = "changed meanwhile"
    REFUSED = "refused"


BUDGET = ("plan_id", "office_id", "user_id", "month")
"""The columns that tell the budgets of plans apart; a budget has a row for each measure."""


def note_push(
    connection: DuckDBPyConnection,
    budget: Mapping[str, Any],
    before: Mapping[str, int | None],
    after: Mapping[str, int | None],
    found: Mapping[str, int | None],
) -> None:
    """Write down the state of one budget of a plan in place of its earlier state, a row for each measure.

    `found` are the amounts that the service shows. `sent_count` is added to the earlier one. `sent_at_utc`
    stays unless there is a new one.
    """
    earlier = connection.execute(
        f"""
        SELECT coalesce(max(sent_count), 0), max(sent_at_utc) FROM meta.budget_pushes
        WHERE ({", ".join(BUDGET)}) = ($1, $2, $3, $4)
        """,
        [budget[name] for name in BUDGET],
    )
    [(sent_count, sent_at_utc)] = earlier.fetchall()
    state = {
        **budget,
        "sent_count": budget["sent_count"] + sent_count,
        "sent_at_utc": budget["sent_at_utc"] or sent_at_utc,
    }
    rows = [
        {**state, "measure": name, "before": before[name], "after": after[name], "found": found.get(name)}
        for name in after
    ]
    replace_rows(connection, "budget_pushes", rows, key=(*BUDGET, "measure"))
