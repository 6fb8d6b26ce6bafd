"""How long may one try take, and how large may its answer be?"""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one try.

    `seconds` bounds every single wait for the network, `whole_seconds` the try from its first byte to
    its last, so that an answer dripping in byte by byte ends as well.
    """

    seconds: float = 30.0
    whole_seconds: float = 120.0
    largest_bytes: int = 512 * MEGABYTE
