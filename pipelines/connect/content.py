"""Where are the bytes of an answer? In memory while they are few, else in a file without a name."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryFile
from typing import TypeAlias
from weakref import finalize

MOST_IN_MEMORY = 1 * 1024 * 1024
"""Bytes of one answer that are held in memory; a larger one rests on the disk until it is read."""


class Spooled:
    """The bytes of a large answer, on the disk: they are sliced like others, a part at a time.

    The file has no name, is its owner's alone, and is gone when nobody reads it any more, however
    the process ends.
    """

    def __init__(self, directory: Path) -> None:
        with TemporaryFile(dir=directory) as file:
            self._descriptor = os.dup(file.fileno())
        self._length = 0
        finalize(self, os.close, self._descriptor)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> bytes:
        start, stop, _ = part.indices(self._length)
        parts: list[bytes] = []
        while start < stop and (read := os.pread(self._descriptor, stop - start, start)):
            parts.append(read)
            start += len(read)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def add(self, received: bytes | bytearray) -> None:
        """Write more at the end; raises OSError when the disk has no room."""
        left = memoryview(received)
        while left:
            written = os.pwrite(self._descriptor, left, self._length)
            self._length += written
            left = left[written:]


Content: TypeAlias = bytes | Spooled


class Spool:
    """Takes bytes as they come, and moves to the disk when they become many; without a directory never."""

    def __init__(self, directory: Path | None, most: int = MOST_IN_MEMORY) -> None:
        self._directory = directory
        self._most = most
        self._held = bytearray()
        self._spooled: Spooled | None = None

    def __len__(self) -> int:
        return len(self._held) if self._spooled is None else len(self._spooled)

    def add(self, received: bytes) -> None:
        """Take the next bytes; raises OSError when there is no room for them on the disk."""
        if self._spooled is not None:
            self._spooled.add(received)
            return
        self._held += received
        if self._directory is not None and len(self._held) > self._most:
            self._spooled = Spooled(self._directory)
            self._spooled.add(self._held)
            self._held = bytearray()

    def content(self) -> Content:
        """All that has come so far."""
        return bytes(self._held) if self._spooled is None else self._spooled
