"""Foreign text in one spelling, and harmless in names of files, spreadsheets, terminals and pages."""

from __future__ import annotations

import hashlib
import re
from unicodedata import normalize

MAX_NAME_BYTES = 200
"""Bytes: file systems allow 255, and an extension or the mark of an unfinished file is added."""
FORMULA_CHARS = "=+-@\t\r\n＝＋－＠"
"""A spreadsheet runs a text in a CSV file as a formula if it begins with one of these characters."""
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Characters that a terminal obeys or a page may not contain, and those that reverse the text's direction."""


def tidy(text: str) -> str:
    """The text trimmed and composed (NFC), so that each id or name has one spelling."""
    return normalize("NFC", text.strip())


def file_name(name: str) -> str:
    """The name, or its beginning and a checksum of all of it if it is too long for a file.

    No name that is passed in contains the ~ between the two, so file names stay distinct.
    """
    encoded = name.encode()
    if len(encoded) <= MAX_NAME_BYTES:
        return name
    return f"{encoded[: MAX_NAME_BYTES // 2].decode(errors='ignore')}~{hashlib.sha256(encoded).hexdigest()}"


def csv_cell(text: str) -> str:
    """The text, with an apostrophe in front if it would be a formula; never for numbers."""
    return f"'{text}" if text.startswith(tuple(FORMULA_CHARS)) else text


def visible(text: str) -> str:
    """The text with every control character, including line breaks, escaped as in JSON."""
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def visible_lines(text: str) -> str:
    """The same for text of several lines, except for its line breaks."""
    return "\n".join(map(visible, text.split("\n")))
