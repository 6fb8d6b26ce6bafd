"""Circuit breaker: slows a run down if many requests fail or are denied, and stops it if too many do."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from pipelines.connect.errors import AllDenied, CircuitOpen, ConnectError, HostDown, Unreachable
from pipelines.connect.models import Request, Try
from pipelines.connect.pace import RateLimit

LATEST_TRIES = 20
UNREACHABLE_IN_A_ROW = 3
MIN_PAIRS = 3  # pairs of a report and a customer; a single pair may fail for a reason of its own
FORBIDDEN = 403
STATUSES_WITH_ACCESS = frozenset({200, 204, 400})  # even a rejected request (400) shows access
MIN_CUSTOMERS = 3
MIN_DENIALS = 6


@dataclass
class CircuitBreaker:
    """The circuit breaker that all clients of a run share.

    It halves the rate limit if at least half of the latest 20 tries failed or were denied. It sets
    `stop_error`, which ends the run, in three cases:
    - At least three requests in a row failed, all of them because no connection could be made.
    - At least `max_failures` requests in a row failed in all their tries. They belong to at least three
      reports, or to every report of a run with fewer, and to at least three pairs of a report and a customer.
    - Each report and each customer of the run was denied (403), and no request showed access (200, 204 or
      400). There are at least three customers and six pairs of a report and a customer.
    In the first two cases, counting restarts when any request gets an answer that is not retried.
    """

    rate_limit: RateLimit
    report_count: int = MIN_PAIRS
    customer_count: int = MIN_CUSTOMERS
    max_failures: int = 10
    stop_error: CircuitOpen | None = None
    _latest_failures: deque[bool] = field(default_factory=lambda: deque(maxlen=LATEST_TRIES))
    _errors_in_a_row: list[ConnectError] = field(default_factory=list)
    _denied: set[tuple[str, str]] = field(default_factory=set)
    _has_access: bool = False

    def check(self, request: Request) -> None:
        """If `stop_error` is set, raise it for this request."""
        if error := self.stop_error:
            raise type(error)(error.issue, error.remedy, request=request, last_try=error.last_try)

    def note_try(self, attempt: Try) -> None:
        is_denied = attempt.status == FORBIDDEN
        self._latest_failures.append(attempt.is_retryable or is_denied)
        if len(self._latest_failures) == LATEST_TRIES and sum(self._latest_failures) * 2 >= LATEST_TRIES:
            self._latest_failures.clear()
            self.rate_limit.slow_down()
        if attempt.is_retryable:
            return
        self._errors_in_a_row.clear()
        if is_denied:
            self._denied.add((attempt.request.customer, attempt.request.report))
        elif attempt.status in STATUSES_WITH_ACCESS:
            self._has_access = True
        if is_denied and self._is_mass_denial():
            self._give_up(
                AllDenied(
                    "The service denies access to every report (403), customer after customer, so this run "
                    "stops before the service blocks the login.",
                    "Ask the service's support what changed in the access of the login.",
                    request=attempt.request,
                )
            )

    def note_exhausted(self, error: ConnectError) -> None:
        """Record a request that failed in all its tries."""
        errors = self._errors_in_a_row
        errors.append(error)
        pairs = {(item.request.customer, item.request.report) for item in errors}
        reports = {report for _, report in pairs}
        if len(errors) >= UNREACHABLE_IN_A_ROW and all(isinstance(item, Unreachable) for item in errors):
            issue = "No server answers at BROKERBI_BASE_URL."
        elif (
            len(errors) >= self.max_failures
            and len(pairs) >= MIN_PAIRS
            and len(reports) >= min(MIN_PAIRS, self.report_count)
        ):
            issue = f"{len(errors)} requests in a row failed, each in all its tries, so this run stops."
        else:
            return
        issue = f"{issue} {error.issue}"
        self._give_up(HostDown(issue, error.remedy, request=error.request, last_try=error.last_try))

    def _is_mass_denial(self) -> bool:
        # Fewer denials may come from a single missing access right.
        customers, reports = ({pair[index] for pair in self._denied} for index in (0, 1))
        return (
            not self._has_access
            and len(customers) >= max(MIN_CUSTOMERS, self.customer_count)
            and len(reports) >= self.report_count
            and len(self._denied) >= MIN_DENIALS
        )

    def _give_up(self, error: CircuitOpen) -> None:
        self.rate_limit.slow_down()
        self.stop_error = self.stop_error or error
