"""Which landing files may go? Old ones that no month and no history in force would be rebuilt from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from warehouse.entering import naive_utc
from warehouse.landing import Landing
from warehouse.working import LOCK_SECONDS, WorkingFile

DAY = timedelta(days=1)
"""A file that the ledger does not know may be one that is about to be loaded, for so long at least."""

_UNNEEDED = """
FROM meta.loads AS load WHERE landing IS NOT NULL AND fetched_at_utc < $1 AND status <> 'landed'
AND NOT EXISTS (FROM meta.months AS held WHERE held.load_id = load.load_id)
AND NOT EXISTS (FROM meta.history_scopes AS held WHERE held.load_id = load.load_id)
AND NOT EXISTS (FROM meta.quarantine_rows AS bad WHERE bad.load_id = load.load_id)
AND NOT (history AND status = 'loaded' AND opened + closed > 0)
"""


@dataclass(frozen=True)
class Cleared:
    """Landing files that were removed, and their size."""

    files: int
    bytes: int


def clear_landing(data_dir: Path, *, days: int, now: datetime, lock_seconds: float = LOCK_SECONDS) -> Cleared:
    """Remove landing files older than so many days that nothing in force needs.

    The ledger lets go of them first: killed in between, the next call removes what is left.
    """
    landing = Landing(Path(data_dir) / "landing")
    oldest = now - timedelta(days=days)
    with WorkingFile(Path(data_dir), lock_seconds).transaction() as connection:
        gone = connection.execute(f"SELECT load_id, landing {_UNNEEDED}", [naive_utc(oldest)]).fetchall()
        connection.execute(
            "UPDATE meta.loads SET landing = NULL WHERE list_contains($1, load_id)",
            [[one for one, _ in gone]],
        )
        found = connection.execute("SELECT landing FROM meta.loads WHERE landing IS NOT NULL").fetchall()
    known = {path for (path,) in found}
    strange = [landing.root / path for path in landing.paths() if path not in known]
    let_go = {landing.root / path for _, path in gone}
    limit = min(oldest, now - DAY).timestamp()
    strange += [landing.root / path for path in landing.held()]
    files = [path for path in (*strange, *landing.unfinished()) if path in let_go or _changed(path) < limit]
    return Cleared(len(files), sum(_remove(path) for path in files))


def _changed(path: Path) -> float:
    return path.stat().st_mtime if path.exists() else float("inf")


def _remove(path: Path) -> int:
    size = path.stat().st_size
    path.unlink(missing_ok=True)
    return size
