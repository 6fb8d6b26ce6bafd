"""In what state are the files? Storage versions, logs left behind, who holds the write lock; only looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from warehouse.lock import holder
from warehouse.opening import STORAGE_VERSION, opened, wal
from warehouse.versions import Versions
from warehouse.working import WorkingFile

if TYPE_CHECKING:
    from warehouse.store import Store


@dataclass(frozen=True)
class LockState:
    """Whether somebody holds the write lock at this moment, and which process, if that can be told."""

    is_held: bool
    pid: int | None = None


def lock_state(data_dir: Path) -> LockState:
    """Tries the lock without waiting for it, and lets go of it at once."""
    path = WorkingFile(data_dir).lock_path
    if not path.exists():
        return LockState(False)
    try:
        with FileLock(path, timeout=0, mode=0o600):
            return LockState(False)
    except Timeout:
        return LockState(True, holder(path))


def storage_version(path: Path) -> str:
    """The storage version a DuckDB file is written in, such as v1.0.0; raises what a damaged file raises."""
    with opened(path, read_only=True) as connection:
        rows = connection.execute(
            "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = current_database()"
        ).fetchall()
    return str(rows[0][0]).removesuffix("+")


def is_readable_by_all(version: str) -> bool:
    """Whether every DuckDB client from 1.0 on can open a file of this storage version."""
    return version == STORAGE_VERSION


def stale_logs(data_dir: Path) -> Sequence[Path]:
    """Write-ahead logs beside published files: somebody opened one for writing."""
    versions = Versions(data_dir)
    files = [versions.published, *(versions.path(version) for version in versions.kept())]
    return [wal(path) for path in files if wal(path).exists()]


def assumptions_that_differ(store: Store) -> list[str]:
    """What was assumed of undocumented columns and turned out otherwise, a sentence for each."""
    with store.reading() as connection:
        known = connection.execute(
            "SELECT 1 FROM duckdb_tables() WHERE schema_name = 'meta' AND table_name = 'assumptions'"
        ).fetchall()
        if not known:
            return []
        rows = connection.execute(
            "SELECT DISTINCT message FROM meta.assumptions WHERE state = 'differs' ORDER BY 1"
        ).fetchall()
    return [message for (message,) in rows]
