"""Retry policy: exponential backoff with full jitter, bounded in tries and in total time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random

ONE_DAY = 86_400.0  # a Retry-After beyond it is taken for a mistake of the service's clock


@dataclass(frozen=True)
class RetryPolicy:
    """How often and for how long one request is repeated.

    At most `tries` requests are sent (always one), and none is planned to begin more than `total_seconds`
    after the first.
    """

    tries: int = 5
    total_seconds: float = 300.0
    first_delay: float = 1.0
    longest_delay: float = 60.0
    random: Random = field(default_factory=Random, repr=False, compare=False)

    def delay(self, tried: int, elapsed: float, retry_after: float | None) -> float | None:
        """Seconds to wait after n tries, or None when it is time to give up.

        Never shorter than the service's `retry_after`; if that exceeds the total, the request gives up.
        """
        if tried >= self.tries:
            return None
        ceiling = min(self.longest_delay, self.first_delay * 2.0 ** (tried - 1))
        seconds = max(self.random.uniform(0, ceiling), retry_after or 0.0)
        return seconds if elapsed + seconds <= self.total_seconds else None


def retry_after_seconds(header: str | None, now: datetime) -> float | None:
    """The seconds of a Retry-After header, written as seconds or as an HTTP date; None if it is invalid."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        seconds = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now).total_seconds()
    return seconds if math.isfinite(seconds) and 0 <= seconds <= ONE_DAY else None
