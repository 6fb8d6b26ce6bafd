"""Clocks, which callers pass in, so that no test sleeps."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Protocol
from zoneinfo import ZoneInfo


class Clock(Protocol):
    """The current time, seconds that never go back, and a function that waits."""

    def utc_now(self) -> datetime:
        """The current time, as an aware datetime in UTC."""

    def monotonic(self) -> float:
        """Seconds that never go back; only the difference between two readings has a meaning."""

    async def sleep(self, seconds: float) -> None:
        """Wait this long, letting other tasks run meanwhile."""


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The clock of this machine; its monotonic seconds are the same in every process on it."""

    def utc_now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(frozen=True)
class RehearsalClock:
    """The real time of day on the day `today`; a rehearsal dates its loads and denials by this clock."""

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
