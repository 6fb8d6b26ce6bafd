"""What is one answer of the service? Its document, read once and whole, or refused with a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from pipelines.catalogue.vocabulary import Report
from pipelines.flattening.proving import proven_frame
from pipelines.flattening.text import Json, NotJson, parsed, to_json

__all__ = ["Document", "NotJson", "read_document"]


@dataclass(frozen=True)
class Document:
    """The document of one body. `frame` holds its rows when polars read them with nothing lost."""

    body: bytes
    frame: pl.DataFrame | None = None

    @cached_property
    def value(self) -> Json:
        """The whole document, with all that polars would drop or bend."""
        return parsed(self.body)

    @cached_property
    def _as_written(self) -> Json:
        return parsed(self.body, numbers_as_written=True)

    def raw(self, steps: Sequence[str | int]) -> str:
        """What stands at the end of these keys and places, as JSON, every number as it was written."""
        value = self._as_written
        for step in steps:
            value = value[step]
        return to_json(value)


def read_document(body: bytes, report: Report | None = None) -> Document:
    """Read a body whole; raises NotJson for everything else. Knowing the report makes large ones faster."""
    frame = proven_frame(body, report) if report else None
    document = Document(body, frame)
    if frame is None:
        _ = document.value
    return document
