"""How does the page come to lie beside the published file? Read, drawn, and renamed into place."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from warehouse.errors import WarehouseError, explained
from warehouse.files import SHARED_FILE, write_file
from warehouse.pictures import read_pictures

PAGE = "report.html"


@dataclass(frozen=True)
class Drawn:
    """Where the page lies, how large it is, and how long it took."""

    path: Path
    bytes: int
    seconds: float
    missing: tuple[str, ...]  # what the published file cannot answer


def write_report(data_dir: Path, *, timezone: str, now: datetime, out: Path | None = None) -> Drawn:
    """Draw the published file; whoever has the old page open keeps it.

    Refuses with a sentence when there is no published file, or when the page cannot be written.
    """
    from pipelines.page.facts import facts_of
    from pipelines.page.page import page

    began = time.monotonic()
    pictured = read_pictures(data_dir)
    html = page(facts_of(pictured.rows, pictured.missing), timezone=timezone, made_at_utc=now).encode()
    path = Path(out) if out else Path(data_dir) / PAGE
    with explained(path):
        write_file(path, html, mode=SHARED_FILE)
    return Drawn(path, len(html), time.monotonic() - began, pictured.missing)


def draw_beside(data_dir: Path, *, timezone: str, now: datetime) -> Drawn | str:
    """The page of a new publication, or the sentence that says why there is none: no night fails of it."""
    try:
        return write_report(data_dir, timezone=timezone, now=now)
    except Exception as error:  # noqa: BLE001 whatever is wrong with a picture, the numbers are published
        why = str(error) if isinstance(error, WarehouseError) else f"{type(error).__name__}: {error}"
        return f"The page {PAGE} could not be drawn, the one before stays: {why}"
