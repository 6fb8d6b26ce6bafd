"""Foreign text, made safe for file names, spreadsheets, terminals and pages."""

from __future__ import annotations

import hashlib
import re
from unicodedata import normalize

MAX_NAME_BYTES = 200
"""File systems allow 255 bytes; the rest is for an extension and for the `.new` of an unfinished file."""
FORMULA_CHARS = "=+-@\t\r\n＝＋－＠"
"""A spreadsheet runs a cell of a CSV file as a formula if the cell begins with one of these characters."""
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Characters that control a terminal, are not allowed in a page, or change the direction of text."""


def tidy(text: str) -> str:
    """The text without surrounding blanks and in Unicode's form NFC, so that each name has one spelling."""
    return normalize("NFC", text.strip())


def file_name(name: str) -> str:
    """The name, cut if it is too long for a file. A cut name ends in ~ and a checksum of the whole name.

    A name must not contain a ~, so that different names have different file names.
    """
    encoded = name.encode()
    if len(encoded) <= MAX_NAME_BYTES:
        return name
    return f"{encoded[: MAX_NAME_BYTES // 2].decode(errors='ignore')}~{hashlib.sha256(encoded).hexdigest()}"


def csv_cell(text: str) -> str:
    """The text, with an apostrophe in front if it would run as a formula. Do not pass numbers, such as -1."""
    return f"'{text}" if text.startswith(tuple(FORMULA_CHARS)) else text


def visible(text: str) -> str:
    """The text with every control character, including line breaks, escaped as in JSON."""
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def visible_lines(text: str) -> str:
    """The text with every control character escaped, except newlines."""
    return "\n".join(map(visible, text.split("\n")))
