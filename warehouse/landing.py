"""Where do the bytes of an answer rest, exactly as received? One compressed, private file per load.

A file is a plain .tar.zst: `load.json` says which load it is, `0000.json` and `0000.body` are the first
answer, and so on, and `end.json` closes it, so that half a file is known as one. While a guard
has not decided whether its rows may be loaded, a file ends with `.held`:
neither a kill nor a rebuild gets round the guard.
"""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote

import zstandard

from warehouse.errors import LandingDamaged, LandingMissing
from warehouse.explaining import explained
from warehouse.landing_writer import (
    ENDING,
    HEADER,
    HELD,
    TRAILER,
    UNFINISHED,
    LandedFile,
    LandingWriter,
    checksum,
)
from warehouse.opening import PRIVATE_FOLDER, private_folder

__all__ = ["Landed", "LandedFile", "Landing", "LandingWriter"]

WITHOUT_WINDOW = "now"
LONGEST_NAME = 120

Answers = Iterator[tuple[dict[str, Any], bytes]]


@dataclass(frozen=True)
class Landed:
    """A landing file found by walking: its path, what its load is, and how it ended."""

    path: str
    header: Mapping[str, Any]
    trailer: Mapping[str, Any]
    bytes: int
    sha256: str


class Landing:
    """All landing files below one directory."""

    def __init__(self, root: Path) -> None:
        self.root = Path(root)

    def open(
        self,
        report: str,
        customer: str,
        start: date | None,
        end: date | None,
        load_id: str,
        header: Mapping[str, object] | None = None,
    ) -> LandingWriter:
        """Begin the file of a load; `header` holds the rest of what a rebuild needs to know of it."""
        window = f"{start}_{end}" if start and end else WITHOUT_WINDOW
        with explained(self.root):
            private_folder(self.root)
            folder = self.root
            for name in (safe(report), safe(customer), window):
                folder /= name
                folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        known = {"load_id": load_id, "report": report, "customer": customer}
        days = {"window_start": start and str(start), "window_end": end and str(end)}
        path = folder.relative_to(self.root) / f"{safe(load_id)}{ENDING}"
        return LandingWriter(self.root, path, {**(header or {}), **known, **days})

    def read(self, path: str, sha256: str | None = None) -> Answers:
        """Every answer of a file, in the order received; raises LandingDamaged if a byte is wrong."""
        whole = self.root / path
        with _readable(whole):
            if sha256 and checksum(whole)[1] != sha256:
                raise LandingDamaged(_sentence(whole, "its checksum is not the one in the ledger"))
            meta: dict[str, Any] = {}
            for name, content in _members(whole):
                if name.endswith(".body"):
                    if hashlib.sha256(content).hexdigest() != meta["sha256"]:
                        raise LandingDamaged(_sentence(whole, f"{name} is not what was received"))
                    yield meta, content
                else:
                    meta = json.loads(content)
            if name != TRAILER:
                raise LandingDamaged(_sentence(whole, "its end is missing"))

    def read_used(self, path: str, sha256: str | None = None) -> Answers:
        """The answers that counted when the load was fetched, in the order in which they counted."""
        wanted: list[int] = self.landed(path).trailer.get("used", [])
        waiting: dict[int, tuple[dict[str, Any], bytes]] = {}
        following = iter(wanted)
        awaited = next(following, None)
        for position, answer in enumerate(self.read(path, sha256)):
            if position in wanted:
                waiting[position] = answer
            while awaited in waiting:
                yield waiting.pop(awaited)
                awaited = next(following, None)

    def landed(self, path: str) -> Landed:
        """What a file says of its load; raises LandingDamaged if it is not whole."""
        whole = self.root / path
        with _readable(whole):
            said = {name: content for name, content in _members(whole) if name in (HEADER, TRAILER)}
            size, digest = checksum(whole)
            return Landed(path, json.loads(said[HEADER]), json.loads(said[TRAILER]), size, digest)

    def walk(self) -> Iterator[Landed | LandingDamaged]:
        """Every landing file, in the order of their names; a damaged one comes as the error that says so."""
        for path in self.paths():
            try:
                yield self.landed(path)
            except LandingDamaged as error:
                yield error

    def paths(self) -> list[str]:
        """Every finished landing file, relative to the landing directory."""
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob(f"*{ENDING}"))

    def held(self) -> list[str]:
        """Finished files that were held back, or never decided on; no rebuild reads them."""
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob(f"*{ENDING}{HELD}"))

    def release(self, path: str) -> str:
        """Let a held file be loaded, now and by every rebuild; answers what it is called from now on."""
        name = path.removesuffix(HELD)
        with explained(self.root):
            (self.root / path).replace(self.root / name)
        return name

    def unfinished(self) -> list[Path]:
        """What a killed process left behind, or a running one is writing."""
        return sorted(self.root.rglob(f"*{ENDING}{UNFINISHED}"))


def safe(name: str) -> str:
    """A name as part of a path: it cannot leave its directory, be empty, or be that of another name."""
    written = quote(name, safe="").replace(".", "%2E").replace("~", "%7E") or "%"
    if len(written) <= LONGEST_NAME:
        return written
    return f"{written[:40]}%{hashlib.sha256(name.encode()).hexdigest()}"


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    with (
        path.open("rb") as file,
        zstandard.ZstdDecompressor().stream_reader(file) as stream,
        tarfile.open(fileobj=stream, mode="r|") as tar,
    ):
        for about in tar:
            content = tar.extractfile(about)
            yield about.name, content.read() if content else b""


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        with explained(path):
            yield
    except FileNotFoundError as error:
        raise LandingMissing(
            f"The landing file {path} is gone; `brokerbi sync --refresh` asks the service for it again."
        ) from error
    except (zstandard.ZstdError, tarfile.TarError, EOFError, KeyError, ValueError) as error:
        raise LandingDamaged(_sentence(path, str(error))) from error


def _sentence(path: Path, why: str) -> str:
    return (
        f"The landing file {path} is damaged ({why}); put back a copy from a backup, or remove it and let "
        "`brokerbi sync --refresh` ask the service again."
    )
