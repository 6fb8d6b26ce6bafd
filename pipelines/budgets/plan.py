"""Plan of budgets: a file compared with what the service shows now; nothing is sent."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.budgets.budget import MEASURES, BudgetError, BudgetPlan, Change, OfficeSum
from pipelines.budgets.budget_file import BudgetFile, Entry, merged, read_budget_file
from pipelines.budgets.known import REQUESTS, Known, ask_what_is_known, known_in_file
from pipelines.budgets.present import WORDS, Present, Unreadable, Whose, cancelled, read_present
from pipelines.budgets.session import Session, open_session, os_user
from pipelines.connect.errors import ConnectError, HostDown, Unauthorized

if TYPE_CHECKING:
    from pipelines.settings.model import Settings
    from pipelines.sync.run_context import RunContext

MONTHS_OF_A_YEAR = 12
NO_OWN_ID = (
    "budgets are set under the customer id of {}, as nothing names another id of the office; if the service "
    "answers 404 to it, give the office's own id (one like FIR31529) as office_id"
)


@dataclass(frozen=True)
class _Cell:
    """What the file wants for somebody whose office and user are known."""

    entry: Entry
    whose: Whose


def make_plan(
    settings: Settings, file: Path, context: RunContext, *, on_requests: Callable[[int], None]
) -> BudgetPlan:
    """Check a file, and compare it with the present budgets; `on_requests` hears how many are asked, first.

    Raises BudgetError with a sentence for everything that is wrong, a ConnectError when nothing can be asked.
    """
    given = read_budget_file(file, settings.today_local(context.clock))
    on_requests(REQUESTS * len(settings.active_customers) + len(WORDS) * len(given.entries))
    return asyncio.run(_make_plan(settings, file, given, context))


async def _make_plan(settings: Settings, file: Path, given: BudgetFile, context: RunContext) -> BudgetPlan:
    known = known_in_file(settings)
    async with open_session(settings, context) as session:
        months = sorted({entry.month for entry in given.entries})
        await ask_what_is_known(session, known, months)
        cells = _cells(given.entries, known)
        changes = _under_own_ids(await _compared(session, cells, settings.concurrency), known)
        return BudgetPlan(
            plan_id=secrets.token_hex(8),
            made_at_utc=f"{session.clock.utc_now():%Y-%m-%dT%H:%M:%SZ}",
            made_by=os_user(),
            base_url=settings.base_url,
            file=file.name,
            file_sha256=given.sha256,
            changes=tuple(one for one in changes if one.after != one.before),
            sums=tuple(_sums(cells, changes, known)),
            notes=(*given.notes, *known.notes),
        )


def _cells(entries: Sequence[Entry], known: Known) -> list[_Cell]:
    """The entries with their offices and users; raises BudgetError for those that are not known."""
    problems: dict[str, list[int]] = {}
    found: dict[str, str] = {}
    for entry in entries:
        if office := known.office(entry.office_id):
            found[entry.office_id] = office
            if entry.office_id != office:
                known.given_ids[office] = entry.office_id
        else:
            near = known.nearest_office(entry.office_id)
            why = f"no office {entry.office_id!r} is known{f'; did you mean {near}' if near else ''}"
            problems.setdefault(why, []).append(entry.row)
        if entry.user_id not in known.users and not known.lacks_users:
            near = known.nearest_user(entry.user_id)
            why = f"no user {entry.user_id!r} is known{f'; did you mean {near}' if near else ''}"
            problems.setdefault(why, []).append(entry.row)
    if problems:
        raise BudgetError([f"{_rows(rows)}: {why}." for why, rows in problems.items()])
    same, doubled = merged([replace(entry, office_id=found[entry.office_id]) for entry in entries])
    if doubled:
        raise BudgetError([f"{one}." for one in doubled])
    return [
        _Cell(
            entry,
            Whose(
                known.answered_by[entry.office_id],
                entry.office_id,
                known.sent_as(entry.office_id),
                entry.user_id,
                entry.month,
            ),
        )
        for entry in same
    ]


def _rows(rows: Sequence[int]) -> str:
    return f"row {rows[0]}" if len(rows) == 1 else f"row {rows[0]} and {len(rows) - 1} more"


async def _compared(session: Session, cells: Sequence[_Cell], at_once: int) -> list[tuple[Change, Present]]:
    """The change of every cell, with the present budget; raises BudgetError where that cannot be told."""
    changes, problems = list[tuple[Change, Present]](), list[str]()
    for start in range(0, len(cells), at_once):
        batch = cells[start : start + at_once]
        tasks = [asyncio.ensure_future(_change(session, cell)) for cell in batch]
        try:
            for found in await asyncio.gather(*tasks):
                if isinstance(found, str):
                    problems.append(found)
                else:
                    changes.append(found)
        finally:
            await cancelled(tasks)
    if problems:
        raise BudgetError(problems)
    return changes


async def _change(session: Session, cell: _Cell) -> tuple[Change, Present] | str:
    """The change that a cell asks for, or why its present budget is not known."""
    whose = cell.whose
    try:
        present = await read_present(session.clients, session.catalogue, whose)
    except (Unauthorized, HostDown):
        raise
    except (Unreadable, ConnectError) as error:
        why = getattr(error, "found", error)
        return (
            f"row {cell.entry.row}: the present budget of {whose.user_id} at {whose.office_id} in "
            f"{whose.month} cannot be read, and nothing is sent in its place: {why}"
        )
    before = {name: present.values[name] for name in MEASURES}
    change = Change(
        customer=whose.customer,
        office_id=whose.office_id,
        sent_office_id=whose.sent_office_id,
        user_id=whose.user_id,
        month=str(whose.month),
        before=before,
        after={**before, **cell.entry.values},
    )
    return change, present


def _under_own_ids(found: Sequence[tuple[Change, Present]], known: Known) -> list[Change]:
    """The changes, each sent under the office's own id where the file or an answer gives it."""
    own: dict[str, set[str]] = {}
    for change, present in found:
        own.setdefault(change.office_id, set()).update(present.office_ids)
    known.own_ids.update({office: next(iter(ids)) for office, ids in own.items() if len(ids) == 1})
    sent = {change.office_id: known.sent_as(change.office_id) for change, _ in found}
    if unknown := [office for office, one in sent.items() if one == office and office not in known.own_ids]:
        known.notes.append(NO_OWN_ID.format(", ".join(unknown)))
    return [replace(change, sent_office_id=sent[change.office_id]) for change, _ in found]


def _sums(cells: Sequence[_Cell], changes: Sequence[Change], known: Known) -> Iterator[OfficeSum]:
    """The sums of the file by office and measure, over its cells alone."""
    pairs = sorted(zip(cells, changes, strict=True), key=lambda pair: pair[1].office_id)
    for office, several in groupby(pairs, key=lambda pair: pair[1].office_id):
        of_office = list(several)
        for measure in MEASURES:
            given = [(cell, change) for cell, change in of_office if measure in cell.entry.values]
            if not given:
                continue
            before = [there for _, change in given if (there := change.before[measure]) is not None]
            months = sorted({cell.entry.month for cell, _ in given})
            last_year = [
                known.office_months.get(
                    (office, month.plus(-MONTHS_OF_A_YEAR).first_day, measure), (None, None)
                )
                for month in months
            ]
            yield OfficeSum(
                office_id=office,
                office_name=known.offices[office],
                measure=measure,
                cells=len(given),
                changed=sum(change.before[measure] != change.after[measure] for _, change in given),
                before=sum(before) if before else None,
                after=sum(cell.entry.values[measure] or 0 for cell, _ in given),
                last_year_budget=_sum([budget for budget, _ in last_year]),
                last_year_actual=_sum([actual for _, actual in last_year]),
            )


def _sum(parts: Sequence[float | None]) -> float | None:
    """The sum, None where a part of it is not known."""
    known = [one for one in parts if one is not None]
    return sum(known) if len(known) == len(parts) else None
