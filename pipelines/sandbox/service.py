"""The sandbox's service: checks login, access and parameters of a request, applies faults, and answers."""

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
from pipelines.sandbox.answers.snapshot import DateTo, ReportQuery, Shapes, Snapshot
from pipelines.sandbox.budget_writes import BudgetWrites, no_budget
from pipelines.sandbox.calls import Call, CallLog, HttpError, LoggedCall, Reply, json_reply
from pipelines.sandbox.faults import Fault, Faults
from pipelines.sandbox.routes import find_route
from pipelines.sandbox.world.records import Budget
from pipelines.sandbox.world.world import World


@dataclass(frozen=True, slots=True)
class SandboxLogin:
    """A login, with the customers and paths for which it is valid; None means all.

    `paths` are prefixes such as /CRM. A request is denied with 401 on another path, and with 403 for another
    customer.
    """

    username: str = "sandbox"
    password: str = "sandbox"
    customers: frozenset[str] | None = None
    paths: tuple[str, ...] | None = None


class Service:
    """A Connect service in memory, which answers from one world."""

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
        """Answer as of this day from now on; `today` is no longer called."""
        self._today = None
        self._snapshot = Snapshot(self.world.at(as_of), self.budgets)

    def budget(self, office_id: str, user_id: str, month: Month) -> Budget:
        """The user's budget that the service shows now. If it shows none, each measure is 0."""
        budgets = {budget.user_id: budget for budget in self._snapshot.budgets(office_id, month)}
        return budgets.get(user_id) or no_budget(user_id, office_id, month)

    @contextmanager
    def answering(self, call: Call) -> Iterator[Reply]:
        """Yield the reply to a request; the log counts the request as in flight until the block ends."""
        if control.is_control_call(call):
            yield self.respond(call)
        else:
            with self.log.entry(call, _customer_of(call)) as entry:
                yield self.respond(call, entry)

    def respond(self, call: Call, entry: LoggedCall | None = None) -> Reply:
        """The reply to a request; an HttpError becomes a reply with its status."""
        with self._lock:
            if self._today is not None and self._today() != self.world.as_of:
                self._snapshot = Snapshot(self.world.at(self._today()), self.budgets)
            try:
                if control.is_control_call(call):
                    return control.respond(self, call)
                reply = self._reply(call, entry)
            except HttpError as error:
                reply = self._error_reply(error)
        if entry is not None:
            entry.status = reply.status
        if self.latency:
            reply = replace(reply, first_byte_after=reply.first_byte_after + self.latency)
        return reply

    def _reply(self, call: Call, entry: LoggedCall | None) -> Reply:
        login = self._login(call.headers.get("authorization"), call.path)
        customer = _customer_of(call) or ""
        faults = self.faults.draw(call.path, f"{call.method} {call.target}", customer)
        if entry is not None:
            entry.faults = [fault.kind for fault in faults]
        replacement = fault_effects.replacement(faults, self._clock)
        if replacement is not None:
            return replacement
        route_and_values = find_route(call.segments, call.method)
        if route_and_values is None and not find_route(call.segments):
            raise HttpError(404, "There is nothing here.")
        if route_and_values is None or call.method not in ("GET", "POST"):
            raise HttpError(405, f"{call.method} is not supported here.")
        route, path_values = route_and_values
        self._check_access(login, customer)
        offices = self.world.history.chain.offices_of(customer)
        query = route.read(
            ReportQuery(self._snapshot, offices, self.shapes, self.date_to, self.largest_page),
            path_values,
            call.query,
        )
        if route.answer is None:
            self._write_budget(query, path_values, call.body)
            return fault_effects.apply_delivery_faults(Reply(204), faults)
        if route.reads_page:
            query = fault_effects.move_rows(query, faults, self.faults.page_readings, call)
        answer = route.answer(query)
        accepted = call.headers.get("accept", "")
        if "xml" in accepted and "json" not in accepted and "*/*" not in accepted:
            reply = Reply(200, {"Content-Type": "application/xml; charset=utf-8"}, b"<Answer />")
        else:
            reply = json_reply(200, without_nulls(answer) if self.shapes == "b" else answer)
        return fault_effects.apply_reply_faults(reply, faults, call.target, self.world.history.seed)

    def _write_budget(self, query: ReportQuery, path_values: dict[str, str], body: bytes) -> None:
        # Writing needs the office's own id; its customer id is not accepted.
        office = next((office for office in query.offices if office.own_id == path_values["officeId"]), None)
        if office is None or query.months is None:
            raise HttpError(404, f"There is no office {path_values['officeId']}.")
        shown = self.budget(office.customer_id, path_values["userId"], query.months[0])
        self.budgets.accept(body, shown)

    def _login(self, header: str | None, path: str) -> SandboxLogin:
        scheme, _, encoded = (header or "").partition(" ")
        if scheme.lower() == "basic":
            try:
                sent = base64.b64decode(encoded.strip(), validate=True)
            except ValueError:
                sent = b""
            for login in self.logins:
                is_for_path = login.paths is None or path.startswith(login.paths)
                if hmac.compare_digest(f"{login.username}:{login.password}".encode(), sent) and is_for_path:
                    return login
        raise HttpError(401, "The Authorization header is incorrect (wrong username or password).")

    def _check_access(self, login: SandboxLogin, customer: str) -> None:
        if not customer:
            missing = {"customerId": ["The parameter customerId is required."]}
            raise HttpError(400, "The request is invalid.", missing)
        is_denied = login.customers is not None and customer not in login.customers
        if is_denied or not self.world.history.chain.offices_of(customer):
            raise HttpError(403, "The requested data is not accessible to the caller.")

    def _error_reply(self, error: HttpError) -> Reply:
        # Both forms in which the body lists wrong parameters are guesses.
        headers = {"WWW-Authenticate": 'Basic realm="Connect"'} if error.status == 401 else {}
        body: dict[str, object] = {"message": str(error)}
        if error.fields and self.shapes == "b":
            body["errors"] = [
                {"field": name, "message": message}
                for name, messages in error.fields.items()
                for message in messages
            ]
        elif error.fields:
            body["modelState"] = error.fields
        return json_reply(error.status, body, headers)


def _customer_of(call: Call) -> str | None:
    route_and_values = find_route(call.segments, call.method)
    if route_and_values and "customerId" in route_and_values[1]:
        return route_and_values[1]["customerId"]
    names = ("customerid", "criteria.customerid", "request.customerid")
    return next((call.query[name] for name in names if name in call.query), None)
