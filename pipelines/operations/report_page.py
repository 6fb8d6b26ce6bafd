"""The report page beside the published file: read, rendered, and put in place in one step."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipelines.page.facts import QUERIES, facts_from_rows
from pipelines.page.html_page import render_page
from warehouse.errors import WarehouseError, explained
from warehouse.files import SHARED_FILE, write_file
from warehouse.queries import SQL, published_rows

REPORT_PAGE = "report.html"


@dataclass(frozen=True)
class ReportPage:
    """A page that was written: where, how large it is, and how long it took."""

    path: Path
    bytes: int
    seconds: float
    missing: tuple[str, ...]  # what the published file cannot answer


def write_report_page(data_dir: Path, *, timezone: str, now: datetime, out: Path | None = None) -> ReportPage:
    """Render the published file; whoever has the old page open keeps it.

    Raises WarehouseError when there is no published file, or when the page cannot be written.
    """
    began = time.monotonic()
    facts = facts_from_rows(published_rows(data_dir, SQL / "page", QUERIES))
    html = render_page(facts, timezone=timezone, made_at_utc=now).encode()
    path = Path(out) if out else Path(data_dir) / REPORT_PAGE
    with explained(path):
        write_file(path, html, mode=SHARED_FILE)
    return ReportPage(path, len(html), time.monotonic() - began, tuple(facts.missing))


def refresh_report_page(data_dir: Path, *, timezone: str, now: datetime) -> ReportPage | str:
    """The page of a new publication, or the sentence that says why there is none: no sync fails of it."""
    try:
        return write_report_page(data_dir, timezone=timezone, now=now)
    except Exception as error:  # noqa: BLE001 whatever is wrong with the page, the numbers are published
        why = str(error) if isinstance(error, WarehouseError) else f"{type(error).__name__}: {error}"
        return f"The page {REPORT_PAGE} could not be drawn, the one before stays: {why}"
