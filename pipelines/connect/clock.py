"""The clock that is passed in, so that no test sleeps."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """The time of day, a clock that never goes back, and a way to wait."""

    def utc_now(self) -> datetime:
        """The instant, with its time zone UTC."""

    def monotonic(self) -> float:
        """Seconds that never go back; only differences mean something."""

    async def sleep(self, seconds: float) -> None:
        """Wait so long, letting others work meanwhile."""


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The clock of this machine; its monotonic seconds are the same in every process on it."""

    def utc_now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
