"""Rate limit and concurrency limit, shared by all processes of a data directory."""

from __future__ import annotations

import asyncio
import math
import os
import struct
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from random import Random

from filelock import lock_descriptor

from pipelines.clock import Clock, SystemClock
from pipelines.connect.standstill import LONGEST_WAIT, HeldUp, Patience, held_up, sign

POLL_SECONDS = (0.01, 0.03)  # between two looks while other processes hold every slot
BUSY_SECONDS = 0.001  # until the record of the rate is looked at again while another process writes it
LONGEST_BLOCK = 0.1  # seconds in which nothing else of this process goes on
WIDER = 1.02  # a little more than even, so that jitter on the way puts no extra request into a second
MOST_HALVINGS = 3
HALVED_ONCE_IN = 5.0  # seconds; failures of requests that were in flight together count once
RECOVERS_AFTER = 60.0  # seconds without trouble until one halving is taken back
LONGEST_INTERVAL = 120.0  # the slowest rate of the settings, halved as often as allowed, is below this
RECORD = struct.Struct("<4d")
PRIVATE = 0o600


class RateLimit:
    """At most so many requests in flight and per second, counted over all that share the data directory.

    Every request takes a turn. Requests are evenly spaced: after each of them everybody waits for the
    interval of the process that made it, so processes with different settings each obey their own, and
    there are never more in flight than the largest allows. Make one for each event loop, and let its
    clients share it. Holds on one machine: locks and clock are the machine's. Refuses a directory that
    cannot be written. `patience` is how many seconds others may hold all there is without moving on.
    """

    def __init__(
        self,
        data_dir: Path,
        concurrency: int,
        requests_per_second: float,
        *,
        clock: Clock | None = None,
        random: Random | None = None,
        patience: float = LONGEST_WAIT,
    ) -> None:
        if concurrency < 1 or not requests_per_second > 0:
            raise ValueError("a rate limit needs at least one slot and more than no requests per second")
        directory = data_dir / "work" / "pace"
        for folder in (*reversed(directory.parents), directory):
            if (
                not folder.is_dir()
            ):  # the data directory is open to the group, what is in `work` to nobody else
                mode = 0o700 if folder.is_relative_to(data_dir / "work") else 0o750
                folder.mkdir(mode=mode, exist_ok=True)
                folder.chmod(mode)  # whatever the umask is
        self._clock = clock or SystemClock()
        self._random = random or Random()  # noqa: S311 - who polls first is no secret
        # From the top, so that a process allowed fewer finds the first ones free as long as possible.
        self._slots = [directory / f"slot-{number:02d}" for number in reversed(range(concurrency))]
        self._waiting = directory / "waiting"  # locked by one of the processes that wait for a slot
        self._file = directory / "tempo"
        self._interval = WIDER / requests_per_second
        self._patience = patience
        self._in_process = asyncio.Semaphore(concurrency)
        self._first_for_slot = asyncio.Lock()
        self._first_for_moment = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a slot and for the moment, and hold the slot as long as the request lasts.

        The slot is free again at the end, also after an error or a cancellation. Raises HeldUp.
        """
        async with self._in_process:
            async with self._first_for_slot:
                slot = await self._acquire_slot()
            try:
                async with self._first_for_moment:
                    await self._claim_moment()
                yield
            finally:
                os.close(slot)

    def slow_down(self) -> None:
        """Halve the rate of all processes; many calls at once count as one.

        It recovers by itself, one halving a minute. Blocks for a moment at most: the record is written in far
        less, and who holds it for longer was stopped, which the next turn tells.
        """
        with _locked(self._file) as descriptor:
            if descriptor is None:
                return
            record, now = _read(descriptor), self._clock.monotonic()
            if not 0 <= now - record.slowed_at < HALVED_ONCE_IN:
                halvings = min(MOST_HALVINGS, record.halved(now) + 1)
                _write(descriptor, replace(record, slowed_at=now, halvings=halvings))

    @property
    def halvings(self) -> int:
        """How often the rate is halved at this moment."""
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
        try:
            return _read(descriptor).halved(self._clock.monotonic())
        finally:
            os.close(descriptor)

    async def _acquire_slot(self) -> int:
        """The descriptor of a slot's file, open and locked while a request is in flight.

        A lock belongs to the open file, so it ends with the process, however that ends. Within one process
        whoever waits longest is served first; between processes whoever looks first, and a process that
        has just had a slot lets those that wait look before it takes the next.
        """
        waiting = _open_locked(self._waiting)
        if waiting is not None:
            os.close(waiting)
        else:
            await self._pause()
        waiting = None
        patience: Patience | None = None
        try:
            while True:
                for file in self._slots:
                    if (slot := _open_locked(file)) is not None:
                        sign(slot)
                        return slot
                now = self._clock.monotonic()
                patience = patience or Patience(self._slots, self._patience, now)
                patience.look(now)
                if waiting is None:
                    waiting = _open_locked(self._waiting)
                await self._pause()
        finally:
            if waiting is not None:
                os.close(waiting)

    async def _pause(self) -> None:
        await self._clock.sleep(self._random.uniform(*POLL_SECONDS))

    async def _claim_moment(self) -> None:
        """Wait for the moment of the next request; a record that is always busy is held by one process."""
        busy_since: float | None = None
        while (seconds := self._claim()) != 0:
            now = self._clock.monotonic()
            busy_since = None if seconds is not None else now if busy_since is None else busy_since
            if busy_since is not None and now - busy_since >= self._patience:
                raise HeldUp(held_up([self._file], self._patience))
            await self._clock.sleep(BUSY_SECONDS if seconds is None else seconds)

    def _claim(self) -> float | None:
        """Claim this moment for a request; zero, the seconds until it is worth trying again, None while busy.

        The clock starts anew when the machine does: a claim that lies in the future, or a moment absurdly
        far from its claim, was written before that or is damaged, and delays nobody.
        """
        descriptor = _open_locked(self._file)
        if descriptor is None:
            return None
        try:
            record, now = _read(descriptor), self._clock.monotonic()
            is_of_now = record.claimed_at <= now and record.free_at - record.claimed_at <= LONGEST_INTERVAL
            if is_of_now and record.free_at > now:
                return record.free_at - now
            free_at = now + self._interval * 2 ** record.halved(now)
            _write(descriptor, replace(record, claimed_at=now, free_at=free_at))
            return 0.0
        finally:
            os.close(descriptor)


@dataclass(frozen=True, slots=True)
class _Record:
    """What the processes share about the rate, in seconds of the machine's monotonic clock."""

    claimed_at: float = -math.inf
    free_at: float = -math.inf
    slowed_at: float = -math.inf
    halvings: float = 0.0

    def halved(self, now: float) -> int:
        """How often the rate is halved still."""
        if not 0 <= now - self.slowed_at < math.inf:
            return 0
        taken_back = (now - self.slowed_at) // RECOVERS_AFTER
        return int(min(MOST_HALVINGS, max(0.0, self.halvings - taken_back)))


def _read(descriptor: int) -> _Record:
    written = os.pread(descriptor, RECORD.size, 0)
    return _Record(*RECORD.unpack(written)) if len(written) == RECORD.size else _Record()


def _write(descriptor: int, record: _Record) -> None:
    """Always the same bytes of the file, so that a full disk does not stop it."""
    os.pwrite(descriptor, RECORD.pack(*astuple(record)), 0)


def _open_locked(file: Path) -> int | None:
    """The file, open and locked until it is closed; None while another holds it."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    try:
        if lock_descriptor(descriptor, blocking=False):
            return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


@contextmanager
def _locked(file: Path) -> Iterator[int | None]:
    """The descriptor of the file, locked for the body; None where another keeps it for more than a moment."""
    until = time.monotonic() + LONGEST_BLOCK
    while (descriptor := _open_locked(file)) is None and time.monotonic() < until:
        time.sleep(BUSY_SECONDS)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)
