"""Push of a budget plan: each budget is read, set and read again. A plan may be pushed several times."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

from pipelines.budgets.budget import (
    MEASURES,
    PLAN_AGAIN,
    BudgetError,
    BudgetKey,
    BudgetPlan,
    Change,
    Values,
    month_of,
    os_user,
)
from pipelines.budgets.current_budget import Unreadable, budget_reports, read_budget
from pipelines.connect import errors
from pipelines.connect.models import Request
from pipelines.settings.messages import SettingsError
from warehouse.ledger.ledger import PushStatus, record_push
from warehouse.store.database import Store
from warehouse.store.meta_schema import naive_utc

if TYPE_CHECKING:
    from pipelines.clock import Clock
    from pipelines.settings.model import Settings
    from pipelines.sync.run_context import Clients, RunContext

PATH = "/BusinessIntelligence/Budget/{}/{}/{}/{}/{}"
"""The path with customer, office, user, year and month (interface, Budget maintenance)."""
REPORT = "budget_pushes"
PATIENCE = 120.0
"""How many seconds the service may take to show a budget after it was sent."""
SECONDS_BETWEEN_READS = 5.0
STOPPING = (errors.Unauthorized, errors.Forbidden, errors.CircuitOpen)
UNCERTAIN = (errors.TooManyRequests, errors.Unavailable, errors.Unreachable, errors.Redirected)
"""After these errors the service may or may not have set the budget."""
USE_OWN_ID = (
    "In the budget file, give the office's own id (like FIR31529, not M31529) as office_id, and plan again."
)


@dataclass(frozen=True)
class BudgetStatus:
    """The status of a budget in this push, and the reason for the status, if any."""

    status: PushStatus = PushStatus.PLANNED
    reason: str = ""


@dataclass(frozen=True)
class PushResult:
    """The status of each budget after a push. `stopped` is the error that ended the push early, or empty."""

    statuses: Mapping[BudgetKey, BudgetStatus]
    stopped: str = ""

    @property
    def is_confirmed(self) -> bool:
        """Whether the service shows all budgets as planned."""
        return all(budget.status is PushStatus.CONFIRMED for budget in self.statuses.values())


def push(
    settings: Settings,
    plan: BudgetPlan,
    context: RunContext,
    *,
    patience: float = PATIENCE,
    on_outcome: Callable[[Change, PushStatus, str], None] = lambda *_: None,
) -> PushResult:
    """Set those budgets of a plan that the service does not show yet. A push may be killed and repeated.

    A budget that someone has changed since the plan was made is not set. After sending all budgets, waits
    until the service shows them. The wait for a budget ends `patience` seconds after it was sent.
    `on_outcome` gets each change that reached a final status, with status and reason.

    Raises SettingsError if the settings do not allow writing. Raises BudgetError if the plan was made for
    another service, or has a customer that is not active.
    """
    if not settings.allow_budget_writes:
        raise SettingsError(["BROKERBI_ALLOW_BUDGET_WRITES is not true, so nothing is sent; set it to true."])
    if plan.base_url != settings.base_url:
        raise BudgetError(
            [f"The plan was made for {plan.base_url}, not for {settings.base_url}; {PLAN_AGAIN}."]
        )
    customers = {customer.id for customer in settings.active_customers}
    if missing := sorted({change.customer for change in plan.changes} - customers):
        raise BudgetError([f"BROKERBI_CUSTOMERS has no active {', '.join(missing)}, which the plan needs."])
    return asyncio.run(_Pusher(settings, plan, context, patience, on_outcome).run())


@dataclass
class _Pusher:
    settings: Settings
    plan: BudgetPlan
    context: RunContext
    patience: float
    on_outcome: Callable[[Change, PushStatus, str], None]
    statuses: dict[BudgetKey, BudgetStatus] = field(default_factory=dict)
    sent: dict[BudgetKey, datetime] = field(default_factory=dict)  # when each was sent, unless refused
    clients: Clients = field(init=False)
    clock: Clock = field(init=False)

    async def run(self) -> PushResult:
        self.clock = self.settings.run_clock(self.context.clock)
        self.statuses = {change.key: BudgetStatus() for change in self.plan.changes}
        async with self.context.open_session(self.settings, "budget") as session:
            self.clients = session.clients
            try:
                await self._push_all()
            except STOPPING as error:
                return PushResult(self.statuses, str(error))
        return PushResult(self.statuses)

    async def _push_all(self) -> None:
        for step in (self._set, self._wait):
            for change in self.plan.changes:
                try:
                    await step(change)
                except STOPPING:
                    raise
                except (Unreadable, errors.ConnectError) as error:  # does not stop the other budgets
                    status = PushStatus.UNCONFIRMED if change.key in self.sent else PushStatus.REFUSED
                    why = getattr(error, "issue", error)
                    self._record_status(change, status, f"the current budget cannot be read: {why}")

    async def _set(self, change: Change) -> None:
        values = await self._read(change)
        if _is_shown(change, values):
            self._record_status(change, PushStatus.CONFIRMED, current=values)
        elif values != change.before:
            changed = ", ".join(
                f"{name} was {change.before[name]} when the plan was made, and is now {values[name]}"
                for name in MEASURES
                if values[name] != change.before[name]
            )
            self._record_status(change, PushStatus.CHANGED, f"{changed}; make the plan again", current=values)
        elif await self._send(change):
            values = await self._read(change)
            if _is_shown(change, values):
                self._record_status(change, PushStatus.CONFIRMED, current=values)

    async def _wait(self, change: Change) -> None:
        if self.statuses[change.key].status is not PushStatus.SENT:
            return
        end = self.sent[change.key] + timedelta(seconds=self.patience)
        values = await self._read(change)
        while not _is_shown(change, values) and (left := end - self.clock.utc_now()) > timedelta(0):
            await self.clock.sleep(min(SECONDS_BETWEEN_READS, left.total_seconds()))
            values = await self._read(change)
        if _is_shown(change, values):
            self._record_status(change, PushStatus.CONFIRMED, current=values)
        else:
            why = "it was sent, but the service does not show it; push the plan again later"
            reason = ". ".join(filter(None, (why, self.statuses[change.key].reason)))
            self._record_status(change, PushStatus.UNCONFIRMED, reason, current=values)

    async def _read(self, change: Change) -> Values:
        return await read_budget(self.clients, budget_reports(self.settings, self.context), change)

    async def _send(self, change: Change) -> bool:
        """Send a budget once; returns whether the service may have set it."""
        month = month_of(change)
        ids = (change.customer, change.sent_office_id, change.user_id)
        path = PATH.format(*(quote(part, safe="") for part in ids), month.year, month.number)
        request = Request(path, {}, REPORT, change.customer, change.body)
        self.sent[change.key] = self.clock.utc_now()
        self._record_status(change, PushStatus.SENT)
        sys.audit("brokerbi.budget_intended")
        try:
            await self.clients(change.customer, path).post(request)
        except UNCERTAIN as error:
            self.statuses[change.key] = BudgetStatus(PushStatus.SENT, error.issue)
        except errors.ConnectError as error:
            del self.sent[change.key]
            reason = f"{error.issue} {USE_OWN_ID}" if isinstance(error, errors.NotFound) else error.issue
            self._record_status(change, PushStatus.REFUSED, reason)
            if isinstance(error, STOPPING):
                raise
            return False
        finally:
            sys.audit("brokerbi.budget_sent")
        return True

    def _record_status(
        self, change: Change, status: PushStatus, reason: str = "", *, current: Values | None = None
    ) -> None:
        self.statuses[change.key] = BudgetStatus(status, reason)
        now, is_sent = naive_utc(self.clock.utc_now()), status is PushStatus.SENT
        budget = {
            "plan_id": self.plan.plan_id,
            "planned_at_utc": naive_utc(datetime.fromisoformat(self.plan.made_at_utc)),
            "os_user": os_user(),
            "customer": change.customer,
            "office_id": change.office_id,
            "user_id": change.user_id,
            "month": month_of(change).first_day,
            "status": status.value,
            "sent_count": int(is_sent),
            "sent_at_utc": now if is_sent else None,
            "noted_at_utc": now,
            "reason": reason or None,
        }
        with Store(self.settings.data_dir, now=self.clock.utc_now).writing() as connection:
            record_push(connection, budget, change.before, change.after, current or {})
        sys.audit("brokerbi.budget_noted")
        if not is_sent:
            self.on_outcome(change, status, reason)


def _is_shown(change: Change, values: Values) -> bool:
    return all(  # a measure that was not sent may be shown as zero
        values[name] == after or (after is None and values[name] == 0) for name, after in change.after.items()
    )
