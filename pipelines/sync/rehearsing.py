"""Which moment is it said to be? The real one, or the same time of a day that is rehearsed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipelines.connect.clock import Clock

if TYPE_CHECKING:
    from pipelines.settings.model import Settings


@dataclass(frozen=True)
class RehearsalClock:
    """The real clock on another day: what is loaded and refused in a rehearsal is so on that day."""

    real: Clock
    today: date
    timezone: ZoneInfo

    def utc_now(self) -> datetime:
        local = self.real.utc_now().astimezone(self.timezone)
        return datetime.combine(self.today, local.time(), tzinfo=self.timezone).astimezone(UTC)

    def monotonic(self) -> float:
        return self.real.monotonic()

    async def sleep(self, seconds: float) -> None:
        await self.real.sleep(seconds)


def clock_of(settings: Settings, real: Clock) -> Clock:
    """The clock that the settings ask for: BROKERBI_TODAY makes it a rehearsal."""
    if settings.today is None:
        return real
    return RehearsalClock(real, settings.today, ZoneInfo(settings.timezone))
