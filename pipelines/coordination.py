"""The PostgreSQL database that several hosts share: statements that outlast a restart, and who owns a shard.

The only module that knows psycopg, and only with BROKERBI_COORDINATION_URL. Every statement is one
transaction and leaves nothing in its session, so a pooler may hand out another for each.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout
from pydantic import SecretStr

from pipelines.clock import Clock

if TYPE_CHECKING:
    import psycopg

STATEMENT_SECONDS = 2.0
PATIENCE = 120.0
"""Seconds in which a database that restarts, or is cut off, is tried again."""
RECONNECT_SECONDS = (0.2, 1.0)
LOCK_SECONDS = 10.0
PRIVATE = 0o600
TABLES = """
CREATE SCHEMA IF NOT EXISTS brokerbi;
CREATE TABLE IF NOT EXISTS brokerbi.pace (
    login text PRIMARY KEY,
    granted_at timestamptz NOT NULL DEFAULT 'epoch',
    free_at timestamptz NOT NULL DEFAULT 'epoch',
    slowed_at timestamptz NOT NULL DEFAULT 'epoch',
    halvings integer NOT NULL DEFAULT 0,
    head text NOT NULL DEFAULT '',
    head_seen_at timestamptz NOT NULL DEFAULT 'epoch'
);
CREATE TABLE IF NOT EXISTS brokerbi.slot (
    login text NOT NULL,
    number integer NOT NULL,
    holder text NOT NULL DEFAULT '',
    token bigint NOT NULL DEFAULT 0,
    until timestamptz NOT NULL DEFAULT 'epoch',
    PRIMARY KEY (login, number)
);
CREATE TABLE IF NOT EXISTS brokerbi.shard (
    name text PRIMARY KEY,
    owner text NOT NULL,
    epoch bigint NOT NULL DEFAULT 1,
    host text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    login text NOT NULL,
    requests_per_second double precision NOT NULL,
    concurrency integer NOT NULL
);
"""
IS_MADE = """
SELECT count(*) = 3 FROM pg_tables WHERE schemaname = 'brokerbi' AND tablename IN ('pace', 'slot', 'shard')
"""
CLAIM = """
INSERT INTO brokerbi.shard AS held (name, owner, host, login, requests_per_second, concurrency)
VALUES (%(name)s, %(owner)s, %(host)s, %(login)s, %(requests_per_second)s, %(concurrency)s)
ON CONFLICT (name) DO UPDATE SET
    owner = excluded.owner, host = excluded.host, seen_at = clock_timestamp(), login = excluded.login,
    requests_per_second = excluded.requests_per_second, concurrency = excluded.concurrency,
    since = CASE WHEN held.owner = ANY (%(owners)s) THEN held.since ELSE clock_timestamp() END,
    epoch = held.epoch + CASE WHEN held.owner = ANY (%(owners)s) THEN 0 ELSE 1 END
WHERE held.owner = ANY (%(owners)s) OR %(take_over)s
RETURNING epoch
"""
SHARD = "SELECT epoch, host, since, seen_at, owner FROM brokerbi.shard WHERE name = %(name)s"
SHARDS = """
SELECT name, requests_per_second, concurrency FROM brokerbi.shard
WHERE login = %(login)s ORDER BY name
"""
SERVER_TIME = "SELECT clock_timestamp()"
CHECK_DATABASE = (
    "Check BROKERBI_COORDINATION_URL, the database and the network between; then run the same again."
)
TAKE_OVER = (
    "If that one is gone for good, take the shard over with `brokerbi sync --take-over`: from then on the "
    "other can make nothing visible any more."
)
NO_EXTRA = "BROKERBI_COORDINATION_URL needs psycopg, which is not installed."
INSTALL = "Install it with: pip install 'brokerbi[scale]'"


class CoordinationError(Exception):
    """What hosts share cannot be used; `found` is what was seen and `remedy` what to do about it."""

    def __init__(self, found: str, remedy: str) -> None:
        super().__init__(f"{found} {remedy}")
        self.found = found
        self.remedy = remedy


class OutOfReach(CoordinationError):
    """The database does not answer."""


class NotOwner(CoordinationError):
    """The shard belongs to another copy of the data directory."""


class Database:
    """One connection, made when it is first needed and made anew when it breaks.

    Belongs to one event loop. After a failure statements are tried again for `patience` seconds; once these
    have passed every statement raises OutOfReach at once.
    """

    def __init__(self, url: SecretStr, clock: Clock, *, patience: float = PATIENCE) -> None:
        self._psycopg = _psycopg()
        self._url = url
        self._clock = clock
        self._patience = patience
        self._random = Random()  # noqa: S311 - who comes back first is no secret
        self._connection: psycopg.AsyncConnection[Any] | None = None
        self._one_by_one = asyncio.Lock()
        self._given_up: OutOfReach | None = None

    @property
    def is_connected(self) -> bool:
        return self._connection is not None

    async def rows(self, statement: str, *, patient: bool = True, **values: object) -> Sequence[Any]:
        """What a statement returns; one that was broken off is said again, so it may have run twice.

        Raises CoordinationError, without patience at the first failure.
        """
        failed_at: float | None = None
        while True:
            if self._given_up:
                raise self._given_up
            try:
                async with self._one_by_one, asyncio.timeout(STATEMENT_SECONDS):
                    return await self._run(statement, values)
            except (self._psycopg.OperationalError, TimeoutError, OSError) as error:
                await self.aclose()
                now = self._clock.monotonic()
                failed_at = now if failed_at is None else failed_at
                if not patient or now - failed_at >= self._patience:
                    lost = OutOfReach(_in_words(error, self._url), CHECK_DATABASE)
                    self._given_up = lost if patient else self._given_up
                    raise lost from None
            except self._psycopg.Error as error:
                await self.aclose()
                raise CoordinationError(_in_words(error, self._url), CHECK_DATABASE) from None
            await self._clock.sleep(self._random.uniform(*RECONNECT_SECONDS))

    async def _run(self, statement: str, values: dict[str, object]) -> Sequence[Any]:
        if self._connection is None:
            connection = await self._psycopg.AsyncConnection.connect(
                self._url.get_secret_value(), **_options()
            )
            self._connection = connection
            if not (await (await connection.execute(IS_MADE)).fetchall())[0][0]:
                with suppress(self._psycopg.errors.UniqueViolation, self._psycopg.errors.InternalError_):
                    await connection.execute(TABLES)  # else another host is making them
        rows: list[Any] = await (await self._connection.execute(statement, values)).fetchall()
        return rows

    async def aclose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


@dataclass(frozen=True)
class Ownership:
    """That a data directory owns a shard; `epoch` rises with every other owner, and is 0 while nobody knows.

    Whatever is made visible to others carries the epoch, and is preceded by `check`.
    """

    url: SecretStr
    name: str
    epoch: int

    def check(self) -> None:
        """Raise NotOwner if another took the shard over, OutOfReach if that cannot be known."""
        rows = run_once(self.url, SHARD, name=self.name)
        if not rows or rows[0][0] != self.epoch:
            raise _not_owner(self.name, rows)


@dataclass(frozen=True)
class Claim:
    """What a data directory says when it claims a shard; `login` is the name of its pace."""

    url: SecretStr
    name: str
    data_dir: Path
    login: str
    requests_per_second: float
    concurrency: int

    def make(self, *, take_over: bool = False) -> Ownership:
        """Claim the shard, or go on owning it. Raises NotOwner, OutOfReach.

        What proves ownership is a word in `work/owner` that changes with every claim, so a copy of the data
        directory, or one put back from a backup, is found out. It is written before the database is told,
        beside the earlier ones, so that being killed between the two loses nothing.
        """
        file = self.data_dir / "work" / "owner"
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with FileLock(file.with_suffix(".lock"), timeout=LOCK_SECONDS, mode=PRIVATE):
                return self._make(file, take_over=take_over)
        except Timeout:
            found = f"Another process has been claiming the shard {self.name} for {LOCK_SECONDS:.0f} seconds."
            raise CoordinationError(found, "Look for one that was stopped (`ps`); then run again.") from None

    def look(self) -> Ownership | None:
        """Who owns the shard, without claiming it: None while nobody does. Raises NotOwner, OutOfReach."""
        rows = run_once(self.url, SHARD, name=self.name)
        if rows and rows[0][4] not in _words(self.data_dir / "work" / "owner"):
            raise _not_owner(self.name, rows)
        return Ownership(self.url, self.name, rows[0][0]) if rows else None

    def _make(self, file: Path, *, take_over: bool) -> Ownership:
        owner, owners = secrets.token_hex(8), _words(file)
        _replace(file, [owner, *owners])
        rows = run_once(
            self.url,
            CLAIM,
            name=self.name,
            owner=owner,
            owners=owners,
            take_over=take_over,
            host=socket.gethostname(),
            login=self.login,
            requests_per_second=self.requests_per_second,
            concurrency=self.concurrency,
        )
        if not rows:
            _replace(file, owners)
            raise _not_owner(self.name, run_once(self.url, SHARD, name=self.name))
        _replace(file, [owner])
        return Ownership(self.url, self.name, rows[0][0])


def run_once(url: SecretStr, statement: str, **values: object) -> Sequence[Any]:
    """What one statement returns, over a connection of its own. Raises CoordinationError."""
    psycopg = _psycopg()
    try:
        with psycopg.connect(url.get_secret_value(), **_options()) as connection:
            if not connection.execute(IS_MADE).fetchall()[0][0]:
                with suppress(psycopg.errors.UniqueViolation, psycopg.errors.InternalError_):
                    connection.execute(TABLES)
            return list(connection.execute(statement, values).fetchall())
    except psycopg.OperationalError as error:
        raise OutOfReach(_in_words(error, url), CHECK_DATABASE) from None
    except psycopg.Error as error:
        raise CoordinationError(_in_words(error, url), CHECK_DATABASE) from None


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError:
        raise CoordinationError(NO_EXTRA, INSTALL) from None
    return psycopg


def _options() -> dict[str, object]:
    """Nothing that a pooler would have to remember; a server that vanished is noticed within seconds."""
    return {
        "autocommit": True,
        "prepare_threshold": None,
        "connect_timeout": 2,
        "tcp_user_timeout": round(STATEMENT_SECONDS * 1000),
        "application_name": "brokerbi",
    }


def _in_words(error: Exception, url: SecretStr) -> str:
    """What went wrong; an address that cannot be read is not quoted, as it may hold a password."""
    said = " ".join(str(error).split())
    is_unread = type(error).__name__ == "ProgrammingError" or "@" in said or url.get_secret_value() in said
    if is_unread or not said:
        said = "its address cannot be read" if is_unread else type(error).__name__
    return f"The database of BROKERBI_COORDINATION_URL cannot be used ({said[:300]})."


def _not_owner(name: str, rows: Sequence[tuple[int, str, datetime, datetime, str]]) -> NotOwner:
    if not rows:
        return NotOwner(f"Nobody owns the shard {name} any more.", "Run `brokerbi sync`, which claims it.")
    _, host, since, seen_at, _ = rows[0]
    found = (
        f"The shard {name} belongs to another copy of this data directory, or to this one before it was put "
        f"back from a backup: {host} has it since {since.astimezone(UTC):%Y-%m-%d %H:%M} UTC and was last "
        f"seen {seen_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC."
    )
    return NotOwner(found, TAKE_OVER)


def _words(file: Path) -> list[str]:
    return file.read_text(encoding="ascii").split() if file.exists() else []


def _replace(file: Path, words: Sequence[str]) -> None:
    """Write the words whole, to outlast a loss of power: the database remembers what it was told."""
    beside = file.with_suffix(".new")
    written = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE)
    os.write(written, "\n".join(words).encode("ascii"))
    os.fsync(written)
    beside.replace(file)
    folder = os.open(file.parent, os.O_RDONLY | os.O_CLOEXEC)
    os.fsync(folder)
    os.close(folder)
    os.close(written)
