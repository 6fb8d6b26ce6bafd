"""Where do rows wait that are too many for memory? In a file without a name, gone with its last reader."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from weakref import finalize

import polars as pl


class Rest:
    """Frames on the disk, compressed, one behind the other; the file is its owner's alone."""

    def __init__(self, directory: Path) -> None:
        with TemporaryFile(dir=directory) as file:
            self._descriptor = os.dup(file.fileno())
        self._length = 0
        finalize(self, os.close, self._descriptor)

    def put(self, frame: pl.DataFrame) -> slice:
        """Write a frame down, and say where; raises OSError when the disk has no room."""
        packed = BytesIO()
        frame.write_ipc(packed, compression="lz4")
        start, left = self._length, packed.getbuffer()
        while left:
            written = os.pwrite(self._descriptor, left, self._length)
            self._length += written
            left = left[written:]
        return slice(start, self._length)

    def frame(self, place: slice) -> pl.DataFrame:
        """The frame that was written down there."""
        packed = os.pread(self._descriptor, place.stop - place.start, place.start)
        return pl.read_ipc(BytesIO(packed))
