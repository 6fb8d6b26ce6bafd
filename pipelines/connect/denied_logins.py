"""Denied logins: a wrong login is sent at most twice, with at least 12 hours between the two tries."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from hashlib import scrypt
from pathlib import Path

from pydantic import SecretStr

from pipelines.connect.models import Login

COST = 2**14  # the cost of scrypt: each guess at a password takes 16 MB of memory
SECONDS_TO_SECOND_TRY = 12 * 3600
"""A denied login is tried once more after this time, because the denial may be an error of the service."""


@dataclass(frozen=True)
class DeniedLogins:
    """The denied logins (401): one file for each, in a folder of the data directory.

    The file name is a hash of address, username and password, so a corrected password is tried immediately.
    The modification time is the time of the latest denial. The file is empty until the second try is denied.
    """

    folder: Path
    base_url: str

    def blocks(self, login: Login) -> bool:
        """Whether this login was denied and may not be tried now."""
        try:
            state = self._file(login).stat()
        except FileNotFoundError:
            return False
        return state.st_size > 0 or time.time() - state.st_mtime < SECONDS_TO_SECOND_TRY

    def remember(self, login: Login) -> None:
        """Record that the service denied the login (401)."""
        file = self._file(login)
        is_second = file.exists() and not self.blocks(login)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.touch(0o600)
        if is_second:
            file.write_bytes(b"2")

    def forget(self, login: Login) -> None:
        """Record that the service accepts the login."""
        self._file(login).unlink(missing_ok=True)

    def _file(self, login: Login) -> Path:
        return self.folder / _fingerprint(self.base_url, login.username, login.password)


@cache  # scrypt is slow on purpose
def _fingerprint(base_url: str, username: str, password: SecretStr) -> str:
    salt = f"{base_url}\n{username}".encode()
    return scrypt(password.get_secret_value().encode(), salt=salt, n=COST, r=8, p=1, dklen=16).hex()
