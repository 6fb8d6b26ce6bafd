"""Which published files are kept, and which one do analysts see? Versions, named by when they were made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from warehouse.copying import give_name, same_file
from warehouse.opening import remove, remove_logs, sync

VERSION = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"warehouse-(\d{8}T\d{6}Z)\.duckdb")
FOLDER = 0o750
FILE = 0o640
"""Readable for the group of the pipeline's user: put the analysts into it."""


@dataclass(frozen=True)
class Versions:
    """The published file of a data directory and the versions kept beside it."""

    data_dir: Path

    @property
    def published(self) -> Path:
        """What analysts open."""
        return self.data_dir / "warehouse.duckdb"

    @property
    def folder(self) -> Path:
        return self.data_dir / "published"

    def path(self, version: str) -> Path:
        return self.folder / f"warehouse-{version}.duckdb"

    def kept(self) -> list[str]:
        """The versions that are kept, oldest first."""
        found = (_NAME.fullmatch(path.name) for path in self.folder.glob("*.duckdb"))
        return sorted(match[1] for match in found if match)

    def current(self) -> str | None:
        """The version that analysts see, if it is one of the kept."""
        return next((one for one in reversed(self.kept()) if same_file(self.path(one), self.published)), None)

    def next(self, now: datetime) -> str:
        """A name for a new version, after all others made so far."""
        moment = now.astimezone(UTC)
        for newest in self.kept()[-1:]:
            made = datetime.strptime(newest, VERSION).replace(tzinfo=UTC)
            moment = max(moment, made + timedelta(seconds=1))
        return moment.strftime(VERSION)

    def show(self, version: str) -> None:
        """Let analysts see a version from now on; whoever has another one open keeps it.

        A write-ahead log beside the file is of the one that stood there before (an analyst opened it
        for writing). DuckDB would replay it into the new one without a word, so it must go.
        """
        remove_logs(self.published)
        give_name(self.path(version), self.published)
        remove_logs(self.published)
        sync(self.data_dir)

    def clear(self, keep: int) -> list[str]:
        """Remove all but the newest versions; the one that analysts see stays."""
        current = self.current()
        gone = [version for version in self.kept()[: -max(keep, 1)] if version != current]
        for version in gone:
            remove(self.path(version))
        return gone

    def unfinished(self) -> Iterator[Path]:
        """What a killed publication left behind."""
        yield from self.folder.glob(".unfinished*")
        yield from self.data_dir.glob(".warehouse.duckdb.new*")
