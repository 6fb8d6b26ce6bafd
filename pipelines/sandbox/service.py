"""The service: checks the login, access and parameters of a request, applies faults, and answers."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from threading import RLock

from pipelines.months import Month
from pipelines.sandbox import control, fault_effects
from pipelines.sandbox.answers.formats import without_nulls
from pipelines.sandbox.answers.snapshot import DateTo, Question, Shapes, Snapshot
from pipelines.sandbox.budget_writes import BudgetWrites, no_budget
from pipelines.sandbox.calls import Call, CallLog, LoggedCall, Refusal, Reply, json_reply
from pipelines.sandbox.faults import Fault, Faults
from pipelines.sandbox.routes import find
from pipelines.sandbox.world.records import Budget
from pipelines.sandbox.world.world import World


@dataclass(frozen=True, slots=True)
class SandboxLogin:
    """An account; None means all customers of the world, and all paths of the service.

    `paths` are beginnings such as /CRM: for any other path the login is wrong.
    """

    username: str = "sandbox"
    password: str = "sandbox"
    customers: frozenset[str] | None = None
    paths: tuple[str, ...] | None = None


class Service:
    """A Connect service in memory for one world, with a method for each control."""

    def __init__(
        self,
        world: World,
        *,
        logins: Sequence[SandboxLogin] = (SandboxLogin(),),
        shapes: Shapes = "a",
        date_to: DateTo = "inclusive",
        largest_page: int = 100_000,
        faults: Sequence[Fault] = (),
        latency: float = 0.0,
        log: CallLog | None = None,
        today: Callable[[], date] | None = None,
        clock: Callable[[], datetime] | None = None,
        budgets: BudgetWrites | None = None,
    ) -> None:
        self.logins = tuple(logins)
        self.shapes = shapes
        self.date_to = date_to
        self.largest_page = largest_page
        self.faults = Faults(faults, seed=world.history.seed)
        self.latency = latency
        self.log = log or CallLog()
        self._today = today
        self._clock = clock
        self._lock = RLock()
        self.budgets = budgets or BudgetWrites()
        self._snapshot = Snapshot(world, self.budgets)

    @property
    def world(self) -> World:
        return self._snapshot.world

    def set_as_of(self, as_of: date) -> None:
        """Show the world on that day from now on; it no longer follows the calendar."""
        self._today = None
        self._snapshot = Snapshot(self.world.at(as_of), self.budgets)

    def budget(self, office_id: str, user_id: str, month: Month) -> Budget:
        """The budget of a user as shown now; zero if none was ever set."""
        known = {budget.user_id: budget for budget in self._snapshot.budgets(office_id, month)}
        return known.get(user_id) or no_budget(user_id, office_id, month)

    @contextmanager
    def answering(self, call: Call) -> Iterator[Reply]:
        """The reply to a request, which is logged until the block in which it is delivered ends."""
        if control.concerns(call):
            yield self.respond(call)
        else:
            with self.log.entry(call, _customer_of(call)) as entry:
                yield self.respond(call, entry)

    def respond(self, call: Call, entry: LoggedCall | None = None) -> Reply:
        """The reply to a request; errors are answered as the interface says."""
        with self._lock:
            if self._today is not None and self._today() != self.world.as_of:
                self._snapshot = Snapshot(self.world.at(self._today()), self.budgets)
            try:
                if control.concerns(call):
                    return control.respond(self, call)
                reply = self._reply(call, entry)
            except Refusal as refusal:
                reply = self._refused(refusal)
        if entry is not None:
            entry.status = reply.status
        if self.latency:
            reply = replace(reply, first_byte_after=reply.first_byte_after + self.latency)
        return reply

    def _reply(self, call: Call, entry: LoggedCall | None) -> Reply:
        login = self._login(call.headers.get("authorization"), call.path)
        customer = _customer_of(call) or ""
        striking = self.faults.striking(call.path, f"{call.method} {call.target}", customer)
        if entry is not None:
            entry.faults = [fault.kind for fault in striking]
        instead = fault_effects.replacement(striking, self._clock)
        if instead is not None:
            return instead
        found = find(call.segments, call.method)
        if found is None and not find(call.segments):
            raise Refusal(404, "There is nothing here.")
        if found is None or call.method not in ("GET", "POST"):
            raise Refusal(405, f"{call.method} is not supported here.")
        route, filled = found
        self._check_rights(login, customer)
        offices = self.world.history.chain.offices_of(customer)
        question = route.read(
            Question(self._snapshot, offices, self.shapes, self.date_to, self.largest_page),
            filled,
            call.query,
        )
        if route.writes:
            self._write_budget(question, filled, call.body)
            return fault_effects.delivered(Reply(204), striking)
        if route.reads_page:
            question = fault_effects.disturbed(question, striking, self.faults.moved, call)
        answer = route.answer(question)
        accepted = call.headers.get("accept", "")
        if "xml" in accepted and "json" not in accepted and "*/*" not in accepted:
            reply = Reply(200, {"Content-Type": "application/xml; charset=utf-8"}, b"<Answer />")
        else:
            reply = json_reply(200, without_nulls(answer) if self.shapes == "b" else answer)
        return fault_effects.spoiled(reply, striking, call.target, self.world.history.seed)

    def _write_budget(self, question: Question, filled: dict[str, str], body: bytes) -> None:
        office = next((office for office in question.offices if office.own_id == filled["officeId"]), None)
        if office is None or question.months is None:  # the two ids of an office are not interchangeable
            raise Refusal(404, f"There is no office {filled['officeId']}.")
        known = self.budget(office.customer_id, filled["userId"], question.months[0])
        self.budgets.accept(body, known)

    def _login(self, header: str | None, path: str) -> SandboxLogin:
        """The login for this path in a Basic header in UTF-8; rejects everything else with 401."""
        scheme, _, encoded = (header or "").partition(" ")
        if scheme.lower() == "basic":
            try:
                given = base64.b64decode(encoded.strip(), validate=True)
            except ValueError:
                given = b""
            for login in self.logins:
                is_for_path = login.paths is None or path.startswith(login.paths)
                if hmac.compare_digest(f"{login.username}:{login.password}".encode(), given) and is_for_path:
                    return login
        raise Refusal(401, "The Authorization header is incorrect (wrong username or password).")

    def _check_rights(self, login: SandboxLogin, customer: str) -> None:
        if not customer:
            missing = {"customerId": ["The parameter customerId is required."]}
            raise Refusal(400, "The request is invalid.", missing)
        refused = login.customers is not None and customer not in login.customers
        if refused or not self.world.history.chain.offices_of(customer):
            raise Refusal(403, "The requested data is not accessible to the caller.")

    def _refused(self, refusal: Refusal) -> Reply:
        """An error as JSON; the form of validation errors is a guess."""
        headers = {"WWW-Authenticate": 'Basic realm="Connect"'} if refusal.status == 401 else {}
        body: dict[str, object] = {"message": str(refusal)}
        if refusal.fields and self.shapes == "b":
            body["errors"] = [
                {"field": name, "message": message}
                for name, messages in refusal.fields.items()
                for message in messages
            ]
        elif refusal.fields:
            body["modelState"] = refusal.fields
        return json_reply(refusal.status, body, headers)


def _customer_of(call: Call) -> str | None:
    """The customer a request is about, wherever it is named."""
    found = find(call.segments, call.method)
    if found and "customerId" in found[1]:
        return found[1]["customerId"]
    named = ("customerid", "criteria.customerid", "request.customerid")
    return next((call.query[name] for name in named if name in call.query), None)
