"""The pages beside the published file, the report and the dictionary: each put in place in one step."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipelines.page import dictionary
from pipelines.page.facts import QUERIES, facts_from_rows
from pipelines.page.html_page import render_page
from warehouse.errors import WarehouseError, explained
from warehouse.files import SHARED_FILE, write_file
from warehouse.queries import SQL, published_rows

REPORT_PAGE = "report.html"
DICTIONARY_PAGE = "dictionary.html"


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


def write_dictionary_page(data_dir: Path, *, timezone: str, now: datetime) -> Path | None:
    """Render the dictionary of the published file; None for a file of before, which does not say enough."""
    rows = published_rows(data_dir, SQL / "page", dictionary.QUERIES)
    known = {name: found for name, found in rows.items() if found is not None}
    if len(known) < len(rows):
        return None
    path = Path(data_dir) / DICTIONARY_PAGE
    with explained(path):
        html = dictionary.render_dictionary(known, timezone=timezone, made_at_utc=now)
        write_file(path, html.encode(), mode=SHARED_FILE)
    return path


def refresh_report_page(data_dir: Path, *, timezone: str, now: datetime) -> ReportPage | str:
    """The pages of a new publication, or the sentence that says why there is none: no sync fails of it."""
    try:
        write_dictionary_page(data_dir, timezone=timezone, now=now)
        return write_report_page(data_dir, timezone=timezone, now=now)
    except Exception as error:  # noqa: BLE001 whatever is wrong with the page, the numbers are published
        why = str(error) if isinstance(error, WarehouseError) else f"{type(error).__name__}: {error}"
        return f"The page {REPORT_PAGE} could not be drawn, the one before stays: {why}"
