"""Pace of a login over hosts: slots and moments in PostgreSQL, by the clock of its server alone."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from hashlib import sha256

from pipelines.clock import Clock
from pipelines.connect.rate_limit import (
    AFTER_A_TRY,
    AHEAD,
    HALVED_ONCE_IN,
    HEAD_SECONDS,
    LATEST,
    LONGEST_LEASE,
    MOST_HALVINGS,
    RECOVERS_AFTER,
    WIDER,
    Grant,
)
from pipelines.coordination import CoordinationError, Database

NOW = "clock_timestamp()"
HALVED = f"""
CASE WHEN slowed_at <= {NOW} THEN
    greatest(0, least(
        {MOST_HALVINGS}, halvings - floor(extract(epoch FROM {NOW} - slowed_at) / {RECOVERS_AFTER})
    ))::integer
ELSE 0 END
"""
IS_OF_NOW = f"granted_at <= {NOW} + {2 * AHEAD} * interval '1 second'"
"""A moment further ahead than any is granted was written before the server's clock was set back."""
KNOWN = """
WITH paced AS (INSERT INTO brokerbi.pace (login) VALUES (%(login)s) ON CONFLICT DO NOTHING)
INSERT INTO brokerbi.slot (login, number)
SELECT %(login)s, number FROM generate_series(0, %(concurrency)s - 1) AS number
ON CONFLICT DO NOTHING RETURNING number
"""
TAKE_SLOT = f"""
WITH taken AS (
    UPDATE brokerbi.slot SET
        holder = %(me)s, token = token + 1, until = {NOW} + %(lease)s * interval '1 second'
    WHERE (login, number) = (
            SELECT login, number FROM brokerbi.slot
            WHERE login = %(login)s AND number < %(concurrency)s
                AND until NOT BETWEEN {NOW} AND {NOW} + {LONGEST_LEASE} * interval '1 second'
            ORDER BY number DESC LIMIT 1 FOR UPDATE SKIP LOCKED
        )
        AND NOT EXISTS (
            SELECT FROM brokerbi.pace
            WHERE login = %(login)s AND head NOT IN ('', %(me)s)
                AND head_seen_at BETWEEN {NOW} - {HEAD_SECONDS} * interval '1 second' AND {NOW}
        )
    RETURNING number, token
),
waiting AS (
    UPDATE brokerbi.pace SET head = %(me)s, head_seen_at = {NOW}
    WHERE login = %(login)s AND NOT EXISTS (SELECT FROM taken)
        AND head_seen_at NOT BETWEEN {NOW} - {HEAD_SECONDS} * interval '1 second'
            * CASE WHEN head = %(me)s THEN 0.5 WHEN head = '' THEN 0 ELSE 1 END AND {NOW}
    RETURNING login
)
SELECT number, token FROM taken
"""
TAKE_MOMENT = f"""
UPDATE brokerbi.pace AS held SET (granted_at, free_at, head) = (
    SELECT moment, moment + %(interval)s * 2 ^ ({HALVED}) * interval '1 second',
        CASE WHEN head = %(me)s THEN '' ELSE head END
    FROM (SELECT greatest({NOW}, CASE WHEN {IS_OF_NOW} THEN free_at END) AS moment) AS next
)
WHERE login = %(login)s AND (free_at <= {NOW} + {AHEAD} * interval '1 second' OR NOT {IS_OF_NOW})
RETURNING extract(epoch FROM granted_at - {NOW})::float, extract(epoch FROM free_at - granted_at)::float
"""
GIVE_BACK = """
UPDATE brokerbi.slot SET holder = '', until = 'epoch'
WHERE login = %(login)s AND number = %(number)s AND token = %(token)s RETURNING number
"""
SLOW_DOWN = f"""
UPDATE brokerbi.pace SET halvings = least({MOST_HALVINGS}, {HALVED} + 1), slowed_at = {NOW}
WHERE login = %(login)s AND slowed_at NOT BETWEEN {NOW} - {HALVED_ONCE_IN} * interval '1 second' AND {NOW}
RETURNING login
"""


def pace_of_login(base_url: str, username: str) -> str:
    """What the pace of a login is called in the database: the same on all hosts, and not its name."""
    return sha256(f"{base_url}\n{username}".encode()).hexdigest()[:32]


class DatabasePace:
    """The pace of every login that is used, shared by all hosts that ask the same service with it.

    A slot is kept for `lease` seconds, whatever becomes of its host. Without the database nothing is asked:
    there is no local count to fall back to. Raises CoordinationError.
    """

    def __init__(
        self,
        database: Database,
        base_url: str,
        concurrency: int,
        requests_per_second: float,
        *,
        clock: Clock,
        lease: float = 120.0 + AFTER_A_TRY,
    ) -> None:
        self._database = database
        self._base_url = base_url
        self._concurrency = concurrency
        self._interval = WIDER / requests_per_second
        self._clock = clock
        self._lease = lease
        self._me = f"{socket.gethostname()}:{os.getpid()}:{id(self):x}"
        self._known: set[str] = set()
        self._slowed: set[str] = set()

    async def take(self, login: str) -> Grant | float:
        login = pace_of_login(self._base_url, login)
        if login not in self._known:
            await self._database.rows(KNOWN, login=login, concurrency=self._concurrency)
            self._known.add(login)
        await self._tell_slowed()
        slots = await self._database.rows(
            TAKE_SLOT, login=login, me=self._me, concurrency=self._concurrency, lease=self._lease
        )
        if not slots:
            return 0.0
        slot = Grant(slots[0][0], str(slots[0][1]), 0.0, 0.0, login)
        try:
            asked_at = self._clock.monotonic()
            moments = await self._database.rows(
                TAKE_MOMENT, login=login, me=self._me, interval=self._interval
            )
        except BaseException:
            await self.give_back(slot)
            raise
        if not moments:
            await self.give_back(slot)
            return AHEAD / 2
        seconds, gap = moments[0]
        latest = asked_at + seconds + max(gap, LATEST)
        return Grant(slot.slot, slot.token, self._clock.monotonic() + seconds, latest, login)

    async def give_back(self, grant: Grant) -> None:
        """Free the slot; where the database is out of reach, its lease does."""
        if self._database.is_connected:
            with suppress(CoordinationError):
                await self._database.rows(
                    GIVE_BACK, patient=False, login=grant.login, number=grant.slot, token=int(grant.token)
                )

    def slow_down(self) -> None:
        """Halve the rate of every login that this run uses, with its next turn or at its end."""
        self._slowed = set(self._known)

    async def aclose(self) -> None:
        with suppress(CoordinationError):
            if self._database.is_connected:
                await self._tell_slowed(patient=False)
        await self._database.aclose()

    async def _tell_slowed(self, *, patient: bool = True) -> None:
        for login in tuple(self._slowed):
            await self._database.rows(SLOW_DOWN, patient=patient, login=login)
            self._slowed.discard(login)
