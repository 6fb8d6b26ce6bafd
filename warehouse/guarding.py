"""What if a checkpoint is cut short in the middle of a block? The blocks it may overwrite are kept aside.

DuckDB writes rows to blocks that nothing points to yet, but its metadata in place: 256 KiB at a time, under
one checksum. A process that is killed (or a machine that loses power) within such a write would leave a
file that nobody can open. So the working file is only checkpointed here: the metadata is copied into a
journal first, which is removed when the new header stands, and put back by whoever comes next otherwise.
What was committed since is still in the write-ahead log, and is replayed as usual.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from warehouse.explaining import explained
from warehouse.opening import PRIVATE_FILE, opened, sync, wal

HEADERS = 3 * 4096
"""A DuckDB file begins with its headers; a checkpoint is done when one of them has changed."""

_PLACE = struct.Struct("<QI")
_NEVER_BY_ITSELF = "SET checkpoint_threshold = '1000TB'; PRAGMA disable_checkpoint_on_shutdown"


@contextmanager
def guarded(path: Path, *, strict: bool = False) -> Iterator[DuckDBPyConnection]:
    """The working file, open for writing; what the body committed is checkpointed at its end.

    A checkpoint that fails loses nothing, as the log keeps what is committed: it raises only if `strict`.
    """
    # closed last: by closing any descriptor of a file a process gives up DuckDB's lock on it
    with explained(path), path.open("rb") as file, opened(path) as connection:
        connection.execute(_NEVER_BY_ITSELF)
        yield connection
        with suppress(*() if strict else (duckdb.Error, OSError)):
            _checkpoint(connection, path, file.fileno())


def mend(path: Path) -> bool:
    """Put back what a checkpoint that was cut short may have torn; answers whether there was one."""
    kept = journal(path)
    if not kept.exists():
        return False
    cut_short = False
    if path.exists():
        with kept.open("rb") as blocks, path.open("r+b") as file:
            cut_short = blocks.read(HEADERS) == file.read(HEADERS)
            while cut_short and (place := blocks.read(_PLACE.size)):
                offset, size = _PLACE.unpack(place)
                os.pwrite(file.fileno(), blocks.read(size), offset)
            os.fsync(file.fileno())
    kept.unlink()
    return cut_short


def journal(path: Path) -> Path:
    """Where the blocks are kept while a checkpoint is made."""
    return path.with_name(f".{path.name}.journal")


def _checkpoint(connection: DuckDBPyConnection, path: Path, file: int) -> None:
    if not wal(path).exists():
        return  # nothing was committed
    _keep(connection, path, file)
    connection.execute("CHECKPOINT")
    journal(path).unlink()


def _keep(connection: DuckDBPyConnection, path: Path, file: int) -> None:
    """Copy headers and metadata as they are on the disk; the journal gets its name when it is whole."""
    [(size,)] = connection.execute("SELECT block_size FROM pragma_database_size()").fetchall()
    blocks = connection.execute("SELECT block_id FROM pragma_metadata_info()").fetchall()
    unfinished = journal(path).with_suffix(".part")
    descriptor = os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, PRIVATE_FILE)
    with os.fdopen(descriptor, "wb") as kept:
        kept.write(os.pread(file, HEADERS, 0))
        for (block,) in blocks:
            offset = HEADERS + block * size
            if len(content := os.pread(file, size, offset)) == size:
                kept.write(_PLACE.pack(offset, size) + content)
        kept.flush()
        os.fsync(kept.fileno())
    unfinished.replace(journal(path))
    sync(path.parent)
