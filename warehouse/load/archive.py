"""Archive of landing: every finished landing file once more in an object store, named by its content.

An object is `<shard>/<path of the file without its ending>/<checksum>.tar.zst`: report, customer, window
and load can be told from its key, and it is never written twice. Nothing that loads waits for the store:
files are put there afterwards (archiving.py). A file that is gone from the disk is brought back when it is
read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from warehouse.errors import LandingDamaged, WarehouseError
from warehouse.store.files import PRIVATE_FOLDER, write_file
from warehouse.store.object_store import FoundObject, ObjectStore, open_object_store

ENDING = ".tar.zst"
WITHOUT_A_NAME = "all"
"""Where the files are of an installation that is no shard."""
EPOCHS = "_epochs"
"""The prefix of the objects that say which epochs a shard has had."""


@dataclass(frozen=True)
class Archive:
    """The landing files of one shard in an object store. Raises WarehouseError where that cannot be used."""

    objects: ObjectStore
    shard: str = WITHOUT_A_NAME

    def put(self, root: Path, path: str) -> str:
        """Put a landing file there, unless it is; its checksum."""
        content = (root / path).read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        self.objects.put_new(self._key(path, sha256), content)
        return sha256

    def bring_back(self, path: str, target: Path, sha256: str | None = None) -> bool:
        """Write a landing file where it was; False where the archive has none of this path and checksum.

        Raises LandingDamaged for an object that is not what its name says.
        """
        if sha256:
            key = self._key(path, sha256)
        else:
            found = self._of(path)
            key = max(found, key=lambda one: (one.modified_utc, one.key)).key if found else ""
        content = self.objects.get(key) if key else None
        if content is None:
            return False
        if hashlib.sha256(content).hexdigest() != _sha256_in(key):
            raise LandingDamaged(f"{key} in the archive is damaged: its content is not what its name says.")
        target.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        write_file(target, content)
        return True

    def newest(self) -> dict[str, tuple[datetime, str]]:
        """The landing files there by their paths: since when, and the checksum of the newest content."""
        newest: dict[str, tuple[datetime, str]] = {}
        for path, sha256, since in self.files():
            newest[path] = max(newest.get(path, (since, sha256)), (since, sha256))
        return newest

    def files(self) -> Iterator[tuple[str, str, datetime]]:
        """Every landing file there: its path, its checksum, and since when."""
        for one in self.objects.found(self.shard):
            folder, _, _ = one.key.removeprefix(f"{self.shard}/").rpartition("/")
            yield f"{folder}{ENDING}", _sha256_in(one.key), one.modified_utc

    def has(self, path: str, sha256: str) -> bool:
        """Whether this content of a landing file is there."""
        return any(_sha256_in(one.key) == sha256 for one in self._of(path))

    def keep_only(self, path: str, sha256: str | None) -> None:
        """Remove what there is of a path but for this content; with None all of it."""
        self.objects.delete([one.key for one in self._of(path) if _sha256_in(one.key) != sha256])

    def claim(self, epoch: int | None) -> None:
        """Be the owner of this epoch; raises WarehouseError where the store knows of a later one."""
        if epoch is None:
            return
        folder = f"{EPOCHS}/{self.shard}"
        latest = max((int(one.key.rpartition("/")[2]) for one in self.objects.found(folder)), default=0)
        if latest > epoch:
            raise WarehouseError(
                f"Shard {self.shard} has another owner (epoch {latest}, and this one has {epoch}); "
                "nothing of this copy goes into the archive."
            )
        self.objects.put_new(f"{folder}/{epoch:012}", b"")

    def _key(self, path: str, sha256: str) -> str:
        return f"{self.shard}/{path.removesuffix(ENDING)}/{sha256}{ENDING}"

    def _of(self, path: str) -> list[FoundObject]:
        return list(self.objects.found(f"{self.shard}/{path.removesuffix(ENDING)}"))


def open_archive(address: str, shard: str) -> Archive | None:
    """The archive at an address; None without one."""
    return Archive(open_object_store(address), shard or WITHOUT_A_NAME) if address else None


def _sha256_in(key: str) -> str:
    return key.rpartition("/")[2].removesuffix(ENDING)
