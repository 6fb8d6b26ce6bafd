"""What does the service let us see? One smallest request per customer and report, and its clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Report
from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.connect.errors import ConnectError, Forbidden, HostDown, Unauthorized
from pipelines.connect.rate_limit import RateLimit
from pipelines.months import Month
from pipelines.normalize.documents import read_document
from pipelines.operations.findings import Access, Finding, Grade
from pipelines.planning.planned import chosen_reports
from pipelines.planning.selection import Selection
from pipelines.planning.windows import Span
from pipelines.sync.asking import request
from pipelines.sync.clients import clients_of
from pipelines.sync.rehearsing import clock_of
from pipelines.sync.request_log import RequestLogger
from pipelines.sync.surroundings import Surroundings
from warehouse.errors import WarehouseError
from warehouse.store import Store

if TYPE_CHECKING:
    from pipelines.connect.client import Client
    from pipelines.connect.models import Answer, Request
    from pipelines.settings.model import Customer, Settings

REFUSED = "403"
NEAR = timedelta(minutes=5)
FAR = timedelta(hours=1)


@dataclass
class Round:
    """One round of small requests: what was answered, refused, and what time the service has."""

    reports: Sequence[Report]
    first: date
    now: Callable[[], datetime]
    on_access: Callable[[Access], None]
    refused_today: frozenset[tuple[str, str]]
    access: list[Access] = field(default_factory=list)
    troubled: list[Finding] = field(default_factory=list)
    late_by: timedelta | None = None
    is_given_up: bool = False

    async def ask(self, client: Client, customer: Customer) -> None:
        """One request for each report; raises Unauthorized and HostDown, after which there is no point."""
        for report in self.reports:
            if (report.name, customer.id) in self.refused_today:
                self._note(Access(report.name, customer.id, f"{REFUSED} (asked earlier today)"))
                continue
            self._note(Access(report.name, customer.id, await self._word(client, report, customer.id)))

    async def _word(self, client: Client, report: Report, customer: str) -> str:
        try:
            answer, _ = await client.get(smallest(report, customer, self.first), read_document)
            self._look_at_the_clock(answer)
        except (Unauthorized, HostDown):
            raise
        except Forbidden:
            return REFUSED
        except ConnectError as error:
            subject = f"{report.name} of {customer}"
            self.troubled.append(Finding(subject, Grade.WRONG, str(error), "see the sentence, or ask later"))
            return type(error).__name__
        return "yes"

    def _note(self, access: Access) -> None:
        self.access.append(access)
        self.on_access(access)

    def _look_at_the_clock(self, answer: Answer) -> None:
        try:
            told = parsedate_to_datetime(answer.headers.get("date", ""))
        except ValueError:
            return
        if self.late_by is None:
            self.late_by = self.now() - (told if told.tzinfo else told.replace(tzinfo=UTC))


async def service(
    settings: Settings, surroundings: Surroundings, on_access: Callable[[Access], None]
) -> list[Finding]:
    """Every login, what each may see, and how our clock stands to the service's."""
    store = Store(settings.data_dir)
    denied = store.ledger().denied
    zone, today = ZoneInfo(settings.timezone), settings.today_local(surroundings.clock)
    refused = {pair for pair, at in denied.items() if at.astimezone(zone).date() == today}
    reports = [one for one in chosen_reports(settings, Selection(), surroundings.catalogue) if not one.each]
    first = Month.of(today).first_day
    now = surroundings.clock.utc_now
    round_ = Round(reports, first, now, on_access, frozenset(refused))
    findings = await _asked(settings, surroundings, round_)
    _remember(store, round_, clock_of(settings, surroundings.clock).utc_now())
    return [*findings, *_rights(round_), *round_.troubled, _clock(round_.late_by)]


async def _asked(settings: Settings, surroundings: Surroundings, round_: Round) -> list[Finding]:
    """Ask for all customers; a login that is wrong is told once, for all whom it asks for."""
    rate_limit = RateLimit(settings.data_dir, settings.concurrency, settings.requests_per_second)
    customers = settings.active_customers
    shut: dict[str, list[str]] = {}
    log = RequestLogger(settings.data_dir, "doctor", surroundings.clock)
    async with AsyncExitStack() as stack:
        clients = await clients_of(
            settings,
            surroundings,
            customers,
            rate_limit,
            CircuitBreaker(rate_limit),
            stack,
            log.record,
        )
        stack.callback(lambda: Store(settings.data_dir).add_requests(list(log.counts.values())))
        for customer in customers:
            try:
                await round_.ask(clients[customer.id], customer)
            except Unauthorized as error:
                shut.setdefault(str(error), []).append(customer.id)
            except HostDown as error:
                round_.is_given_up = True
                return [Finding("service", Grade.WRONG, str(error), "check the address, or ask later")]
    return list(_shut_logins(shut))


def _shut_logins(shut: dict[str, list[str]]) -> Iterator[Finding]:
    if shut:
        customers = [customer for some in shut.values() for customer in some]
        first = next(iter(shut))
        yield Finding(f"login of {', '.join(customers)}", Grade.WRONG, first, "correct username and password")


def _remember(store: Store, round_: Round, now: datetime) -> None:
    """Tell the ledger who was refused, so that a sync does not insist today.

    When everybody was refused nobody is marked: the trouble is elsewhere.
    """
    if round_.is_given_up:
        return
    try:
        for one in round_.access:
            if one.word == REFUSED:
                store.deny(one.report, one.customer, now)
            elif one.word == "yes":
                store.allow(one.report, one.customer)
    except WarehouseError as error:
        round_.troubled.append(Finding("ledger", Grade.ODD, str(error), "see the sentence itself"))


def _rights(round_: Round) -> Iterator[Finding]:
    for customer in dict.fromkeys(one.customer for one in round_.access):
        mine = [one for one in round_.access if one.customer == customer]
        seen = [one.report for one in mine if one.word == "yes"]
        refused = [one.report for one in mine if one.word.startswith(REFUSED)]
        words = f"{len(seen)} of {len(mine)} reports answer"
        if not refused:
            yield Finding(f"rights of {customer}", Grade.WELL, words)
            continue
        grade, remedy = Grade.ODD, "ask for the rights, or leave the reports out: BROKERBI_REPORTS="
        remedy += ",".join(f"-{name}" for name in refused) if len(refused) < len(seen) else ",".join(seen)
        if not seen:
            grade, remedy = Grade.WRONG, "check the customer id and the login's rights"
        yield Finding(f"rights of {customer}", grade, f"{words}; refused: {', '.join(refused)}", remedy)


def _clock(late_by: timedelta | None) -> Finding:
    if late_by is None:
        return Finding("clock", Grade.WELL, "the service does not tell its time")
    apart = abs(late_by)
    way = "ahead of" if late_by > timedelta() else "behind"
    words = f"ours is {apart.total_seconds():.0f} s {way} the service's"
    remedy = "let both keep time over the network: days, months and retries are counted by the clock"
    if apart <= NEAR:
        return Finding("clock", Grade.WELL, words)
    return Finding("clock", Grade.WRONG if apart > FAR else Grade.ODD, words, remedy)


def smallest(report: Report, customer: str, first: date) -> Request:
    """The cheapest legal question: one day of this month, one row a page."""
    question = request(report, customer, Span(first, first))
    return question.with_query(pageIndex="0", pageSize="1") if report.paged else question
