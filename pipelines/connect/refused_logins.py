"""Denied logins: stored by a fingerprint, so that a wrong password is sent twice at most, on two nights."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import scrypt
from pathlib import Path

from pydantic import SecretStr

from pipelines.connect.models import Login

COST = 2**14
"""Of scrypt: a guess at the password behind a fingerprint takes as long as ours, and 16 MB."""
PRIVATE = 0o600
SECONDS_TO_SECOND_TRY = 12 * 3600
"""So long after its first refusal a login is tried once more: the next night, for a refusal may be a slip of
the service."""


@dataclass(frozen=True)
class RefusedLogins:
    """The logins that the service answered 401 to, in a folder of the data directory.

    A file stands for a username with its password at one address; it holds neither, and its time is that of
    the latest refusal. It is empty until the second try is refused as well. Another password is another
    file, so a corrected one is tried at once.
    """

    folder: Path
    base_url: str

    def knows(self, login: Login) -> bool:
        """Whether this login was refused and has not been accepted since."""
        return self._file(login).exists()

    def holds(self, login: Login) -> bool:
        """Whether that is so, and it is not to be tried once more."""
        return self.knows(login) and not self._is_second_try(login)

    def remember(self, login: Login) -> None:
        """The service answered 401 to it."""
        is_second = self._is_second_try(login)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(self._file(login), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
        try:
            if is_second:
                os.write(file, b"2")
            os.utime(file)
        finally:
            os.close(file)

    def forget(self, login: Login) -> None:
        """The service accepts it."""
        self._file(login).unlink(missing_ok=True)

    def _is_second_try(self, login: Login) -> bool:
        """Whether a refused login is to be tried once more by now."""
        with suppress(FileNotFoundError):
            found = self._file(login).stat()
            return found.st_size == 0 and time.time() - found.st_mtime >= SECONDS_TO_SECOND_TRY
        return False

    def _file(self, login: Login) -> Path:
        return self.folder / _fingerprint(self.base_url, login.username, login.password)


@cache
def _fingerprint(base_url: str, username: str, password: SecretStr) -> str:
    """Kept for the life of the process, as a sync asks for it twice and it is slow by intention."""
    salt = f"{base_url}\n{username}".encode()
    return scrypt(password.get_secret_value().encode(), salt=salt, n=COST, r=8, p=1, dklen=16).hex()
