"""How long may one try take, and how large may its answer be?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one try.

    `seconds` bounds every single wait for the network, `whole_seconds` the try from its first byte to
    its last, so that an answer dripping in byte by byte ends as well. `spool` is a directory for
    answers too large to be held in memory; without one they are held there all the same.
    """

    seconds: float = 30.0
    whole_seconds: float = 120.0
    largest_bytes: int = 512 * MEGABYTE
    spool: Path | None = None
