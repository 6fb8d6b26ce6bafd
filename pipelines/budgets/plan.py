"""Planning of budget changes: compares a budget file with the current budgets, and changes no budget."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.budgets.budget import BudgetError, BudgetKey, BudgetPlan, Change, os_user
from pipelines.budgets.budget_file import Entry, read_budget_file
from pipelines.budgets.current_budget import REPORTS, Unreadable, budget_reports, office_number, read_budget
from pipelines.connect.errors import CircuitOpen, ConnectError, Unauthorized
from warehouse.marts.queries import SQL, rows_by_query
from warehouse.store.database import Store

if TYPE_CHECKING:
    from pipelines.settings.model import Settings
    from pipelines.sync.run_context import RunContext


@dataclass(frozen=True)
class KnownNames:
    """The names of offices and users in the marts, by id, and the customer that answers for each office."""

    offices: Mapping[str, str]
    customers: Mapping[str, str]
    users: Mapping[str, str]

    def office(self, given: str) -> str | None:
        """The customer id of an office, found by its customer id (M31529) or by its own id (FIR31529).

        None if there is no such office, or more than one.
        """
        matches = [office for office in self.offices if office_number(office) == office_number(given) != ""]
        return given if given in self.offices else matches[0] if len(matches) == 1 else None


def make_plan(
    settings: Settings, file: Path, context: RunContext, *, on_requests: Callable[[int], None]
) -> BudgetPlan:
    """Plan the changes in a budget file; `on_requests` receives the number of requests before they are sent.

    Budgets that are already as in the file are left out. Raises BudgetError if the file cannot be used, or if
    a current budget cannot be read. Raises ConnectError if the login is denied or the circuit breaker has
    ended the run.
    """
    entries, notes = read_budget_file(file, settings.today_local(context.clock))
    names = read_known_names(settings)
    requested = _requested_changes(entries, names)
    on_requests(len(REPORTS) * len(requested))
    changes = asyncio.run(_with_current_budgets(settings, context, requested))
    return BudgetPlan(
        plan_id=secrets.token_hex(8),
        made_at_utc=f"{settings.run_clock(context.clock).utc_now():%Y-%m-%dT%H:%M:%SZ}",
        made_by=os_user(),
        base_url=settings.base_url,
        file=file.name,
        changes=tuple(change for change in changes if change.after != change.before),
        notes=tuple(notes),
    )


def read_known_names(settings: Settings) -> KnownNames:
    """Read the offices of active customers, and all users; raises BudgetError if there is no such office."""
    with Store(settings.data_dir).reading() as connection:
        answers = rows_by_query(connection, SQL / "budgets", ("offices", "users"))
    rows = {name: answers[name] or [] for name in answers}
    active = {customer.id for customer in settings.active_customers}
    sources = [row for row in rows["offices"] if row["customer_id"] in active]
    if not sources:
        raise BudgetError(["No office is loaded yet; run `brokerbi sync` first."])
    # Several customers may answer for an office. Dicts keep the last, so the office itself is sorted last.
    sources.sort(key=lambda row: row["customer_id"] == row["office_id"])
    return KnownNames(
        {row["office_id"]: row["office_name"] or "" for row in sources},
        {row["office_id"]: row["customer_id"] for row in sources},
        {row["user_id"]: row["user_name"] or "" for row in rows["users"]},
    )


def _requested_changes(entries: Sequence[Entry], names: KnownNames) -> list[Change]:
    """Incomplete changes: `after` has only the measures in the file, and `before` is empty."""
    problems = []
    requested: dict[BudgetKey, Change] = {}
    sent_ids: dict[str, str] = {}
    for entry in entries:
        office = names.office(entry.office_id)
        unknown = [] if office else [f"office {_hint(entry.office_id, names.offices)}"]
        if names.users and entry.user_id not in names.users:
            unknown.append(f"user {_hint(entry.user_id, names.users)}")
        problems += [f"Row {entry.row}: no {thing}" for thing in unknown]
        if office is None or unknown:
            continue
        if entry.office_id != office:
            sent_ids[office] = entry.office_id
        change = Change(
            names.customers[office], office, office, entry.user_id, str(entry.month), {}, entry.values
        )
        earlier = requested[change.key].after if change.key in requested else {}
        repeated = [name for name in entry.values if name in earlier]
        problems += [f"Row {entry.row}: {name} of {change} is given twice." for name in repeated]
        requested[change.key] = replace(change, after={**earlier, **entry.values})
    if problems:
        raise BudgetError(problems)
    return [
        replace(change, sent_office_id=sent_ids.get(change.office_id, change.office_id))
        for change in requested.values()
    ]


def _hint(given: str, known: Mapping[str, str]) -> str:
    """The part after "no user" in a message like "no user '7' is known; did you mean 77 (Eva Ek)?"."""
    near = get_close_matches(given, known, n=1)
    return f"{given!r} is known" + (f"; did you mean {near[0]} ({known[near[0]]})?" if near else ".")


async def _with_current_budgets(
    settings: Settings, context: RunContext, requested: Sequence[Change]
) -> list[Change]:
    reports, changes, problems = budget_reports(settings, context), list[Change](), list[str]()
    async with context.open_session(settings, "budget") as session:
        for change in requested:
            try:
                before = await read_budget(session.clients, reports, change)
            except (Unauthorized, CircuitOpen):
                raise
            except (Unreadable, ConnectError) as error:
                why = getattr(error, "issue", error)
                problems.append(f"The current budget of {change} cannot be read, so no plan was made: {why}")
            else:
                changes.append(replace(change, before=before, after={**before, **change.after}))
    if problems:
        raise BudgetError(problems)
    return changes
