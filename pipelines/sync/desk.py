"""How many parsed answers may lie about? As many as there is room for; others are parsed again."""

from __future__ import annotations

from dataclasses import dataclass

ROOM = 64 * 1024 * 1024
"""Bytes of memory for answers that are kept parsed until their window is whole."""


@dataclass
class Desk:
    """The room that all windows under way share."""

    room: int = ROOM

    def take(self, size: int) -> bool:
        """Whether there is room for an answer of this size; if so it is taken until it is given back."""
        if size > self.room:
            return False
        self.room -= size
        return True

    def give_back(self, size: int) -> None:
        """Make room for others."""
        self.room += size
