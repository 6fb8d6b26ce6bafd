"""Landing: the bytes of every answer exactly as received, one compressed, private file per load.

A file is a plain .tar.zst. `load.json` names the load. `0000.json` and `0000.body` are the first answer, and
so on. `end.json` is last, so that a truncated file is recognized. The compressed stream ends with a checksum
of its content; the ledger has a checksum of the whole file.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import tarfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote

import zstandard

from warehouse.errors import LandingDamaged, translate_errors
from warehouse.store.files import PRIVATE_FILE, PRIVATE_FOLDER, file_sha256, make_folder

ENDING = ".tar.zst"
UNFINISHED = ".part"
HEADER = "load.json"
TRAILER = "end.json"
LEVEL = 1
"""JSON of rows shrinks to a sixth at level 1; level 3 gains nothing and takes twice as long."""
FOLDER_WITHOUT_WINDOW = "now"
MAX_NAME_LENGTH = 120
NO_END = "its end is missing"
REQUEST_AGAIN = "run `brokerbi sync --refresh` with its --report, --customer, --from and --to"
"""The end of the remedy for a lost or damaged landing file."""

Answers = Iterator[tuple[dict[str, Any], bytes]]


@dataclass(frozen=True)
class LandingFile:
    """A finished landing file: its path below the landing directory, its header and its trailer."""

    path: str
    header: Mapping[str, Any]
    trailer: Mapping[str, Any]
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Landing:
    """All landing files below one directory."""

    root: Path

    def open(
        self,
        report: str,
        customer: str,
        start: date | None,
        end: date | None,
        load_id: str,
        header: Mapping[str, object] | None = None,
    ) -> LandingWriter:
        """Begin the landing file of a load; `header` adds facts that a replay needs."""
        window = f"{start}_{end}" if start and end else FOLDER_WITHOUT_WINDOW
        with translate_errors(self.root):
            make_folder(self.root)
            folder = self.root
            for name in (safe_name(report), safe_name(customer), window):
                folder /= name
                folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        identity = {"load_id": load_id, "report": report, "customer": customer}
        days = {"window_start": start and str(start), "window_end": end and str(end)}
        path = folder.relative_to(self.root) / f"{safe_name(load_id)}{ENDING}"
        return LandingWriter(self.root, path, {**(header or {}), **identity, **days})

    def read(self, path: str, sha256: str | None = None) -> Answers:
        """Every answer of a file, in order; raises LandingDamaged if the file is gone or a byte is wrong.

        Without `sha256`, a wrong byte may be noticed only after all answers were yielded.
        """
        full_path = self.root / path
        with _readable(full_path):
            if sha256 and file_sha256(full_path) != sha256:
                raise LandingDamaged(_damage_message(full_path, "its checksum is not the one in the ledger"))
            name, meta = "", dict[str, Any]()
            for name, content in _members(full_path, verify=True):
                if name.endswith(".body"):
                    yield meta, content
                else:
                    meta = json.loads(content)
            if name != TRAILER:
                raise LandingDamaged(_damage_message(full_path, NO_END))

    def read_used(self, path: str, sha256: str | None = None) -> Answers:
        """The answers that the load used, in the order in which it used them."""
        used: list[int] = self.describe(path).trailer.get("used", [])
        answers = {number: answer for number, answer in enumerate(self.read(path, sha256)) if number in used}
        yield from (answers[number] for number in used)

    def describe(self, path: str) -> LandingFile:
        """Header and trailer of a file; raises LandingDamaged if it is gone or incomplete."""
        full_path = self.root / path
        with _readable(full_path):
            members = {name: content for name, content in _members(full_path) if name in (HEADER, TRAILER)}
            if TRAILER not in members:
                raise LandingDamaged(_damage_message(full_path, NO_END))
            size, digest = full_path.stat().st_size, file_sha256(full_path)
            return LandingFile(path, json.loads(members[HEADER]), json.loads(members[TRAILER]), size, digest)

    def walk(self, reports: Collection[str]) -> Iterator[LandingFile | LandingDamaged]:
        """The landing files of these reports in order of name; for a damaged file, yields the error."""
        for path in self.paths():
            if path.partition("/")[0] not in reports:
                continue
            try:
                yield self.describe(path)
            except LandingDamaged as error:
                yield error

    def paths(self) -> list[str]:
        """Every finished landing file, relative to the landing directory."""
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob(f"*{ENDING}"))

    def clear_unfinished(self) -> int:
        """Remove unfinished files of killed processes; returns how many.

        Needs the work lock, under which no other process writes.
        """
        unfinished = [*self.root.rglob(f"*{ENDING}{UNFINISHED}")]
        for path in unfinished:
            path.unlink(missing_ok=True)
        return len(unfinished)


class LandingWriter:
    """Writes one landing file, under a temporary name until every byte is on the disk."""

    def __init__(self, root: Path, path: Path, header: Mapping[str, object]) -> None:
        self._root = root
        self._path = path
        self._header = header
        self._unfinished = root / path.with_name(path.name + UNFINISHED)
        self._answers = 0
        with translate_errors(root):
            descriptor = os.open(self._unfinished, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, PRIVATE_FILE)
            self._file = os.fdopen(descriptor, "wb")
            compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
            self._stream = compressor.stream_writer(self._file, closefd=False)
            self._tar = tarfile.open(fileobj=self._stream, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115
            self._add_member(HEADER, header)

    def add(self, meta: Mapping[str, object], body: bytes) -> int:
        """Add an answer, with its request, status and body as received; returns its index in the file."""
        with translate_errors(self._root):
            self._add_member(f"{self._answers:04}.json", {**meta, "bytes": len(body)})
            self._add_member(f"{self._answers:04}.body", body)
        self._answers += 1
        return self._answers - 1

    def close(self, trailer: Mapping[str, object] | None = None) -> LandingFile:
        """Finish the file, sync it to disk, and rename it.

        The directory is not synced: on a file system with a journal, such as ext4 or XFS, the rename becomes
        durable with the next fsync, which is that of the working file.
        """
        sys.audit("brokerbi.before_landing_closed")
        with translate_errors(self._root):
            try:
                trailer = {**(trailer or {}), "answers": self._answers}
                self._add_member(TRAILER, trailer)
                self._tar.close()
                self._stream.close()  # type: ignore[no-untyped-call]
                self._file.flush()
                os.fsync(self._file.fileno())
                size, digest = self._unfinished.stat().st_size, file_sha256(self._unfinished)
                self._unfinished.replace(self._root / self._path)
                self._file.close()
            except BaseException:
                self.discard()
                raise
        sys.audit("brokerbi.landing_closed")
        return LandingFile(self._path.as_posix(), self._header, trailer, size, digest)

    def discard(self) -> None:
        with suppress(OSError):  # a full disk fails the close as well
            self._file.close()
        self._unfinished.unlink(missing_ok=True)

    def _add_member(self, name: str, content: bytes | Mapping[str, object]) -> None:
        if not isinstance(content, bytes):
            content = json.dumps(content, ensure_ascii=False, sort_keys=True, default=str).encode()
        info = tarfile.TarInfo(name)
        info.size = len(content)
        info.mode = PRIVATE_FILE
        self._tar.addfile(info, io.BytesIO(content))


def safe_name(name: str) -> str:
    """A name made safe for a path: it is never empty, stays in its directory, and clashes with no other."""
    encoded = quote(name, safe="").replace(".", "%2E").replace("~", "%7E") or "%"
    if len(encoded) <= MAX_NAME_LENGTH:
        return encoded
    return f"{encoded[:40]}%{hashlib.sha256(name.encode()).hexdigest()}"


def _members(path: Path, *, verify: bool = False) -> Iterator[tuple[str, bytes]]:
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            for info in tar:
                content = tar.extractfile(info)
                yield info.name, content.read() if content else b""
        while verify and stream.read(zstandard.DECOMPRESSION_RECOMMENDED_OUTPUT_SIZE):
            pass  # reads the checksum after the last block; if a byte was wrong, this raises ZstdError


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        with translate_errors(path):
            yield
    except FileNotFoundError as error:
        raise LandingDamaged(
            f"The landing file {path} is gone; copy it back from a backup (`cp` or `rclone "
            f"copy`), or {REQUEST_AGAIN}."
        ) from error
    except (zstandard.ZstdError, tarfile.TarError, EOFError, KeyError, ValueError) as error:
        raise LandingDamaged(_damage_message(path, str(error))) from error


def _damage_message(path: Path, reason: str) -> str:
    return (
        f"The landing file {path} is damaged ({reason}); restore it from a backup, or remove it and "
        f"{REQUEST_AGAIN}."
    )
