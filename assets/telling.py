"""How are many squares told of quickly? Dagster's own sqlite files are kept open while they are written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import dagster as dg
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME, SqliteEventLogStorage


@contextmanager
def kept_open(instance: dg.DagsterInstance, run_id: str) -> Iterator[None]:
    """Halve the time that each event takes, where Dagster keeps them in sqlite; else change nothing.

    Dagster opens and closes its files for every event, and the last one to close a file in write-ahead
    mode tidies it up on disk. With one more reader there, nobody is the last.
    """
    storage = instance.event_log_storage
    with ExitStack() as stack:
        if isinstance(storage, SqliteEventLogStorage):
            for shard in (run_id, INDEX_SHARD_NAME):
                path = Path(storage.path_for_shard(shard))
                if path.exists():
                    reader = stack.enter_context(closing(sqlite3.connect(path)))
                    reader.execute("SELECT count(*) FROM sqlite_master").fetchall()
        yield
