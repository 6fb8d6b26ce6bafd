"""When is it worth asking again, and how long after? Exponential, jittered, and bounded."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random

ONE_DAY = 86_400.0  # a Retry-After beyond it is taken for a mistake of the service's clock


@dataclass(frozen=True)
class Retrying:
    """How patiently one request is repeated.

    The bound: at most `tries` requests, and none is planned to begin more than `total_seconds` after
    the first one began.
    """

    tries: int = 5
    total_seconds: float = 300.0
    first_delay: float = 1.0
    longest_delay: float = 60.0
    random: Random = field(default_factory=Random, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise ValueError(f"{self.tries} tries are none; allow at least one")

    def delay(self, tried: int, elapsed: float, wished: float | None) -> float | None:
        """Seconds to wait after so many tries, or None when it is time to give up.

        `wished` is what the service asked for in Retry-After: never less is waited, and when that
        does not fit into the total, giving up is the only way to obey.
        """
        if tried >= self.tries:
            return None
        ceiling = min(self.longest_delay, self.first_delay * 2.0 ** (tried - 1))
        seconds = max(self.random.uniform(0, ceiling), wished or 0.0)
        return seconds if elapsed + seconds <= self.total_seconds else None


def wished_delay(retry_after: str | None, now: datetime) -> float | None:
    """The seconds a Retry-After header asks for, in seconds or as an HTTP date; None when it is nonsense."""
    if retry_after is None:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        seconds = _seconds_until(retry_after, now)
    return seconds if math.isfinite(seconds) and 0 <= seconds <= ONE_DAY else None


def _seconds_until(date: str, now: datetime) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now).total_seconds()
