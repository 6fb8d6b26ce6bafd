"""Budget pushes: the budgets to be set at the service, and the state of each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from warehouse.store.meta_schema import replace_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class PushStatus(StrEnum):
    """The state of a budget; SENT is recorded before it is sent."""

    PLANNED = "planned"
    SENT = "sent"
    CONFIRMED = "confirmed"
    UNCONFIRMED = "unconfirmed"
    CHANGED = "changed meanwhile"
    REFUSED = "refused"


BUDGET = ("plan_id", "office_id", "user_id", "month")
"""The columns that identify a budget of a plan; a budget has a row for each measure."""


def note_push(
    connection: DuckDBPyConnection,
    budget: Mapping[str, Any],
    before: Mapping[str, int | None],
    after: Mapping[str, int | None],
    found: Mapping[str, int | None],
) -> None:
    """Replace the stored state of one budget of a plan, a row for each measure.

    `found` are the amounts at the service. `sent_count` is added to the stored count. The stored
    `sent_at_utc` stays unless a new one is given.
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
