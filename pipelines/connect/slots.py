"""Who may have a request in flight? One lock file for each, shared by every process of a data directory."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from random import Random

from pipelines.connect.clock import Clock

LOOK_AGAIN = (0.01, 0.03)  # seconds between two looks while other processes hold every slot
PRIVATE = 0o600


class Slots:
    """So many slots, each a file that is locked while it is used.

    The lock belongs to the open file, so it ends with the process, however that ends. Within one
    process whoever waits longest is served first; between processes whoever looks first, and a
    process that has just had a slot lets the others look before it takes the next.
    """

    def __init__(self, directory: Path, count: int, clock: Clock, random: Random) -> None:
        # From the top, so that a process allowed fewer finds the first ones free as long as possible.
        self._files = [directory / f"slot-{number:02d}" for number in reversed(range(count))]
        self._waiting = directory / "waiting"
        self._clock = clock
        self._random = random
        self._here = asyncio.Semaphore(count)
        self._looking = asyncio.Lock()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Hold a slot; it is free again at the end, also after an error or a cancellation."""
        async with self._here:
            descriptor = await self._take()
            try:
                yield
            finally:
                os.close(descriptor)

    async def _take(self) -> int:
        async with self._looking:
            if self._others_wait():
                await self._pause()
            descriptor = self._free()
            if descriptor is not None:
                return descriptor
            with self._waiting_aloud():
                while descriptor is None:
                    await self._pause()
                    descriptor = self._free()
            return descriptor

    async def _pause(self) -> None:
        await self._clock.sleep(self._random.uniform(*LOOK_AGAIN))

    def _free(self) -> int | None:
        for file in self._files:
            descriptor = locked(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if descriptor is not None:
                return descriptor
        return None

    def _others_wait(self) -> bool:
        descriptor = locked(self._waiting, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if descriptor is None:
            return True
        os.close(descriptor)
        return False

    @contextmanager
    def _waiting_aloud(self) -> Iterator[None]:
        descriptor = locked(self._waiting, fcntl.LOCK_SH | fcntl.LOCK_NB)
        try:
            yield
        finally:
            if descriptor is not None:
                os.close(descriptor)


def locked(file: Path, how: int) -> int | None:
    """The file, open and locked until it is closed; None while another holds it."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
