"""Clocks, passed as arguments so that tests need not wait."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Protocol
from zoneinfo import ZoneInfo


class Clock(Protocol):
    """A clock tells the time, measures seconds and waits."""

    def utc_now(self) -> datetime:
        """The current time, as an aware datetime in UTC."""

    def monotonic(self) -> float:
        """Seconds that never go back; only the difference between two readings means anything."""

    async def sleep(self, seconds: float) -> None:
        """Wait this long; other tasks run meanwhile."""


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The clock of this machine."""

    def utc_now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(frozen=True)
class RehearsalClock:
    """The clock if BROKERBI_TODAY is set: the real time of day, but the date is always `today`."""

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
