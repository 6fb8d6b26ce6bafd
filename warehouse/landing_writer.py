"""How is a landing file written? Under another name until every byte is on the disk."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import zstandard

from warehouse.explaining import explained
from warehouse.opening import PRIVATE_FILE, sync

ENDING = ".tar.zst"
UNFINISHED = ".part"
HELD = ".held"
"""What a file is called, after its ending, while nobody has decided that it may be loaded."""
HEADER = "load.json"
TRAILER = "end.json"
LEVEL = 1
"""JSON of rows shrinks to a sixth at level 1; level 3 gains nothing and takes twice as long."""

PART = 1024 * 1024


@dataclass(frozen=True)
class LandedFile:
    """A finished landing file; `path` is relative to the landing directory."""

    path: str
    bytes: int
    sha256: str
    requests: int


class Sliced(Protocol):
    """Bytes that can be taken a part at a time, wherever they are."""

    def __len__(self) -> int: ...
    def __getitem__(self, part: slice, /) -> bytes: ...


class LandingWriter:
    """Writes one landing file; nothing stands under its name before `close`."""

    def __init__(self, root: Path, path: Path, header: Mapping[str, object]) -> None:
        self._root = root
        self._path = path
        self._unfinished = root / path.with_name(path.name + UNFINISHED)
        self._answers = 0
        with explained(root):
            descriptor = os.open(self._unfinished, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, PRIVATE_FILE)
            self._file = os.fdopen(descriptor, "wb")
            compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
            self._stream = compressor.stream_writer(self._file, closefd=False)
            self._tar = tarfile.open(fileobj=self._stream, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115
            self._member(HEADER, as_json(header))

    def add(self, meta: Mapping[str, object], body: Sliced) -> None:
        """One answer: what was asked and answered, and the body as received, a part at a time."""
        digest = hashlib.sha256()
        for part in _parts(body):
            digest.update(part)
        known = {**meta, "bytes": len(body), "sha256": digest.hexdigest()}
        with explained(self._root):
            self._member(f"{self._answers:04}.json", as_json(known))
            self._member(f"{self._answers:04}.body", body)
        self._answers += 1

    def close(self, trailer: Mapping[str, object] | None = None, *, held: bool = False) -> LandedFile:
        """Finish the file, wait for the disk, and give it its name; `held` until `Landing.release`.

        The directory need not be waited for: the ledger's own wait, which comes after, includes it.
        """
        with explained(self._root):
            try:
                self._member(TRAILER, as_json({**(trailer or {}), "answers": self._answers}))
                self._end()
                sync(self._unfinished)
                size, digest = checksum(self._unfinished)
                path = self._path.with_name(self._path.name + HELD) if held else self._path
                self._unfinished.replace(self._root / path)
            except BaseException:
                self.discard()
                raise
        return LandedFile(path.as_posix(), size, digest, self._answers)

    def discard(self) -> None:
        """Leave nothing behind."""
        if not self._file.closed:
            self._file.close()
        self._unfinished.unlink(missing_ok=True)

    def _member(self, name: str, content: Sliced) -> None:
        about = tarfile.TarInfo(name)
        about.size = len(content)
        about.mode = PRIVATE_FILE
        self._tar.addfile(about)
        for part in _parts(content):
            self._stream.write(part)
        self._stream.write(bytes(-len(content) % tarfile.BLOCKSIZE))
        self._tar.offset += len(content) + -len(content) % tarfile.BLOCKSIZE

    def _end(self) -> None:
        self._tar.close()
        self._stream.close()  # type: ignore[no-untyped-call]
        self._file.close()


def _parts(content: Sliced) -> Iterator[bytes]:
    return (content[start : start + PART] for start in range(0, len(content), PART))


def as_json(value: Mapping[str, object]) -> bytes:
    """A small document, the same bytes for the same content."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str).encode()


def checksum(path: Path) -> tuple[int, str]:
    """Size and SHA-256 of a file."""
    with path.open("rb") as file:
        return path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()
