"""The clock of the service, as the Date of its answers tells it, beside that of this machine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from pipelines.connect.models import Answer

LARGE_DIFFERENCE = timedelta(hours=1)
"""An answer that is dated this far from its real time belongs to another night."""


def late_by(answer: Answer, now: datetime) -> timedelta | None:
    """How far a moment is ahead of the service's clock; None where an answer does not tell that."""
    try:
        sent = parsedate_to_datetime(answer.headers.get("date", ""))
        return now - (sent if sent.tzinfo else sent.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None
