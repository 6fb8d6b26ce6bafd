"""The clock of the service, as the Date of its answers tells it, beside that of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from pipelines.clock import Clock
from pipelines.connect.errors import WrongClock
from pipelines.connect.models import Answer

LARGE_DIFFERENCE = timedelta(hours=1)
"""What is fetched so far from its real time is dated to another night, or to another day."""


def late_by(answer: Answer, now: datetime) -> timedelta | None:
    """How far a moment is ahead of the service's clock; None where an answer does not tell that."""
    try:
        sent = parsedate_to_datetime(answer.headers.get("date", ""))
        return now - (sent if sent.tzinfo else sent.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


@dataclass
class ClockCheck:
    """Compares the clock of this machine with the first Date that tells the service's; shared by a run.

    `error` is why nothing more is asked, once the two are too far apart.
    """

    clock: Clock
    is_over: bool = False
    error: WrongClock | None = None

    def look_at(self, answer: Answer) -> None:
        """Raise WrongClock if the two are an hour or more apart."""
        now = self.clock.utc_now()
        if self.is_over or (ahead := late_by(answer, now)) is None:
            return
        if abs(ahead) >= LARGE_DIFFERENCE:
            self.error = WrongClock(
                f"The clock of this machine says {now:%Y-%m-%d %H:%M} UTC, and the service's says "
                f"{now - ahead:%Y-%m-%d %H:%M} UTC; nothing was loaded, for it would be dated wrongly.",
                "Set the clock of this machine right, let it keep time over the network, and run the same "
                "again; if the service's is wrong, ask the service's support.",
                request=answer.request,
                answer=answer,
                tries=answer.tries,
            )
            raise self.error
        self.is_over = True
