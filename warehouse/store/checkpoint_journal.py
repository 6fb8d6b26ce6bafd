"""Checkpoints of the working file, with a journal that undoes interrupted ones.

DuckDB writes rows to unused blocks, but overwrites its metadata in place. A kill or power failure during
a checkpoint could leave a file that cannot be opened. So only this module checkpoints the working file. Its
metadata is first copied into a journal, which is removed when the checkpoint is done. If the next opening
finds a journal, it restores the copied blocks, unless the file's header shows a completed checkpoint.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.errors import translate_errors
from warehouse.store.duckdb_file import connect_working
from warehouse.store.files import HEADER_BYTES, PRIVATE_FILE, sync, wal

_OFFSET_AND_SIZE = struct.Struct("<QI")


@contextmanager
def open_for_writing(path: Path, *, strict: bool = False) -> Iterator[DuckDBPyConnection]:
    """Open the working file for writing; commits are checkpointed when the block ends.

    A failed checkpoint loses nothing, because the commits stay in the WAL. It raises only if `strict`.
    """
    # The descriptor is closed last: closing any descriptor of a file also releases DuckDB's lock on it.
    with translate_errors(path), path.open("rb") as file, connect_working(path) as connection:
        yield connection
        with suppress(*() if strict else (duckdb.Error, OSError)):
            _checkpoint(connection, path, file.fileno())


def recover(path: Path) -> None:
    """Restore blocks that an interrupted checkpoint may have torn."""
    journal = journal_path(path)
    if not journal.exists():
        return
    if path.exists():
        with journal.open("rb") as blocks, path.open("r+b") as file:
            was_interrupted = blocks.read(HEADER_BYTES) == file.read(HEADER_BYTES)
            while was_interrupted and (record := blocks.read(_OFFSET_AND_SIZE.size)):
                offset, size = _OFFSET_AND_SIZE.unpack(record)
                os.pwrite(file.fileno(), blocks.read(size), offset)
            os.fsync(file.fileno())
    journal.unlink()


def journal_path(path: Path) -> Path:
    """The file that keeps the old blocks during a checkpoint."""
    return path.with_name(f".{path.name}.journal")


def _checkpoint(connection: DuckDBPyConnection, path: Path, descriptor: int) -> None:
    if not wal(path).exists():
        return  # nothing was committed
    _write_journal(connection, path, descriptor)
    sys.audit("brokerbi.journal_written")
    connection.execute("CHECKPOINT")
    journal_path(path).unlink()
    sys.audit("brokerbi.checkpointed")


def _write_journal(connection: DuckDBPyConnection, path: Path, source: int) -> None:
    [(size,)] = connection.execute(
        "SELECT block_size FROM pragma_database_size() WHERE database_name = current_database()"
    ).fetchall()
    blocks = connection.execute("SELECT block_id FROM pragma_metadata_info()").fetchall()
    unfinished = journal_path(path).with_suffix(".part")
    descriptor = os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, PRIVATE_FILE)
    with os.fdopen(descriptor, "wb") as journal:
        journal.write(os.pread(source, HEADER_BYTES, 0))
        for (block,) in blocks:
            offset = HEADER_BYTES + block * size
            if len(content := os.pread(source, size, offset)) == size:
                journal.write(_OFFSET_AND_SIZE.pack(offset, size) + content)
        journal.flush()
        os.fsync(journal.fileno())
    unfinished.replace(journal_path(path))
    sync(path.parent)
