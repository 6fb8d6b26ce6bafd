"""Budget pushes: what was to be set at the service, and how far each has come."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Any

from warehouse.store.duckdb_file import insert_rows
from warehouse.store.meta_schema import aware, naive_utc, replace_rows

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


@dataclass(frozen=True)
class Push:
    """A budget of a plan as the ledger knows it, all its measures together.

    `open_since_utc` is when it was last sent, by this plan or another, if nobody knows what became of that.
    """

    status: PushStatus = PushStatus.PLANNED
    sent_count: int = 0
    open_since_utc: datetime | None = None
    reason: str = ""


IN_LANDING = "budget_ledger"
"""The name under which landing keeps what is written down here, so that it outlives the working file."""
Whose = tuple[str, str, date]
"""Office, user and first day of the month."""
_KEY = ("plan_id", "office_id", "user_id", "month", "measure")
_OF = "(plan_id, office_id, user_id, month) = ($1, $2, $3, $4)"


def note_planned(connection: DuckDBPyConnection, rows: Sequence[Mapping[str, Any]], now: datetime) -> None:
    """Write down what a plan wants, a row for each measure, unless it is there from an earlier push."""
    known = connection.execute("SELECT DISTINCT plan_id FROM meta.budget_pushes").fetchall()
    new = [row for row in rows if (row["plan_id"],) not in known]
    planned = {"status": PushStatus.PLANNED.value, "sent_count": 0, "noted_at_utc": naive_utc(now)}
    insert_rows(connection, "meta.budget_pushes", [{**row, **planned} for row in new])


def note_intent(
    connection: DuckDBPyConnection, plan_id: str, whose: Whose, os_user: str, now: datetime
) -> None:
    """Write down that a budget is about to be sent."""
    connection.execute(
        f"""
        UPDATE meta.budget_pushes
        SET status = $5, sent_count = sent_count + 1, sent_at_utc = $6, noted_at_utc = $6, os_user = $7,
            found = NULL, reason = NULL
        WHERE {_OF}
        """,
        [plan_id, *whose, PushStatus.SENT.value, naive_utc(now), os_user],
    )


def note_outcome(
    connection: DuckDBPyConnection,
    plan_id: str,
    whose: Whose,
    status: PushStatus,
    reason: str,
    found: Mapping[str, int | None],
    landing: str | None,
    now: datetime,
) -> None:
    """Write down what became of a budget.

    `found` is what the service shows now, as far as that is known, `landing` the file of its last request.
    """
    connection.execute(
        f"""
        UPDATE meta.budget_pushes AS old
        SET status = $5, reason = nullif($6, ''), noted_at_utc = $7, landing = coalesce($8, landing),
            found = (
                SELECT any_value(amount)
                FROM (SELECT unnest($9::VARCHAR[]) AS name, unnest($10::BIGINT[]) AS amount)
                WHERE name = old.measure
            )
        WHERE {_OF}
        """,
        [plan_id, *whose, status.value, reason, naive_utc(now), landing, [*found], [*found.values()]],
    )


def written_down(
    connection: DuckDBPyConnection, plan_id: str, customer: str, whose: Whose | None = None
) -> bytes:
    """The rows of a plan, or of one budget of it, as landing keeps them."""
    found = connection.execute(
        """
        SELECT to_json(list(pushes)) FROM meta.budget_pushes AS pushes
        WHERE (plan_id, customer) = ($1, $2) AND ($3 OR (office_id, user_id, month) = ($4, $5, $6))
        """,
        [plan_id, customer, whose is None, *(whose or ("", "", date.min))],
    )
    [(rows,)] = found.fetchall()
    return str(rows).encode()


def relearn_pushes(connection: DuckDBPyConnection, kept: Iterable[bytes]) -> None:
    """Bring the ledger to what landing keeps.

    Of a plan that is known only what was written down later counts: an erasure may have renamed its users.
    """
    latest: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in chain.from_iterable(map(json.loads, kept)):
        row["month"] = date.fromisoformat(row["month"])
        for moment in ("planned_at_utc", "sent_at_utc", "noted_at_utc"):
            row[moment] = row[moment] and datetime.fromisoformat(row[moment])
        key = tuple(row[name] for name in _KEY)
        latest[key] = max(latest.get(key, row), row, key=_progress)
    found = connection.execute(f"SELECT {', '.join(_KEY)}, noted_at_utc FROM meta.budget_pushes")
    known = {tuple(key): noted for *key, noted in found.fetchall()}
    plans = {plan for plan, *_ in known}
    news = [
        row
        for key, row in latest.items()
        if row["plan_id"] not in plans or (key in known and row["noted_at_utc"] > known[key])
    ]
    replace_rows(connection, "budget_pushes", news, key=_KEY)


def _progress(row: Mapping[str, Any]) -> tuple[datetime, int, bool]:
    """How late a row was written down."""
    is_outcome = row["status"] not in (PushStatus.PLANNED, PushStatus.SENT)
    return row["noted_at_utc"], row["sent_count"], is_outcome


def read_pushes(connection: DuckDBPyConnection, plan_id: str) -> dict[Whose, Push]:
    """How far each budget of a plan has come."""
    found = connection.execute(
        """
        SELECT office_id, user_id, month, first(status) FILTER (plan_id = $1),
               max(sent_count) FILTER (plan_id = $1),
               max(sent_at_utc) FILTER (status IN ('sent', 'unconfirmed')),
               coalesce(first(reason) FILTER (plan_id = $1), '')
        FROM meta.budget_pushes GROUP BY ALL HAVING bool_or(plan_id = $1) ORDER BY ALL
        """,
        [plan_id],
    )
    return {
        (office, user, month): Push(PushStatus(status), sent, aware(at) if at else None, reason)
        for office, user, month, status, sent, at, reason in found.fetchall()
    }
