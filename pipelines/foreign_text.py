"""Foreign text where it could do more than be read: names of files, spreadsheets, terminals and pages."""

from __future__ import annotations

import hashlib
import re

LONGEST = 200
"""In bytes: file systems take 255, and an ending or the mark of an unfinished file comes to it."""
FORMULA_SIGNS = "=+-@\t\r\n＝＋－＠"
"""A spreadsheet takes a text of a CSV file for a formula, and runs it, if it begins with one of these."""
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys and a page may not hold, with what turns the direction of the text after it."""


def file_name(name: str) -> str:
    """The name itself, or its beginning and a checksum of the whole if it is too long to be one of a file.

    The sign between the two is in no name that is handed in, so that no other name can be the same.
    """
    written = name.encode()
    if len(written) <= LONGEST:
        return name
    return f"{written[: LONGEST // 2].decode(errors='ignore')}~{hashlib.sha256(written).hexdigest()}"


def csv_cell(text: str) -> str:
    """The text, with an apostrophe before what would be a formula; never for numbers."""
    return f"'{text}" if text.startswith(tuple(FORMULA_SIGNS)) else text


def visible(text: str) -> str:
    """The text with every control character, line breaks too, written as JSON may write it."""
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def visible_lines(text: str) -> str:
    """The same of a text of several lines, which stay lines."""
    return "\n".join(map(visible, text.split("\n")))
