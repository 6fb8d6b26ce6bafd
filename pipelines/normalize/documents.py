"""What is one answer of the service? Its document, read once and whole, or refused with a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from pipelines.catalogue.model import Report
from pipelines.normalize.branches import Branch, branches
from pipelines.normalize.cutting import LARGE, Cut, Sliced, cuts
from pipelines.normalize.proving import BEGINNING, keys_in_order, proven
from pipelines.normalize.text import Json, NotJson, parsed, to_json

__all__ = ["Document", "NotJson", "read_at_once", "read_document"]

Part = Cut | Branch

SIZE_OF_VALUES = 9
"""How many bytes of memory Python takes for the values of one byte of an answer."""


@dataclass(frozen=True)
class Document:
    """The document of one body, of a report if that is known.

    `parts` are the cuts of a large list, or the branches of a large tree: it has been read part by part,
    and none is held.
    """

    body: Sliced
    report: Report | None = None
    parts: tuple[Cut, ...] | tuple[Branch, ...] = ()

    @property
    def is_cut(self) -> bool:
        """Whether it is to be read part by part."""
        return bool(self.parts)

    def uncut(self) -> Document:
        """The same, to be read at once."""
        return Document(self.body, self.report)

    @cached_property
    def column(self) -> pl.Series | None:
        """The whole document as polars holds it, if it does with nothing lost."""
        return proven(self.body[:], self.report) if self.report and not self.is_cut else None

    @property
    def keys(self) -> list[str]:
        """The keys that it begins with, in their order."""
        return keys_in_order(self.body[:BEGINNING])

    @cached_property
    def value(self) -> Json:
        """The whole document, with all that polars would drop or bend."""
        return parsed(self.body[:])

    @property
    def size(self) -> int:
        """Bytes of memory that it takes until it is forgotten."""
        if self.column is not None:
            return int(self.column.estimated_size())
        return 0 if self.is_cut else SIZE_OF_VALUES * len(self.body)

    def forget(self) -> None:
        """Let the values go; they are read from the body again when they are asked for."""
        for name in ("value", "column"):
            self.__dict__.pop(name, None)

    @cached_property
    def _as_written(self) -> Json:
        return parsed(self.body[:], numbers_as_written=True)

    def raw(self, steps: Sequence[str | int]) -> str:
        """What stands at the end of these keys and places, as JSON, every number as it was written."""
        value = self._as_written
        for step in steps:
            value = value[step]
        return to_json(value)


def read_document(body: Sliced, report: Report | None = None, *, large: int = LARGE) -> Document:
    """Read a body whole; raises NotJson for everything else.

    Knowing the report makes it faster, and a large body need not be held in memory as a whole.
    """
    parts = (cuts(body, report, large) or branches(body, report, large)) if report else ()
    return Document(body, report, parts) if parts else read_at_once(body, report)


def read_at_once(body: Sliced, report: Report | None = None) -> Document:
    """Read a body whole, however large it is."""
    document = Document(body, report)
    if document.column is None:
        _ = document.value
    return document
