"""Diagnosis of an installation: settings, disk, files, Dagster, logins, rights and clock, with remedies."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.connect.circuit_breaker import CircuitBreaker
from pipelines.connect.errors import (
    LOGIN_REFUSED,
    ConnectError,
    Forbidden,
    HostDown,
    Unauthorized,
    correct,
)
from pipelines.connect.models import Login
from pipelines.connect.service_clock import LARGE_DIFFERENCE, late_by
from pipelines.diagnosis.installation import (
    SEE_SENTENCE,
    Finding,
    daemon_findings,
    dagster_findings,
    disk_findings,
    file_findings,
    lock_finding,
    settings_findings,
    state_findings,
    working_file_findings,
)
from pipelines.months import Month
from pipelines.normalize.document import read_document
from pipelines.planning.selection import Selection, chosen_reports
from pipelines.planning.windows import Question, Span, build_request
from pipelines.sync.causes import PASSING
from pipelines.sync.logins import login_states
from pipelines.sync.request_log import RequestLogger
from pipelines.sync.run_context import RunContext, login_of, refused_logins_of
from pipelines.sync.window.paging import SMALLEST_PAGE, UNPAGED
from warehouse.errors import WarehouseError
from warehouse.ledger.conditions import Severity
from warehouse.ledger.ledger import Cap, Ledger, add_requests, allow, ledger_of
from warehouse.ledger.status import unwritable
from warehouse.store.database import Store

if TYPE_CHECKING:
    from pipelines.connect.client import Client
    from pipelines.settings.messages import SettingsError
    from pipelines.settings.model import Customer, Settings

CHECKOUT = Path(__file__).resolve().parents[2]
ANSWERED, REFUSED = "yes", "403"
SMALL_DIFFERENCE = timedelta(minutes=5)
MOST_TRIES, LONGEST_RETRIES = 2, 20.0
"""Of one request, and the seconds after which none is repeated: somebody waits for what is found."""
FEWEST_UNANSWERED = 3
"""So many requests without any answer say that the service is down, once the wait for them was long."""
Refusal = tuple["Customer", str, str]
"""Of a login: the customer and the path that were asked for, and what was said."""


@dataclass(frozen=True)
class Access:
    """What became of one small request for a report of a customer, in a word or two."""

    report: str
    customer: str
    word: str


def examine(
    settings: Settings,
    context: RunContext,
    *,
    environment: Mapping[str, str],
    ask: bool = True,
    on_access: Callable[[Access], None] = lambda _: None,
    refusal: SettingsError | None = None,
) -> Iterator[Finding]:
    """Look at everything; `ask` makes one cheapest legal request per customer and report.

    What was refused before is asked anew. An answer opens a report again for the next sync; a refusal closes
    none: the smallest question is not the one that a sync asks. `environment` is where Dagster is told its
    home, `refusal` why a sync would not accept these settings. Raises SettingsError for a report that nobody
    knows.
    """
    reports = chosen_reports(settings, Selection(), context.catalogue)
    told: set[Path] = set()
    for one in _examine(settings, context, environment, on_access, reports, refusal, ask=ask):
        if one.unusable not in told:
            yield one
        if one.unusable:
            told.add(one.unusable)


def _examine(
    settings: Settings,
    context: RunContext,
    environment: Mapping[str, str],
    on_access: Callable[[Access], None],
    reports: Sequence[Report],
    refusal: SettingsError | None,
    *,
    ask: bool,
) -> Iterator[Finding]:
    data_dir = settings.data_dir
    yield from settings_findings(settings)
    yield from disk_findings(data_dir)
    yield lock_finding(data_dir)
    yield from working_file_findings(settings)
    yield from file_findings(data_dir)
    yield from dagster_findings(environment, None if settings.shard else CHECKOUT / "dagster.yaml")
    yield from daemon_findings(data_dir, environment)
    if ask and (closed := unwritable(data_dir)):
        found = f"not asked, as {closed[0]} cannot be written, where processes share its pace"
        yield Finding("service", Severity.WARNING, found)
        ask = False
    if ask:
        survey = AccessSurvey(settings, context, on_access)
        yield from asyncio.run(survey.run())
    else:
        yield from _remembered_refusals(settings, reports)
    yield from state_findings(settings, context.clock, refusal)  # an answer may have given a right back


@dataclass
class AccessSurvey:
    """What the service lets every login see: one smallest request per customer and report, and its clock."""

    settings: Settings
    context: RunContext
    on_access: Callable[[Access], None]
    access: list[Access] = field(default_factory=list)
    login_findings: list[Finding] = field(default_factory=list)
    report_findings: list[Finding] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    late_by: timedelta | None = None  # how far our clock is ahead of the service's

    async def run(self) -> list[Finding]:
        settings, clock = self.settings, self.context.clock
        store, today = Store(settings.data_dir), settings.today_local(clock)
        with suppress(WarehouseError):  # which is a finding already
            self.ledger = ledger_of(store)
        reports = chosen_reports(settings, Selection(), self.context.catalogue)
        asked = [report for report in reports if not report.endpoint.each]
        if await self._ask_all(asked, Month.of(today).first_day):
            self._forget_refusals(store)
            self.login_findings += _tried_again_by_sync(settings, asked, reports)
        clock_finding = _clock_finding(self.late_by)
        return [*self.login_findings, *_rights(self.access), *self.report_findings, clock_finding]

    async def _ask_all(self, reports: Sequence[Report], first: date) -> bool:
        """Ask for all customers; False when the service is down. A wrong login is told once, for all."""
        settings = self.settings
        log, began = RequestLogger(settings.data_dir, "doctor", self.context.clock), self._seconds
        wrong: defaultdict[Login, list[Refusal]] = defaultdict(list)
        async with self.context.rate_limit(settings) as rate_limit, AsyncExitStack() as stack:
            clients = self.context.open_clients(
                _with_few_tries(settings),
                settings.active_customers,
                rate_limit,
                CircuitBreaker(rate_limit),
                stack,
                log.record,
                try_refused=True,
            )
            stack.callback(self._count_requests, Store(settings.data_dir), log)
            for customer in settings.active_customers:
                for report in reports:
                    client = clients(customer.id, report.endpoint.path)
                    try:
                        word = await self._ask(client, report, customer.id, first)
                    except Unauthorized as error:  # no other report is asked with that login
                        wrong[client.login].append((customer, report.endpoint.path, error.found))
                        continue
                    except HostDown as error:
                        return self._note_down(error.found, error.remedy)
                    self.access.append(Access(report.name, customer.id, word))
                    self.on_access(self.access[-1])
                    if self._is_down(len(reports), self._seconds - began):
                        last = self.report_findings[-1]
                        why = f"none of {len(self.access)} reports answers. {last.found}"
                        return self._note_down(why, last.remedy)
        self.login_findings += [_wrong_login(settings, several) for several in wrong.values()]
        return True

    @property
    def _seconds(self) -> float:
        return self.context.clock.monotonic()

    def _is_down(self, reports: int, seconds: float) -> bool:
        """Whether nothing at all was answered: all `reports` of a customer, or some for long."""
        enough = FEWEST_UNANSWERED if seconds > LONGEST_RETRIES else max(FEWEST_UNANSWERED, reports)
        return len(self.access) >= enough and all(one.word in PASSING for one in self.access)

    def _note_down(self, why: str, remedy: str) -> bool:
        self.login_findings.append(Finding("service", Severity.ERROR, why, remedy))
        self.report_findings.clear()  # they say the same, each of one request
        return False

    async def _ask(self, client: Client, report: Report, customer: str, first: date) -> str:
        """The cheapest legal request, for one day of this month, and its outcome in a word.

        Of a paged report that is a page of the fewest rows that a sync tries. Raises Unauthorized and
        HostDown, after which there is no point in asking more.
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
            answer, _ = await client.get(question, read_document)
        except (Unauthorized, HostDown):
            raise
        except Forbidden:
            return REFUSED
        except ConnectError as error:
            self.report_findings.append(
                Finding(f"{report.name} of {customer}", Severity.ERROR, error.found, error.remedy)
            )
            return type(error).__name__
        if self.late_by is None:
            self.late_by = late_by(answer, self.context.clock.utc_now())
        return ANSWERED

    def _forget_refusals(self, store: Store) -> None:
        """Let the ledger know what is answered now, so that the next sync asks for it."""
        try:
            with store.writing() as connection:
                for one in self.access:
                    if one.word == ANSWERED:
                        allow(connection, one.report, one.customer)
        except WarehouseError as error:
            self._note_unwritten(error)

    def _count_requests(self, store: Store, log: RequestLogger) -> None:
        """Add what was asked to the ledger's count of requests."""
        try:
            with store.writing() as connection:
                add_requests(connection, log.counts)
        except WarehouseError as error:
            self._note_unwritten(error)

    def _note_unwritten(self, error: WarehouseError) -> None:
        """What the service said is told all the same, as on a full disk."""
        path = Store(self.settings.data_dir).path
        self.report_findings.append(Finding("ledger", Severity.WARNING, str(error), SEE_SENTENCE, path))


def _with_few_tries(settings: Settings) -> Settings:
    tries = min(settings.tries, MOST_TRIES)
    seconds = min(settings.retry_seconds, LONGEST_RETRIES)
    return settings.model_copy(update={"tries": tries, "retry_seconds": seconds})


def _remembered_refusals(settings: Settings, reports: Iterable[Report]) -> Iterator[Finding]:
    """The logins that the service refused when they were last used, without using them."""
    for several in _refused(settings, reports, LOGIN_REFUSED).values():
        yield _wrong_login(settings, several)


def _refused(settings: Settings, reports: Iterable[Report], found: str) -> Mapping[Login, Sequence[Refusal]]:
    """The logins that are remembered as refused, as far as these reports are asked with them."""
    refused: defaultdict[Login, list[Refusal]] = defaultdict(list)
    is_refused, paths = login_states(settings), {one.name: one.endpoint.path for one in reports}
    for customer in settings.active_customers:
        for name, path in paths.items():
            if is_refused(customer.id, name):
                refused[login_of(settings, customer, path)].append((customer, path, found))
    return refused


def _tried_again_by_sync(
    settings: Settings, asked: Iterable[Report], reports: Iterable[Report]
) -> Iterator[Finding]:
    """Refused logins for nothing but what is asked by id, which has no smallest question."""
    found = "the service refused it (401); nothing is asked with it here, so the next sync tries it once more"
    tried = _refused(settings, asked, found)
    for login, several in _refused(settings, reports, found).items():
        if login not in tried:
            refused_logins_of(settings).forget(login)
            yield replace(_wrong_login(settings, several), severity=Severity.WARNING)


def _wrong_login(settings: Settings, refusals: Sequence[Refusal]) -> Finding:
    customer, path, found = refusals[0]
    whose = ", ".join(dict.fromkeys(one.id for one, _, _ in refusals))
    file = settings.login_entry(customer, path)[0].password_file
    where = f" (its password is in {file})" if file else ""
    remedy = correct(login_of(settings, customer, path))
    return Finding(f"login of {whose}", Severity.ERROR, f"{found}{where}", remedy)


def _rights(access: Sequence[Access]) -> Iterator[Finding]:
    """What each customer's login may read; reports can only be left out for all customers at once."""
    useful = {one.report for one in access if one.word != REFUSED}
    for customer in dict.fromkeys(one.customer for one in access):
        words = {one.report: one.word for one in access if one.customer == customer}
        seen = [report for report, word in words.items() if word == ANSWERED]
        refused = [report for report, word in words.items() if word == REFUSED]
        found = f"{len(seen)} of {len(words)} reports answer"
        if not refused:
            if len(seen) == len(words):  # else each failure is a finding, and says nothing of rights
                yield Finding(f"rights of {customer}", Severity.WELL, found)
            continue
        severity, remedy = Severity.WARNING, "ask the service's support for the rights"
        if useful.isdisjoint(refused):
            remedy += ", or leave the reports out: BROKERBI_REPORTS="
            remedy += ",".join(f"-{name}" for name in refused) if len(refused) < len(seen) else ",".join(seen)
        if len(refused) == len(words) > 1:
            severity, remedy = Severity.ERROR, "check the customer id and the login's rights"
        found += f"; refused: {', '.join(refused)}"
        yield Finding(f"rights of {customer}", severity, found, remedy)


def _clock_finding(late_by: timedelta | None) -> Finding:
    if late_by is None:
        return Finding("clock", Severity.WELL, "the service does not tell its time")
    difference = abs(late_by)
    direction = "ahead of" if late_by > timedelta() else "behind"
    found = f"ours is {difference.total_seconds():.0f} s {direction} the service's"
    if difference <= SMALL_DIFFERENCE:
        return Finding("clock", Severity.WELL, found)
    remedy = "let both keep time over the network: days, months and retries are counted by the clock"
    severity = Severity.ERROR if difference >= LARGE_DIFFERENCE else Severity.WARNING
    return Finding("clock", severity, found, remedy)
