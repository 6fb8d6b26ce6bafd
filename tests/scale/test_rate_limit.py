"""What is true of the pace of a data directory is true of the one over hosts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from itertools import cycle

import pytest
from pydantic import SecretStr

from pipelines.clock import SystemClock
from pipelines.connect.database_pace import DatabasePace
from pipelines.connect.rate_limit import Pace
from pipelines.coordination import Database
from tests.unit.connect import test_rate_limit as claims
from tests.unit.connect.test_rate_limit import Shared

globals().update({name: claim for name, claim in vars(claims).items() if name.startswith("test_")})


@pytest.fixture
async def shared(database: Callable[..., SecretStr]) -> AsyncIterator[Shared]:
    """Makes one end of a pace, each in a session of another time zone."""
    made: list[Pace] = []
    timezones = cycle(["UTC", "Asia/Tokyo", "America/Los_Angeles"])

    def pace(concurrency: int, requests_per_second: float, lease: float = 60.0) -> Pace:
        clock = SystemClock()
        connection = Database(database(next(timezones)), clock, patience=5)
        most = (concurrency, requests_per_second)
        made.append(DatabasePace(connection, "https://service.test", *most, clock=clock, lease=lease))
        return made[-1]

    yield pace
    for one in made:
        await one.aclose()
