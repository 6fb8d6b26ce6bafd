"""Refused logins: remembered by a fingerprint, so that no run sends a wrong password a second time."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import scrypt
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import SecretStr

from pipelines.clock import Clock
from pipelines.connect.models import Login

COST = 2**14
"""Of scrypt: a guess at the password behind a fingerprint takes as long as ours, and 16 MB."""
PRIVATE = 0o600
SECONDS_BETWEEN_LOOKS = 0.1
LONGEST_FIRST_TRY = 300.0
"""Seconds: a wait for a slot, and then for the answer. Who takes longer was stopped; nobody waits for it."""


@dataclass(frozen=True)
class RefusedLogins:
    """What the service answered 401 to, in a folder shared by all processes of a data directory.

    A file stands for a username with its password at one address; it holds neither. Another password is
    another file, so a corrected one is tried at once.
    """

    folder: Path
    base_url: str
    patience: float = LONGEST_FIRST_TRY

    @asynccontextmanager
    async def first_try(self, clock: Clock) -> AsyncIterator[None]:
        """Wait while another process tries a login: what it learns is known then."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(self.folder / "first_try.lock", timeout=0, mode=PRIVATE, thread_local=False)
        until = clock.monotonic() + self.patience
        while not lock.is_locked and clock.monotonic() < until:
            with suppress(Timeout):
                lock.acquire()
                break
            await clock.sleep(SECONDS_BETWEEN_LOOKS)
        try:
            yield
        finally:
            lock.release()

    def holds(self, login: Login) -> bool:
        """Whether this login was refused and has not been accepted since."""
        return self._file(login).exists()

    def remember(self, login: Login) -> None:
        """The service answered 401 to it."""
        os.close(os.open(self._file(login), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, PRIVATE))

    def forget(self, login: Login) -> None:
        """The service accepts it."""
        self._file(login).unlink(missing_ok=True)

    def _file(self, login: Login) -> Path:
        return self.folder / _fingerprint(self.base_url, login.username, login.password)


@cache
def _fingerprint(base_url: str, username: str, password: SecretStr) -> str:
    """Kept for the life of the process, as a sync asks for it twice and it is slow by intention."""
    salt = f"{base_url}\n{username}".encode()
    return scrypt(password.get_secret_value().encode(), salt=salt, n=COST, r=8, p=1, dklen=16).hex()
