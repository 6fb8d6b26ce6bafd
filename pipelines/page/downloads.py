"""Downloads of the numbers behind a chart: a CSV file within the page, as a link that asks no network for it.

Numbers are written as a spreadsheet of the page's language reads them, and no name is a formula there.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import quote

from pipelines.foreign_text import csv_cell, file_name
from pipelines.page.language import Language

BYTE_ORDER_MARK = "\ufeff"  # without it Excel takes the file for another encoding


@dataclass(frozen=True)
class Download:
    """The address of a CSV file, what the file is called, and what it is of."""

    href: str
    file: str
    name: str


def download(words: Language, name: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> Download:
    """A CSV file with these rows."""
    text = io.StringIO()
    file = csv.writer(text, delimiter=words.words["form"]["csv"])
    file.writerow(map(csv_cell, head))
    file.writerows([[_cell(one, words.words["form"]["decimal"]) for one in row] for row in rows])
    return Download(
        "data:text/csv;charset=utf-8," + quote(BYTE_ORDER_MARK + text.getvalue()),
        file_name(re.sub(r"\W+", "-", name.lower()).strip("-")) + ".csv",
        name,
    )


def _cell(value: object, decimal: str) -> str:
    if value is None:
        return ""
    if isinstance(value, Decimal | int | float):
        text = f"{value:.4f}".rstrip("0").rstrip(".") if not isinstance(value, int) else str(value)
        return text.replace(".", decimal)
    return csv_cell(str(value))
