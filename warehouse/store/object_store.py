"""Object store: a directory, or a bucket behind an address, which several machines may see.

Needs the extra `scale`, and the credentials of an address are those of the environment. Nothing here is
imported before somebody opens one.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError
from warehouse.store.files import make_folder

if TYPE_CHECKING:
    from obstore.store import ObjectStore as Backend

CONNECT_SECONDS, REQUEST_SECONDS, RETRY_SECONDS = 5.0, 30.0, 10.0
"""A store that is down is known as such within some ten seconds, one that hangs within thirty."""
EXTRA = "pip install 'brokerbi[scale]'"
PROOF = "_proof"
"""The prefix of the objects by which it is proven what a store does; none stays."""


@dataclass(frozen=True)
class FoundObject:
    """An object below an address: its key, and when it was written."""

    key: str
    modified_utc: datetime


@dataclass(frozen=True)
class ObjectStore:
    """All objects below one address, by their keys. Every method raises WarehouseError where it fails."""

    address: str
    backend: Backend

    def put_new(self, key: str, content: bytes) -> bool:
        """Write an object unless there is one of this key; whether it was written."""
        import obstore

        with self._explained():
            try:
                obstore.put(self.backend, key, content, mode="create", use_multipart=False)
            except obstore.exceptions.AlreadyExistsError:
                return False
        return True

    def put_file(self, key: str, path: Path) -> None:
        """Write a file as an object of a name that nobody has, a part after the other."""
        import obstore

        with self._explained():
            obstore.put(self.backend, key, path)

    def get(self, key: str) -> bytes | None:
        """The content of an object; None where there is none of this key."""
        import obstore

        with self._explained():
            try:
                return bytes(obstore.get(self.backend, key).bytes())
            except FileNotFoundError:
                return None

    def found(self, prefix: str = "") -> Iterator[FoundObject]:
        """Every object whose key goes on after this folder."""
        import obstore

        with self._explained():
            for several in obstore.list(self.backend, prefix=prefix or None):
                for one in several:
                    yield FoundObject(one["path"], one["last_modified"])

    def delete(self, keys: Iterable[str]) -> None:
        """Remove objects; one that is gone already is no error."""
        import obstore

        with self._explained():
            for key in keys:
                try:
                    obstore.delete(self.backend, key)
                except FileNotFoundError:
                    continue

    def prove(self) -> str:
        """Write, read, list and remove an object; why the store cannot be used, or nothing.

        Some stores take a second object of the same key without a word: they would let an old answer replace
        another one, and two publications become one commit.
        """
        key = f"{PROOF}/{secrets.token_hex(8)}"
        first, second = b"first", b"second"
        try:
            if not self.put_new(key, first):
                return "it says that an object is there which nobody wrote"
            accepted = self.put_new(key, second)
            content = self.get(key)
            listed = [one.key for one in self.found(PROOF)]
        finally:
            self.delete([key])
        if accepted or content != first:
            return "it accepts a second object of the same name, so what is stored is not safe there"
        if key not in listed:
            return "it does not list what was just written"
        return "" if self.get(key) is None else "it keeps what was deleted"

    @contextmanager
    def _explained(self) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, OSError) as error:
            words = str(error).partition("\n")[0]
            raise WarehouseError(f"{self.address} cannot be used: {words}") from error


def open_object_store(address: str) -> ObjectStore:
    """The objects below a directory, which is made, or below an address such as s3://bucket/folder."""
    try:
        import obstore
        from obstore.store import LocalStore, from_url
    except ImportError as error:
        raise WarehouseError(f"{address} needs libraries that are not installed: {EXTRA}") from error
    local = local_path(address)
    if local is not None:
        try:
            make_folder(local)
        except OSError as error:
            raise WarehouseError(f"{address} cannot be used: {error}") from error
        return ObjectStore(address, LocalStore(local, mkdir=True))
    client: Any = {
        "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
        "timeout": timedelta(seconds=REQUEST_SECONDS),
        "allow_http": os.environ.get("AWS_ALLOW_HTTP", "").lower()
        in ("true", "1"),  # as the lake's library does
    }
    retry: Any = {"max_retries": 3, "retry_timeout": timedelta(seconds=RETRY_SECONDS)}
    try:
        return ObjectStore(address, from_url(address, client_options=client, retry_config=retry))
    except (obstore.exceptions.BaseError, ValueError) as error:
        words = str(error).partition("\n")[0]
        raise WarehouseError(f"{address} is no address of an object store: {words}") from error


def local_path(address: str) -> Path | None:
    """The directory that an address means; None for one of another machine."""
    if address.startswith("file://"):
        return Path(address.removeprefix("file://"))
    return None if "://" in address else Path(address).absolute()
