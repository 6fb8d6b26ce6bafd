"""Checkpoints of the working file, with a journal that undoes an interrupted one.

DuckDB writes rows to blocks that nothing points to yet, but its metadata in place: a block at a time, under
one checksum. A kill or a power failure during such a write would leave a file that cannot be opened. So the
working file is only checkpointed here: the metadata is copied into a journal first. The journal is removed
when the checkpoint is done; a journal that is found when the file is opened next is put back. Rows committed
since are still in the write-ahead log, and are replayed as usual.
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

_PLACE = struct.Struct("<QI")


@contextmanager
def open_for_writing(path: Path, *, strict: bool = False) -> Iterator[DuckDBPyConnection]:
    """Open the working file for writing; the commits of the body are checkpointed at the end.

    A failed checkpoint loses nothing, because the log keeps the commits: it raises only if `strict`.
    """
    # closed last: closing any descriptor of a file also releases DuckDB's lock on it
    with translate_errors(path), path.open("rb") as file, connect_working(path) as connection:
        yield connection
        with suppress(*() if strict else (duckdb.Error, OSError)):
            _checkpoint(connection, path, file.fileno())


def recover(path: Path) -> bool:
    """Restore the blocks that an interrupted checkpoint may have torn; returns whether there was one."""
    journal = journal_path(path)
    if not journal.exists():
        return False
    cut_short = False
    if path.exists():
        with journal.open("rb") as blocks, path.open("r+b") as file:
            cut_short = blocks.read(HEADER_BYTES) == file.read(HEADER_BYTES)
            while cut_short and (place := blocks.read(_PLACE.size)):
                offset, size = _PLACE.unpack(place)
                os.pwrite(file.fileno(), blocks.read(size), offset)
            os.fsync(file.fileno())
    journal.unlink()
    return cut_short


def journal_path(path: Path) -> Path:
    """Where the blocks are kept while a checkpoint is made."""
    return path.with_name(f".{path.name}.journal")


def _checkpoint(connection: DuckDBPyConnection, path: Path, file: int) -> None:
    if not wal(path).exists():
        return  # nothing was committed
    _write_journal(connection, path, file)
    sys.audit("brokerbi.journal_written")
    connection.execute("CHECKPOINT")
    journal_path(path).unlink()
    sys.audit("brokerbi.checkpointed")


def _write_journal(connection: DuckDBPyConnection, path: Path, file: int) -> None:
    """Copy headers and metadata as they are on the disk; the journal gets its name when it is whole."""
    [(size,)] = connection.execute(
        "SELECT block_size FROM pragma_database_size() WHERE database_name = current_database()"
    ).fetchall()
    blocks = connection.execute("SELECT block_id FROM pragma_metadata_info()").fetchall()
    unfinished = journal_path(path).with_suffix(".part")
    descriptor = os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, PRIVATE_FILE)
    with os.fdopen(descriptor, "wb") as journal:
        journal.write(os.pread(file, HEADER_BYTES, 0))
        for (block,) in blocks:
            offset = HEADER_BYTES + block * size
            if len(content := os.pread(file, size, offset)) == size:
                journal.write(_PLACE.pack(offset, size) + content)
        journal.flush()
        os.fsync(journal.fileno())
    unfinished.replace(journal_path(path))
    sync(path.parent)
