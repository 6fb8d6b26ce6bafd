"""A file of SQLite, which is how Dagster keeps its events, held open."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager


@contextmanager
def sqlite_file_open(path: str) -> Iterator[None]:
    """Keep it open: whoever closes it last waits until SQLite has brought its log into it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("SELECT 1 FROM sqlite_master").fetchall()  # until then it is not open
        yield
