"""How are rows made from landing alone? The stored answers of a load, flattened as on the first day."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.normalize.document import Document, read_document
from pipelines.normalize.tables import Normalized
from pipelines.planning.windows import Window
from pipelines.sync.fetched import Fetched
from pipelines.sync.reading import flatten_pages

if TYPE_CHECKING:
    from pipelines.sync.reading import Reading
    from warehouse.landing import Landing


def flat_from_landing(
    landing: Landing, path: str, sha256: str, report: Report, window: Window, timezone: str
) -> Normalized:
    """Flatten the answers of a landing file that counted when it was fetched.

    Raises what reading a damaged or missing file raises, and UnreadableRows.
    """
    documents: list[Document] = []
    asked: list[str | None] = []
    for meta, body in landing.read_used(path, sha256):
        documents.append(read_document(body))
        asked.append(_text(meta, "asked"))
    return flatten_pages(report, documents, window, timezone, asked)


async def reread(reading: Reading, fetched: Fetched) -> Fetched:
    """A fetched window with its rows again, after it had to wait without them."""
    async with reading.flattening:
        flat = await asyncio.to_thread(
            flat_from_landing,
            reading.landing,
            fetched.landing,
            fetched.sha256,
            fetched.report,
            fetched.window,
            reading.timezone,
        )
    return replace(fetched, flat=flat)


def _text(meta: Mapping[str, object], name: str) -> str | None:
    value = meta.get(name)
    return value if isinstance(value, str) else None
