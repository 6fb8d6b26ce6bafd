"""Push of a plan: budgets set one by one, read before and after; none is sent twice that was not lost."""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from filelock import FileLock, Timeout

from pipelines.budgets.budget import MAKE_ANEW, MEASURES, BudgetError, BudgetPlan, Change, Values, month_of
from pipelines.budgets.present import Present, Unreadable, Whose, read_present
from pipelines.budgets.session import Session, open_session, os_user
from pipelines.connect.errors import (
    ConnectError,
    Forbidden,
    HostDown,
    NotFound,
    Redirected,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    Unreachable,
)
from pipelines.connect.models import Answer, Request
from pipelines.settings.messages import SettingsError
from warehouse.ledger.budget_pushes import (
    IN_LANDING,
    Push,
    PushStatus,
    note_intent,
    note_outcome,
    note_planned,
    read_pushes,
    written_down,
)
from warehouse.ledger.budget_pushes import Whose as LedgerKey
from warehouse.load.landing import Landing, LandingWriter
from warehouse.store.files import PRIVATE_FILE, make_folder

if TYPE_CHECKING:
    from pipelines.months import Month
    from pipelines.settings.model import Settings
    from pipelines.sync.run_context import RunContext
    from warehouse.store.database import Connection

PATH = "/BusinessIntelligence/Budget/{}/{}/{}/{}/{}"
"""Interface, Budget maintenance: customer, office, user, year and month."""
REPORT = "budget_pushes"
PATIENCE = 120.0
"""Seconds in which the service may show a budget that it was sent."""
POLLS = (1.0, 2.0, 4.0, 8.0, 15.0)
"""Seconds between two looks; the last for all further ones."""
SENDS = 2
"""So often one push sends a budget at most: once, and once more when it is seen to be lost."""
STOPPING = (Unauthorized, Forbidden, HostDown)
UNKNOWN = (TooManyRequests, Unavailable, Unreachable)
"""After these nobody knows whether the service has written."""
NOT_ALLOWED = (
    "BROKERBI_ALLOW_BUDGET_WRITES is not true, so nothing is sent; set it for this command alone when the "
    "plan is right."
)
OTHER_ID = (
    "The service may call the office otherwise where budgets are set: give its own id (one like FIR31529) as "
    "office_id in the file, and make the plan anew."
)

Shown = Literal["before", "between", "after", "other"]


@dataclass(frozen=True)
class Pushed:
    """How a push ended: the budgets of the plan by how far they have come, and why it stopped early."""

    pushes: Mapping[LedgerKey, Push]
    stopped: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the service shows all that was planned."""
        return all(push.status is PushStatus.CONFIRMED for push in self.pushes.values())


def push(
    settings: Settings,
    plan: BudgetPlan,
    context: RunContext,
    *,
    patience: float = PATIENCE,
    on_outcome: Callable[[Change, PushStatus, str], None] = lambda *_: None,
) -> Pushed:
    """Set what the plan wants and the service does not show yet; may be killed and called again at any time.

    Raises SettingsError where writing is not allowed, BudgetError for a plan that is not for this service.
    """
    if not settings.allow_budget_writes:
        raise SettingsError([NOT_ALLOWED])
    if plan.base_url != settings.base_url:
        raise BudgetError([f"The plan was made at {plan.base_url}, not at {settings.base_url}; {MAKE_ANEW}."])
    asked = {customer.id for customer in settings.active_customers}
    if missing := sorted({change.customer for change in plan.changes} - asked):
        raise BudgetError([f"The plan needs {', '.join(missing)}, which BROKERBI_CUSTOMERS does not name."])
    with _alone(settings.data_dir):
        return asyncio.run(_push(settings, plan, context, patience, on_outcome))


@contextmanager
def _alone(data_dir: Path) -> Iterator[None]:
    """Let no other process push meanwhile; raises BudgetError when one does."""
    make_folder(data_dir / "work")
    lock = FileLock(data_dir / "work" / "budget_push.lock", timeout=0, mode=PRIVATE_FILE)
    try:
        lock.acquire()
    except Timeout:
        raise BudgetError(["Another push of budgets is under way; wait for it to end."]) from None
    try:
        yield
    finally:
        lock.release()


async def _push(
    settings: Settings,
    plan: BudgetPlan,
    context: RunContext,
    patience: float,
    on_outcome: Callable[[Change, PushStatus, str], None],
) -> Pushed:
    stopped = ""
    async with open_session(settings, context) as session:
        pusher = _Pusher(session, plan, Landing(settings.data_dir / "landing"), patience, on_outcome)
        pusher.note_plan()
        try:
            await pusher.push_all()
        except STOPPING as error:
            stopped = str(error)
    with session.store.reading() as connection:
        return Pushed(read_pushes(connection, plan.plan_id), stopped)


@dataclass
class _Pusher:
    """Pushes one plan.

    `waiting` are budgets that were accepted and are not shown yet, with when they were sent; `landed` are the
    files of the last requests.
    """

    session: Session
    plan: BudgetPlan
    landing: Landing
    patience: float
    on_outcome: Callable[[Change, PushStatus, str], None]
    pushes: dict[LedgerKey, Push] = field(default_factory=dict)
    waiting: list[tuple[Change, datetime]] = field(default_factory=list)
    landed: dict[LedgerKey, str] = field(default_factory=dict)

    def note_plan(self) -> None:
        """Write down what is planned, and learn what earlier pushes of the plan came to."""
        rows = [
            {
                "plan_id": self.plan.plan_id,
                "planned_at_utc": datetime.fromisoformat(self.plan.made_at_utc).replace(tzinfo=None),
                "os_user": os_user(),
                "customer": change.customer,
                "office_id": change.office_id,
                "user_id": change.user_id,
                "month": month_of(change).first_day,
                "measure": measure,
                "before": change.before[measure],
                "after": change.after[measure],
            }
            for change in self.plan.changes
            for measure in MEASURES
        ]
        with self.session.store.writing() as connection:
            note_planned(connection, rows, self.session.clock.utc_now())
            self.pushes = read_pushes(connection, self.plan.plan_id)
            for customer in sorted({change.customer for change in self.plan.changes}):
                self._keep(customer, written_down(connection, self.plan.plan_id, customer))
        sys.audit("brokerbi.budgets_planned")

    async def push_all(self) -> None:
        """One after the other; what was accepted and is not shown yet is looked at again at the end."""
        for change in self.plan.changes:
            if self.pushes[_key(change)].status is not PushStatus.CONFIRMED:
                await self._safely(change, self._bring)
        for change, sent_at in self.waiting:
            await self._safely(change, partial(self._look_again, sent_at=sent_at))

    async def _safely(self, change: Change, step: Callable[[Change], Awaitable[None]]) -> None:
        """Let one budget's trouble stop no other, unless it is everybody's."""
        try:
            await step(change)
        except STOPPING as error:
            if isinstance(error, Unauthorized | Forbidden) and error.request.report == REPORT:
                self._note(change, PushStatus.REFUSED, error.found)
            raise
        except (Unreadable, ConnectError) as error:
            why = str(getattr(error, "found", error))
            if isinstance(error, ConnectError) and error.request.report == REPORT:
                why = f"{why} {OTHER_ID}" if isinstance(error, NotFound) else why
                self._note(change, PushStatus.REFUSED, why)
            elif self._was_sent(change):
                self._note(
                    change, PushStatus.UNCONFIRMED, f"whether the service shows it cannot be read: {why}"
                )
            else:
                self._note(change, PushStatus.REFUSED, f"the present budget cannot be read: {why}")

    async def _bring(self, change: Change) -> None:
        """Send a budget unless it is shown already, was changed by somebody else, or may be on its way."""
        was_sent = self._was_sent(change)
        sent_at = self.pushes[_key(change)].open_since_utc
        for _ in range(SENDS):
            present = await self._settled(change, sent_at)
            if _shown(change, present.values) != "before":
                return self._judge(change, present, was_sent=was_sent)
            was_sent, sent_at = True, self.session.clock.utc_now()
            try:
                if await self._send(change, present):
                    return await self._look_once(change, sent_at)
            except Redirected:  # some point elsewhere after they have written
                present = await self._read(change)
                if _shown(change, present.values) != "after":
                    raise
                return self._judge(change, present, was_sent=True)
        return self._judge(change, await self._settled(change, sent_at), was_sent=True)

    def _was_sent(self, change: Change) -> bool:
        return self.pushes[_key(change)].status in (PushStatus.SENT, PushStatus.UNCONFIRMED)

    async def _look_once(self, change: Change, sent_at: datetime) -> None:
        present = await self._read(change)
        if _shown(change, present.values) == "after":
            self._judge(change, present, was_sent=True)
        else:
            self.waiting.append((change, sent_at))

    async def _look_again(self, change: Change, sent_at: datetime) -> None:
        self._judge(change, await self._settled(change, sent_at), was_sent=True)

    def _judge(self, change: Change, present: Present, *, was_sent: bool) -> None:
        """Write down what the service shows in the end."""
        shown = _shown(change, present.values)
        if shown == "after":
            self._note(change, PushStatus.CONFIRMED, "", present.values)
        elif was_sent and shown in ("before", "between"):
            why = "it was sent, and the service does not show it; push the plan again later"
            self._note(change, PushStatus.UNCONFIRMED, why, present.values)
        else:
            why = f"{_differences(change, present.values, was_sent=was_sent)}; make the plan anew"
            self._note(change, PushStatus.CHANGED, why, present.values)

    async def _settled(self, change: Change, sent_at: datetime | None) -> Present:
        """The present budget; of one that was sent, not before it is shown or patience is over."""
        present = await self._read(change)
        if sent_at is None:
            return present
        gone = (self.session.clock.utc_now() - sent_at) / timedelta(seconds=1)
        left = min(self.patience, max(0.0, self.patience - gone))
        polls = iter(POLLS)
        while left > 0 and _shown(change, present.values) in ("before", "between"):
            pause = min(left, next(polls, POLLS[-1]))
            await self.session.clock.sleep(pause)
            left -= pause
            present = await self._read(change)
        return present

    async def _read(self, change: Change) -> Present:
        whose = Whose(
            change.customer, change.office_id, change.sent_office_id, change.user_id, month_of(change)
        )
        return await read_present(self.session.clients, self.session.catalogue, whose)

    async def _send(self, change: Change, present: Present) -> bool:
        """Send a budget once; whether the service said that it took it. Raises what it said otherwise."""
        month = month_of(change)
        ids = (change.customer, change.sent_office_id, change.user_id)
        path = PATH.format(*(quote(one, safe="") for one in ids), month.year, month.number)
        request = Request(path, {}, REPORT, change.customer, change.body)
        now = self.session.clock.utc_now()
        with self.session.store.writing() as connection:
            note_intent(connection, self.plan.plan_id, _key(change), os_user(), now)
            self._keep_state(connection, change)
        self.pushes[_key(change)] = Push(PushStatus.SENT, 1, now)
        sys.audit("brokerbi.budget_intended")
        try:
            answer = await self.session.clients(change.customer, path).post(request)
        except UNKNOWN as error:
            self._land(change, request, present, error.answer, error.found)
            return False
        except ConnectError as error:
            self._land(change, request, present, error.answer, error.found)
            raise
        self._land(change, request, present, answer)
        return True

    def _land(
        self, change: Change, request: Request, present: Present, answer: Answer | None, error: str = ""
    ) -> None:
        """Keep what was shown before, what was sent and what was answered."""
        sys.audit("brokerbi.budget_sent")
        writer = self._open(REPORT, change.customer, month_of(change), asked=[change.user_id])
        try:
            for read in present.answers:
                writer.add(_meta(read.request, read), read.body)
            sent = {"sent": (request.body or b"").decode(), "error": error}
            writer.add({**_meta(request, answer), **sent}, answer.body if answer else b"")
            landed = writer.close()
        finally:
            writer.discard()
        self.landed[_key(change)] = landed.path
        sys.audit("brokerbi.budget_landed")

    def _keep_state(self, connection: Connection, change: Change) -> None:
        rows = written_down(connection, self.plan.plan_id, change.customer, _key(change))
        self._keep(change.customer, rows, month_of(change))

    def _keep(self, customer: str, rows: bytes, month: Month | None = None) -> None:
        """Let landing know what the ledger is about to, for a rebuild without the working file."""
        writer = self._open(IN_LANDING, customer, month)
        try:
            writer.add({}, rows)
            writer.close()
        finally:
            writer.discard()

    def _open(self, report: str, customer: str, month: Month | None, **header: object) -> LandingWriter:
        load_id = f"{self.session.clock.utc_now():%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}"
        header |= {"run_id": self.session.run_id, "plan_id": self.plan.plan_id, "kept": False}
        first, last = (month.first_day, month.last_day) if month else (None, None)
        return self.landing.open(report, customer, first, last, load_id, header)

    def _note(self, change: Change, status: PushStatus, reason: str, found: Values | None = None) -> None:
        now = self.session.clock.utc_now()
        with self.session.store.writing() as connection:
            note_outcome(
                connection,
                self.plan.plan_id,
                _key(change),
                status,
                reason,
                found or {},
                self.landed.get(_key(change)),
                now,
            )
            self._keep_state(connection, change)
        sys.audit("brokerbi.budget_noted")
        self.on_outcome(change, status, reason)


def _key(change: Change) -> LedgerKey:
    return (change.office_id, change.user_id, month_of(change).first_day)


def _meta(request: Request, answer: Answer | None) -> dict[str, object]:
    """What landing keeps of a request and its answer beside the body."""
    return {
        "method": request.method,
        "path": request.path,
        "query": dict(request.query),
        "status": answer.status if answer else None,
        "content_type": answer.content_type if answer else "",
        "seconds": answer.seconds if answer else None,
        "fetched_at_utc": answer.fetched_at_utc.isoformat() if answer else None,
    }


def _shown(change: Change, values: Values) -> Shown:
    """What the service shows: the budget of before, the one of after, some of both, or neither.

    What was never budgeted and is left out may become zero.
    """

    def is_after(name: str) -> bool:
        wanted = change.after[name]
        return values[name] == wanted or (wanted is None and values[name] == 0)

    if all(map(is_after, MEASURES)):
        return "after"
    if all(values[name] == change.before[name] for name in MEASURES):
        return "before"
    if all(values[name] == change.before[name] or is_after(name) for name in MEASURES):
        return "between"
    return "other"


def _differences(change: Change, values: Values, *, was_sent: bool) -> str:
    """What the service shows that nobody here wanted."""
    if was_sent:
        wrong = [name for name in MEASURES if values[name] not in (change.before[name], change.after[name])]
        said = (
            f"{name} is {_said(values[name])}, where {_said(change.after[name])} was sent" for name in wrong
        )
    else:
        wrong = [name for name in MEASURES if values[name] != change.before[name]]
        said = (
            f"{name} was {_said(change.before[name])} in the plan, and is {_said(values[name])}"
            for name in wrong
        )
    return ", ".join(said)


def _said(value: int | None) -> str:
    return "none" if value is None else str(value)
