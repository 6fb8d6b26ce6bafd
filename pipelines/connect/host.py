"""How is the host doing? What all clients of one run have seen of it, and when that is enough."""

from __future__ import annotations

from collections import deque

from pipelines.connect.errors import ConnectError, HostDown, Unreachable
from pipelines.connect.exchange import Request
from pipelines.connect.pace import Pace
from pipelines.connect.refusals import Refusals

LATEST_TRIES = 20
NOBODY_THERE = 3
FEWEST_PAIRS = 3
FORBIDDEN = 403
DOOR_IS_OPEN = frozenset({200, 400})  # who is told that a question is wrong may ask another one


class Host:
    """One for each run; its clients share it, whatever their logins.

    When half of the latest tries failed or were forbidden, everybody slows down. The run is over, and
    nothing more is asked, when `enough` requests in a row failed in all their tries, for at least
    three pairs of customer and report (one that always fails proves nothing against the host), when
    three in a row found nobody to connect to, or when nothing is answered but 403, report after report.
    """

    def __init__(self, pace: Pace, refusals: Refusals | None = None, *, enough: int = 10) -> None:
        self.refusals = refusals or Refusals()
        self.verdict = ""
        self._pace = pace
        self._enough = enough
        self._latest: deque[bool] = deque(maxlen=LATEST_TRIES)
        self._in_a_row: list[ConnectError] = []

    def check(self, request: Request) -> None:
        """Refuse to ask anything once the verdict has fallen."""
        if self.verdict:
            raise HostDown(f"{self.verdict} Not asked: {request}.", request=request)

    def note_try(self, request: Request, status: int | None, *, struggling: bool) -> None:
        """Remember one try; an answer of whatever kind shows that the host is alive."""
        self._latest.append(struggling or status == FORBIDDEN)
        if len(self._latest) == LATEST_TRIES and sum(self._latest) * 2 >= LATEST_TRIES:
            self._latest.clear()
            self._pace.slow_down()
        if struggling:
            return
        self._in_a_row.clear()
        if status in DOOR_IS_OPEN or status == FORBIDDEN:
            self.refusals.note(request.customer, request.report, refused=status == FORBIDDEN)
        if status == FORBIDDEN and self.refusals.is_mass_refusal():
            self._pace.slow_down()
            self._conclude(
                "The service refuses every report with 403, customer after customer, so this run asks no "
                "more, lest it blocks us. "
                "Ask the service's support what has become of the rights; `brokerbi doctor` shows what "
                "is left of them."
            )

    def note_exhausted(self, error: ConnectError) -> None:
        """Remember a request that failed in all its tries."""
        self._in_a_row.append(error)
        pairs = {(each.request.customer, each.request.report) for each in self._in_a_row}
        nobody = all(isinstance(each, Unreachable) for each in self._in_a_row)
        if nobody and len(self._in_a_row) >= NOBODY_THERE:
            self._conclude(f"Nobody answers at the address of the service. {error}")
        elif len(self._in_a_row) >= self._enough and len(pairs) >= FEWEST_PAIRS:
            self._pace.slow_down()
            self._conclude(
                f"The service failed {len(self._in_a_row)} requests in a row, each in all its tries, "
                f"so this run asks no more; run again later. {error}"
            )

    def _conclude(self, verdict: str) -> None:
        self.verdict = self.verdict or verdict
