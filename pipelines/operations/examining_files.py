"""Are the files in order? Room on the disk, who writes, what is held, storage versions, logs left behind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pipelines.operations.findings import Finding, Grade
from warehouse.errors import WarehouseError
from warehouse.inspecting import (
    assumptions_that_differ,
    is_readable_by_all,
    lock_state,
    stale_logs,
    storage_version,
)
from warehouse.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.settings.model import Settings

ENOUGH_FREE_BYTES = 1_000_000_000
PRIVATE = ("landing", "work")
PATIENCE_SECONDS = 5.0


def disk(settings: Settings) -> Finding:
    """Whether the data directory can be written, and how much room there is."""
    directory = settings.data_dir
    existing = next(path for path in (directory.absolute(), *directory.absolute().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if not os.access(existing, os.W_OK):
        return Finding("disk", Grade.WRONG, f"{existing} cannot be written", "give this user the right to")
    if free < ENOUGH_FREE_BYTES:
        return Finding("disk", Grade.ODD, f"{free / 1e6:.0f} MB are free", "make room, or set landing_days")
    return Finding("disk", Grade.WELL, f"{free / 1e9:.0f} GB are free in {directory}")


def lock(settings: Settings) -> Finding:
    """Who holds the write lock."""
    state = lock_state(settings.data_dir)
    if not state.is_held:
        return Finding("write lock", Grade.WELL, "nobody holds it")
    who = f"process {state.pid}" if state.pid else "a process that cannot be told"
    remedy = "let it end; a process that hangs may be killed, and the lock dies with it"
    return Finding("write lock", Grade.ODD, f"{who} is writing", remedy)


def working_file(settings: Settings) -> Iterator[Finding]:
    """What is held, which windows were learned, and which assumptions do not hold."""
    store = Store(settings.data_dir, lock_seconds=PATIENCE_SECONDS)
    try:
        ledger, differing = store.ledger(), assumptions_that_differ(store)
    except WarehouseError as error:
        yield Finding("working file", Grade.WRONG, str(error), "see the sentence itself")
        return
    yield Finding("working file", Grade.WELL, f"{len(ledger.months)} months of reports are held")
    for (report, customer), cap in ledger.caps.items():
        length = f"{cap.days} days" if cap.days else f"{cap.months} months"
        found = f"{report} of {customer} is only answered for {length} at a time"
        remedy = "brokerbi status --forget-caps, if the service has changed"
        yield Finding("windows", Grade.ODD, found, remedy)
    remedy = "adapt the file in sql/staging that it names, then `brokerbi publish`"
    yield from (Finding("assumed columns", Grade.ODD, message, remedy) for message in differing)
    if not differing:
        yield Finding("assumed columns", Grade.WELL, "whatever has come so far is as assumed")


def files(settings: Settings) -> Iterator[Finding]:
    """Storage versions of both files, logs beside published files, and who may look at personal data."""
    for subject, name in (("working file", "work/warehouse.duckdb"), ("published file", "warehouse.duckdb")):
        path = settings.data_dir / name
        if path.exists():
            yield _storage(subject, path)
    for path in stale_logs(settings.data_dir):
        found = f"{path} was left by somebody who opened the file for writing"
        remedy = "nothing of it reaches the next publication; open with -readonly, and remove it"
        yield Finding("published file", Grade.ODD, found, remedy)
    for name in PRIVATE:
        folder = settings.data_dir / name
        if folder.exists() and folder.stat().st_mode & 0o077:
            found = f"{folder} holds personal data, and others than its owner can look into it"
            yield Finding("privacy", Grade.ODD, found, f"chmod 700 {folder}")


def _storage(subject: str, path: Path) -> Finding:
    try:
        version = storage_version(path)
    except WarehouseError as error:
        return Finding(subject, Grade.WRONG, str(error), "see the sentence itself")
    if is_readable_by_all(version):
        return Finding(subject, Grade.WELL, f"its storage version is {version}, which every client can open")
    remedy = "`brokerbi compact`, then `brokerbi publish`: they write it in the version of 1.0"
    return Finding(
        subject, Grade.ODD, f"its storage version is {version}: older clients cannot open it", remedy
    )
