"""Circuit breaker of one run: slows down, then stops, when the service fails or refuses too much."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipelines.connect.errors import AllRefused, ConnectError, HostDown, NotJson, Unreachable
from pipelines.connect.models import Login, Request, Try
from pipelines.connect.rate_limit import RateLimit

LATEST_TRIES = 20
UNREACHABLE_IN_A_ROW = 3
FEWEST_PAIRS = 3  # one report of one customer that always fails proves nothing against the host
FORBIDDEN = 403
HAS_ACCESS = frozenset({200, 400})  # who is told that a request is wrong may send another one
FEWEST_CUSTOMERS = 3
FEWEST_REFUSALS = 6
REPORTS_REFUSED = 3

Asking = tuple[str, Login | None]
"""A customer, and the login that it is asked for with."""


@dataclass
class CircuitBreaker:
    """One for each run; its clients share it, whatever their logins.

    When half of the latest tries failed or were forbidden, the rate limit is halved. The run is over,
    and nothing more is asked, when `enough` requests in a row failed in all their tries, for at least
    three pairs of customer and report (of three reports, or all, where each answered what is no JSON and no
    page), when three in a row found nothing to connect to, or when every
    report is refused with 403, customer after customer. `reports` is how many reports the run asks for;
    `over` is why the run is over, None until then.
    """

    rate_limit: RateLimit
    reports: int = REPORTS_REFUSED
    enough: int = 10
    over: ConnectError | None = None
    _latest: deque[bool] = field(default_factory=lambda: deque(maxlen=LATEST_TRIES))
    _exhausted_in_a_row: list[ConnectError] = field(default_factory=list)
    _refused_in_a_row: set[tuple[str, str]] = field(default_factory=set)
    _refused_reports: defaultdict[Asking, set[str]] = field(default_factory=lambda: defaultdict(set))
    _answered: set[Asking] = field(default_factory=set)
    _answered_reports: set[str] = field(default_factory=set)

    def check(self, request: Request) -> None:
        """Refuse to ask anything once the circuit is open."""
        if self.over:
            kind = type(self.over) if isinstance(self.over, HostDown) else HostDown
            raise kind(self.over.found, self.over.remedy, request=request, last_try=self.over.last_try)

    def note_try(self, one: Try, login: Login | None = None) -> None:
        """Remember one try with a login; an answer of whatever kind shows that the host is alive."""
        forbidden = one.status == FORBIDDEN
        self._latest.append(one.is_retryable or forbidden)
        if len(self._latest) == LATEST_TRIES and sum(self._latest) * 2 >= LATEST_TRIES:
            self._latest.clear()
            self.rate_limit.slow_down()
        if one.is_retryable:
            return
        self._exhausted_in_a_row.clear()
        customer, report = one.request.customer, one.request.report
        if forbidden:
            self._refused_reports[customer, login].add(report)
            self._refused_in_a_row.add((customer, report))
        elif one.status in HAS_ACCESS:
            self._answered.add((customer, login))
            self._answered_reports.add(report)
            self._refused_in_a_row.clear()
        if forbidden and self._is_mass_refusal():
            self.rate_limit.slow_down()
            self.give_up(
                AllRefused(
                    "The service refuses every report with 403, customer after customer, so this run asks "
                    "no more, lest it blocks us.",
                    "Ask the service's support what has become of the rights; `brokerbi doctor` shows what "
                    "is left of them.",
                    request=one.request,
                )
            )

    def note_exhausted(self, error: ConnectError) -> None:
        """Remember a request that failed in all its tries."""
        failed = self._exhausted_in_a_row
        failed.append(error)
        pairs = {(each.request.customer, each.request.report) for each in failed}
        if len(failed) >= UNREACHABLE_IN_A_ROW and all(isinstance(each, Unreachable) for each in failed):
            found = f"Nobody answers at the address of the service. {error.found}"
            self.give_up(Unreachable(found, error.remedy, request=error.request, last_try=error.last_try))
        elif len(failed) >= self.enough and len(pairs) >= FEWEST_PAIRS and not self._is_of_reports(failed):
            self.rate_limit.slow_down()
            found = (
                f"The service failed {len(failed)} requests in a row, each in all its tries, so this run "
                f"asks no more. {error.found}"
            )
            self.give_up(HostDown(found, error.remedy, request=error.request, last_try=error.last_try))

    def refuses_customer(self, customer: str, login: Login | None = None) -> bool:
        """Whether a login was refused three reports of a customer, also such as others get, and got none."""
        refused = self._refused_reports.get((customer, login), set())
        return (
            (customer, login) not in self._answered
            and len(refused) >= REPORTS_REFUSED
            and not refused.isdisjoint(self._answered_reports)
        )

    def _is_of_reports(self, failed: Sequence[ConnectError]) -> bool:
        """Whether all are answers that are no JSON, of so few reports that others may well be answered."""
        reports = {each.request.report for each in failed}
        return len(reports) < min(FEWEST_PAIRS, self.reports) and all(
            isinstance(each, NotJson) and not each.is_markup for each in failed
        )

    def _is_mass_refusal(self) -> bool:
        """Whether every report, of at least three customers, was refused in a row and nothing answered.

        A login may cover one report or customer and not another; neither proves anything about the rest.
        """
        customers = {customer for customer, _ in self._refused_in_a_row}
        reports = {report for _, report in self._refused_in_a_row}
        return (
            len(customers) >= FEWEST_CUSTOMERS
            and len(reports) >= self.reports
            and len(self._refused_in_a_row) >= FEWEST_REFUSALS
        )

    def give_up(self, error: ConnectError) -> None:
        """End the run with this error, unless it has ended already."""
        self.over = self.over or error
