"""The published file and its earlier versions, named by time."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from duckdb import DuckDBPyConnection

from warehouse.errors import PUBLISHED_FILE_REMEDY, WarehouseError
from warehouse.store.duckdb_file import connect
from warehouse.store.files import (
    SHARED_FILE,
    file_sha256,
    give_name,
    header_sha256,
    remove,
    remove_logs,
    same_file,
    sync,
    wal,
    write_file,
)

PUBLISHED, REFUSED, FAILED, ROLLED_BACK = "published", "refused", "failed", "rolled back"
VERSION = "%Y%m%dT%H%M%SZ"
_VERSION_FILE = re.compile(r"warehouse-(\d{8}T\d{6}Z)\.duckdb")


class Versions:
    """The published file of a data directory and its earlier versions."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = Path(data_dir)
        self.published = self.data_dir / "warehouse.duckdb"
        self.folder = self.data_dir / "published"

    @contextmanager
    def reading(self) -> Iterator[DuckDBPyConnection]:
        """Open the published file for a `with` block; raises WarehouseError if there is none."""
        if not self.published.exists():
            raise WarehouseError(
                f"There is no published file {self.published} yet; "
                "`brokerbi sync` or `brokerbi publish` makes one."
            )
        with connect(self.published, read_only=True, remedy=PUBLISHED_FILE_REMEDY) as connection:
            yield connection

    def path(self, version: str) -> Path:
        return self.folder / f"warehouse-{version}.duckdb"

    def checksum_path(self, version: str) -> Path:
        """The file with the checksum of a version, which `sha256sum -c` reads."""
        return self.path(version).with_suffix(".duckdb.sha256")

    def write_checksum(self, version: str) -> None:
        """Store the checksum of a version that is not yet published."""
        line = f"{file_sha256(self.path(version))}  {self.path(version).name}\n"
        write_file(self.checksum_path(version), line.encode(), mode=SHARED_FILE)

    def is_damaged(self, version: str, *, unless_checked_since: datetime | None = None) -> bool:
        """Whether a version differs from its checksum.

        A version that was found intact since `unless_checked_since` is not checked again. Versions that
        an older brokerbi made have no checksum, and count as intact.
        """
        checksum = self.checksum_path(version)
        if not checksum.exists():
            return False
        checked = datetime.fromtimestamp(checksum.stat().st_mtime, UTC)
        if unless_checked_since is not None and checked >= unless_checked_since:
            return False
        if checksum.read_text("utf-8").split()[0] != file_sha256(self.path(version)):
            return True
        with suppress(OSError):  # this user may have no write access
            checksum.touch()
        return False

    def names(self) -> list[str]:
        """The names of all stored versions, oldest first."""
        matches = (_VERSION_FILE.fullmatch(path.name) for path in self.folder.glob("*.duckdb"))
        return sorted(match[1] for match in matches if match)

    def undamaged(self, names: Iterable[str]) -> Iterator[str]:
        """The undamaged of these versions, newest first."""
        return (name for name in sorted(names, reverse=True) if not self.is_damaged(name))

    def current(self) -> str | None:
        """The name of the version that analysts see; None if the published file is not a stored version."""
        names = reversed(self.names())
        return next((name for name in names if same_file(self.path(name), self.published)), None)

    def is_as_published(self, header: str | None, size: int | None) -> bool:
        """Whether the published file has this header checksum and size (None fits any), and no log."""
        return (
            self.published.is_file()
            and not wal(self.published).exists()
            and header in (None, header_sha256(self.published))
            and size in (None, self.published.stat().st_size)
        )

    def new_name(self, now: datetime) -> str:
        """A name made from the time; it is later than all stored names."""
        time = now.astimezone(UTC)
        for newest in self.names()[-1:]:
            time = max(time, datetime.strptime(newest, VERSION).replace(tzinfo=UTC) + timedelta(seconds=1))
        return time.strftime(VERSION)

    def make_current(self, version: str) -> None:
        """Make a version the published file; readers keep the file that they have open.

        A write-ahead log next to the file belongs to the previous version (an analyst opened it for
        writing). DuckDB would silently replay it into the new version, so the log is removed.
        """
        sys.audit("brokerbi.before_version_shown")
        remove_logs(self.published)
        give_name(self.path(version), self.published)
        self.published.touch()  # so that older pages are noticed, after a rollback too
        remove_logs(self.published)
        sync(self.data_dir)
        sys.audit("brokerbi.version_shown")

    def prune(self, keep: int) -> list[str]:
        """Remove all but the newest `keep` versions; the published one stays. Returns the removed names."""
        current = self.current()
        old_versions = [version for version in self.names()[: -max(keep, 1)] if version != current]
        for version in old_versions:
            remove(self.path(version))
            self.checksum_path(version).unlink(missing_ok=True)
        return old_versions
