"""Where do the bytes of an answer rest, exactly as received? One compressed file per load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path


@dataclass(frozen=True)
class LandedFile:
    """A finished landing file; `path` is relative to the landing directory."""

    path: str
    bytes: int
    sha256: str
    requests: int


@dataclass(frozen=True)
class Landed:
    """A landing file found by walking: its path and the header of its load."""

    path: str
    header: Mapping[str, object]


class LandingWriter:
    """Writes one landing file; nothing is visible under its name before `close`."""

    def add(self, meta: Mapping[str, object], body: bytes) -> None:
        """One answer: what was asked and answered, and the body as received."""
        raise NotImplementedError

    def close(self) -> LandedFile:
        """Sync the file and give it its name."""
        raise NotImplementedError

    def discard(self) -> None:
        """Leave nothing behind."""
        raise NotImplementedError


class Landing:
    """All landing files of a data directory."""

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
        """Begin the file of a load; `header` holds the rest of what a replay needs to know of it."""
        raise NotImplementedError

    def read(self, path: str, sha256: str | None = None) -> Iterator[tuple[dict[str, object], bytes]]:
        """Every answer of a file, in the order received; raises LandingDamaged if a byte is wrong."""
        raise NotImplementedError

    def walk(self) -> Iterator[Landed]:
        """Every landing file with its header, oldest first."""
        raise NotImplementedError
