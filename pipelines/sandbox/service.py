"""How does the sandbox answer a request? Login, rights, parameters, faults, then the answer itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime

from pipelines.sandbox import control, posting, spoiling
from pipelines.sandbox.access import Denial, Login, authenticated
from pipelines.sandbox.answers import budgets, xml
from pipelines.sandbox.answers.question import DateTo, Question, Shapes
from pipelines.sandbox.answers.standing import Known
from pipelines.sandbox.answers.wording import without_nulls
from pipelines.sandbox.calls import JSON, Call, Refusal, Reply, json_reply
from pipelines.sandbox.faults import Fault, Faults
from pipelines.sandbox.reading import Reader, path_month
from pipelines.sandbox.requestlog import Entry, RequestLog
from pipelines.sandbox.routes import Route, find
from pipelines.sandbox.world.world import World

MOST_KEPT = 64 * 1024 * 1024
"""Bytes of answers kept to be given again."""


class Service:
    """A Connect service in memory over one world; everything that can be switched has a method."""

    def __init__(
        self,
        world: World,
        *,
        logins: Sequence[Login] = (Login(),),
        shapes: Shapes = "a",
        date_to: DateTo = "inclusive",
        faults: Sequence[Fault] = (),
        latency: float = 0.0,
        log: RequestLog | None = None,
        today: Callable[[], date] | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self.logins = tuple(logins)
        self.shapes: Shapes = shapes
        self.date_to: DateTo = date_to
        self.faults = Faults(faults, seed=world.history.seed)
        self.latency = latency
        self.log = log or RequestLog()
        self.denials: tuple[Denial, ...] = ()
        self._today = today
        self._clock = clock
        self._known = Known(world)
        self._kept: dict[tuple[object, ...], bytes] = {}
        self._kept_bytes = 0

    @property
    def world(self) -> World:
        return self._known.world

    def set_as_of(self, as_of: date) -> None:
        """From now on the world stands as it stood on that day."""
        self._known = Known(self.world.at(as_of))
        self.forget()

    def follow(self, today: Callable[[], date] | None) -> None:
        """Let the world move on with a calendar, or stand still."""
        self._today = today

    def switch_shapes(self, shapes: Shapes) -> None:
        """Answer undocumented reports in other shapes from now on."""
        self.shapes = shapes
        self.forget()

    def deny(self, denials: Sequence[Denial]) -> None:
        """Exactly these customers and reports are refused with 403 from now on."""
        self.denials = tuple(denials)

    def forget(self) -> None:
        """Answers are worked out anew."""
        self._kept = {}
        self._kept_bytes = 0

    def customer_of(self, call: Call) -> str | None:
        """The customer a request is about, wherever it is named."""
        found = find(call.segments)
        named = found[1].get("customerId") if found else posting.customer_of(call)
        return named or call.query.get("customerid") or call.query.get("criteria.customerid")

    def respond(self, call: Call, entry: Entry | None = None) -> Reply:
        """The reply to a request; refuses nothing but answers refusals as the interface says."""
        if self._today is not None and self._today() != self.world.as_of:
            self.set_as_of(self._today())
        try:
            if control.concerns(call):
                return control.respond(self, call)
            reply = self._answered(call, entry)
        except Refusal as refusal:
            reply = self._refused(refusal)
        if entry is not None:
            entry.status = reply.status
        if self.latency:
            slower = replace(reply.delivery, first_byte_after=reply.delivery.first_byte_after + self.latency)
            reply = replace(reply, delivery=slower)
        return reply

    def _answered(self, call: Call, entry: Entry | None) -> Reply:
        login = authenticated(call.headers.get("authorization"), self.logins)
        customer = self.customer_of(call) or ""
        striking = self.faults.striking(call.path, f"{call.method} {call.target}", customer)
        if entry is not None:
            entry.faults = [fault.kind for fault in striking]
        ended = spoiling.ended(striking, self._clock)
        if ended is not None:
            return ended
        if call.method == "POST":
            posting.post_budget(self._known, call, self._permitted(login, call, customer))
            self.forget()
            return spoiling.spoiled(Reply(204), striking, call.target, self.world.history.seed)
        reply = self._report(call, login, customer, striking)
        return spoiling.spoiled(reply, striking, call.target, self.world.history.seed)

    def _report(self, call: Call, login: Login, customer: str, striking: Sequence[Fault]) -> Reply:
        found = find(call.segments)
        if found is None:
            raise Refusal(404, "There is nothing here.")
        if call.method != "GET":
            raise Refusal(405, f"{call.method} is not supported here.")
        route, filled = found
        self._permitted(login, call, customer)
        question = self._question(route, filled, call, customer)
        question = spoiling.disturbed(question, striking, self.faults.moved, call)
        wants_xml = xml.wanted(call.headers.get("accept", ""))
        key = (call.target, wants_xml, question.hidden_rows, question.repeated_rows)
        body = self._kept.get(key)
        if body is None:
            body = self._body(route, question, wants_xml=wants_xml)
            self._keep(key, body)
        return Reply(200, {"Content-Type": xml.XML if wants_xml else JSON}, body)

    def _body(self, route: Route, question: Question, *, wants_xml: bool) -> bytes:
        answer = route.answer(question)
        if wants_xml:
            return xml.document(route.root, answer)
        if self.shapes == "b":
            answer = without_nulls(answer)
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()

    def _keep(self, key: tuple[object, ...], body: bytes) -> None:
        if self._kept_bytes > MOST_KEPT:
            self.forget()
        self._kept[key] = body
        self._kept_bytes += len(body) + 500

    def _permitted(self, login: Login, call: Call, customer: str) -> str:
        """The customer, if the login may ask this of it."""
        if not customer:
            raise Refusal(
                400, "The request is invalid.", {"customerId": ["The parameter customerId is required."]}
            )
        refused = any(denial.concerns(call.path, customer) for denial in self.denials)
        if refused or not self.world.offices_of(customer) or not login.may_ask(call.path, customer):
            raise Refusal(403, "The requested data is not accessible to the caller.")
        return customer

    def _question(self, route: Route, filled: dict[str, str], call: Call, customer: str) -> Question:
        inputs, reader = route.inputs, Reader(call.query)
        question = Question(self._known, customer, self.world.offices_of(customer), self.shapes, self.date_to)
        if inputs.dates:
            start, end = reader.interval(inputs)
            question = replace(question, start=start, end=end)
        if inputs.choice is not None:
            question = replace(question, choice=reader.choice(inputs.choice))
        if inputs.pages:
            question = replace(question, page=reader.page())
        if inputs.month_range:
            question = replace(question, months=reader.month_range(budgets.this_year(question)))
        if inputs.estate:
            named = (call.query.get("estateid") or None, call.query.get("estatenumber") or None)
            question = replace(question, estate=named)
        reader.finish()
        if "year" in filled:
            month = path_month(filled["year"], filled["month"])
            user_id = filled.get("userId")
            question = replace(question, months=(month, month), user_id=self._user(question, user_id))
        return question

    def _user(self, question: Question, user_id: str | None) -> str | None:
        """The user, if one of the customer's offices knows it."""
        if user_id is None or any(
            user.id == user_id
            for office in question.offices
            for user in self.world.history.users(office.customer_id)
            if user.hired <= self.world.as_of
        ):
            return user_id
        raise Refusal(404, f"There is no user {user_id}.")

    def _refused(self, refusal: Refusal) -> Reply:
        """A refusal as JSON; how validation errors look is a guess."""
        headers = {"WWW-Authenticate": 'Basic realm="Connect"'} if refusal.status == 401 else {}
        body: dict[str, object] = {"message": refusal.message}
        if refusal.fields and self.shapes == "b":
            body["errors"] = [
                {"field": name, "message": message}
                for name, messages in refusal.fields.items()
                for message in messages
            ]
        elif refusal.fields:
            body["modelState"] = refusal.fields
        return json_reply(refusal.status, body, headers)
