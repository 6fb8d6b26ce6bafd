"""Diagnosis of an installation: settings, disk, files, Dagster, logins, access and clock, with remedies."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipelines.catalogue.model import Report
from pipelines.connect.errors import ConnectError, Forbidden, HostDown, Unauthorized
from pipelines.connect.models import Login
from pipelines.diagnosis.installation import SEE_SENTENCE, Finding, local_findings, state_findings
from pipelines.months import Month
from pipelines.normalize.document import read_document
from pipelines.planning.selection import Selection, chosen_reports
from pipelines.planning.windows import Question, Span
from pipelines.sync.request_log import RequestLogger
from pipelines.sync.run_context import Clients, RunContext
from pipelines.sync.window.paging import SMALLEST_PAGE, UNPAGED
from pipelines.sync.window.request import build_request
from pipelines.words import duration
from warehouse.errors import WarehouseError
from warehouse.ledger.conditions import Severity
from warehouse.ledger.ledger import Cap, Ledger, add_requests, allow, deny, ledger_of
from warehouse.ledger.status import unwritable
from warehouse.store.database import Store

if TYPE_CHECKING:
    from pipelines.connect.client import Client
    from pipelines.settings.messages import SettingsError
    from pipelines.settings.model import Customer, Settings

CHECKOUT = Path(__file__).resolve().parents[2]
ANSWERED, REFUSED = "yes", "403"
SMALL_DIFFERENCE, LARGE_DIFFERENCE = timedelta(minutes=5), timedelta(hours=1)
MOST_TRIES, LONGEST_RETRIES = 2, 20.0
"""Of one request, and the seconds after which none is repeated: the operator waits for the findings."""
MOST_UNANSWERED = 10
Refusal = tuple["Customer", str, Unauthorized]
"""Of a login: the customer and the path that were requested, and the error."""


@dataclass(frozen=True)
class Access:
    """How one small request for a report of a customer ended, in a word or two."""

    report: str
    customer: str
    word: str


def examine(
    settings: Settings,
    context: RunContext,
    *,
    environment: Mapping[str, str],
    ask: bool = True,
    refusal: SettingsError | None = None,
) -> Iterator[Finding]:
    """Look at everything; `ask` makes one cheapest legal request per customer and report.

    As in a sync, a report that was denied is not requested again on the same day. `environment` is where
    Dagster finds its home, `refusal` why a sync would not accept these settings. Raises SettingsError
    for an unknown report.
    """
    reports = chosen_reports(settings, Selection(), context.catalogue)
    yield from local_findings(settings, environment, None if settings.shard else CHECKOUT / "dagster.yaml")
    if ask and (closed := unwritable(settings.data_dir)):
        found = f"not checked, as {closed[0]} cannot be written"
        yield Finding("service", Severity.WARNING, found)
    elif ask:
        number = len(reports) * len(settings.active_customers)
        seconds = duration(number / settings.requests_per_second)
        yield Finding("service", Severity.WELL, f"asked with at most {number} requests, about {seconds}")
        yield from asyncio.run(_Survey(settings, context).run(reports))
    yield from state_findings(settings, context.clock, refusal)  # an answer may have given access back


@dataclass
class _Survey:
    """What the service lets every login see: one smallest request per customer and report, and its clock."""

    settings: Settings
    context: RunContext
    access: list[Access] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)  # of single reports
    ledger: Ledger = field(default_factory=Ledger)
    late_by: timedelta | None = None  # how far our clock is ahead of the service's

    async def run(self, reports: Sequence[Report]) -> list[Finding]:
        store = Store(self.settings.data_dir)
        is_readable = True
        try:
            self.ledger = ledger_of(store)
        except WarehouseError:  # which is a finding already
            is_readable = False
        asked = [report for report in reports if not report.endpoint.each]
        try:
            few_tries = {"retry_seconds": min(self.settings.retry_seconds, LONGEST_RETRIES)}
            settings = self.settings.model_copy(update=few_tries)
            async with self.context.open_session(settings, "doctor") as session:
                session.breaker.reports = len(asked)
                session.breaker.enough = min(len(asked), MOST_UNANSWERED)
                logins = await self._ask_all(asked, session.clients)
        except HostDown as error:
            logins = [Finding("service", Severity.ERROR, error.found, error.remedy)]
            self.findings.clear()  # each says the same of one request
            self.access.clear()
        if is_readable:
            self._write(store, session.log)
        return [*logins, *rights(self.access), *self.findings, _clock_finding(self.late_by)]

    async def _ask_all(self, reports: Sequence[Report], clients: Clients) -> list[Finding]:
        """Request all reports of all customers; the logins that were denied, each once.

        Raises HostDown if the service is down or denies everything.
        """
        settings = self.settings
        first = Month.of(settings.today_local(self.context.clock)).first_day
        wrong: defaultdict[Login, list[Refusal]] = defaultdict(list)
        for customer in settings.active_customers:
            for report in reports:
                client = clients(customer.id, report.endpoint.path)
                try:
                    is_resting = self._was_denied_today(report.name, customer.id)
                    word = REFUSED if is_resting else await self._ask(client, report, customer.id, first)
                except Unauthorized as error:  # no other report is requested with that login
                    wrong[client.login].append((customer, report.endpoint.path, error))
                    continue
                self.access.append(Access(report.name, customer.id, word))
        return [_wrong_login(settings, refusals) for refusals in wrong.values()]

    async def _ask(self, client: Client, report: Report, customer: str, first: date) -> str:
        """The cheapest legal request, for one day of this month, and its outcome in a word.

        Of a paged report that is a page of the fewest rows that a sync tries. Raises Unauthorized and
        HostDown, after which there is no point in another request.
        """
        first_question = Question(choice=report.endpoint.questions[0])
        is_paged = report.endpoint.paged and (
            (self.ledger.caps.get((report.name, customer)) or Cap()).page_size != UNPAGED
        )
        question = build_request(report, customer, Span(first, first), first_question, paged=is_paged)
        if is_paged:
            rows = min(self.settings.page_size, SMALLEST_PAGE)
            question = question.with_query(pageIndex="0", pageSize=str(rows))
        try:
            answer, _ = await client.get(question, read_document, tries=MOST_TRIES)
        except (Unauthorized, HostDown):
            raise
        except Forbidden:
            return REFUSED
        except ConnectError as error:
            subject = f"{report.name} of {customer}"
            self.findings.append(Finding(subject, Severity.ERROR, error.found, error.remedy))
            return type(error).__name__
        if self.late_by is None:
            with suppress(ValueError, OverflowError):  # without a date
                sent = parsedate_to_datetime(answer.headers.get("date", "")).astimezone(UTC)
                self.late_by = self.context.clock.utc_now() - sent
        return ANSWERED

    def _write(self, store: Store, log: RequestLogger) -> None:
        """Count the requests in the ledger, and let it know which reports are answered now."""
        try:
            with store.writing() as connection:
                add_requests(connection, log.counts)
                for access in self.access:
                    pair = (access.report, access.customer)
                    if access.word == ANSWERED:
                        allow(connection, *pair)
                    elif access.word == REFUSED and not self._was_denied_today(*pair):
                        deny(connection, *pair, self.context.clock.utc_now())
        except WarehouseError as error:  # as on a full disk
            self.findings.append(Finding("ledger", Severity.WARNING, str(error), SEE_SENTENCE))

    def _was_denied_today(self, report: str, customer: str) -> bool:
        denied = self.ledger.denied.get((report, customer))
        zone, now = ZoneInfo(self.settings.timezone), self.context.clock.utc_now()
        return denied is not None and denied.astimezone(zone).date() == now.astimezone(zone).date()


def _wrong_login(settings: Settings, refusals: Sequence[Refusal]) -> Finding:
    customer, path, error = refusals[0]
    whose = ", ".join(dict.fromkeys(customer.id for customer, _, _ in refusals))
    file = settings.login_entry(customer, path)[0].password_file
    where = f" (its password is in {file})" if file else ""
    return Finding(f"login of {whose}", Severity.ERROR, f"{error.found}{where}", error.remedy)


def rights(access: Sequence[Access]) -> Iterator[Finding]:
    """What each customer's login may read; reports can only be left out for all customers at once."""
    useful = {found.report for found in access if found.word != REFUSED}
    for customer in dict.fromkeys(found.customer for found in access):
        words = {found.report: found.word for found in access if found.customer == customer}
        seen = [report for report, word in words.items() if word == ANSWERED]
        refused = [report for report, word in words.items() if word == REFUSED]
        answers = f"{len(seen)} of {len(words)} reports answer"
        if not refused:
            if len(seen) == len(words):  # else each failure is a finding, and says nothing of rights
                yield Finding(f"access of {customer}", Severity.WELL, answers)
            continue
        severity, remedy = Severity.WARNING, "ask the service's support for access"
        if useful.isdisjoint(refused):
            remedy += ", or leave the reports out: BROKERBI_REPORTS="
            remedy += ",".join(f"-{name}" for name in refused) if len(refused) < len(seen) else ",".join(seen)
        if len(refused) == len(words) > 1:
            severity, remedy = Severity.ERROR, "check the customer id and the access of the login"
        yield Finding(f"access of {customer}", severity, f"{answers}; denied: {', '.join(refused)}", remedy)


def _clock_finding(late_by: timedelta | None) -> Finding:
    if late_by is None:
        return Finding("clock", Severity.WELL, "the service does not state its time")
    difference = abs(late_by)
    direction = "ahead of" if late_by > timedelta() else "behind"
    found = f"ours is {difference.total_seconds():.0f} s {direction} the service's"
    if difference <= SMALL_DIFFERENCE:
        return Finding("clock", Severity.WELL, found)
    remedy = "let both keep time over the network: days, months and retries are counted by the clock"
    severity = Severity.ERROR if difference >= LARGE_DIFFERENCE else Severity.WARNING
    return Finding("clock", severity, found, remedy)
