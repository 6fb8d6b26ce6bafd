"""Units of the columns of marts and meta, by type and name."""

from __future__ import annotations

import re

MONTH, DAY = "a month, by its first day", "a day"
MOMENT = "a moment"
SHARE, PERCENT, PARTS = "share, 1 is all of it", "percent", "parts; 1 is a whole"
INTEGER, FRACTION = "U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?", "DECIMAL.*|DOUBLE|FLOAT"
UNITS = (
    ("BOOLEAN", ".*", "true or false"),
    ("DATE", ".*month", MONTH),
    ("DATE", ".*", DAY),
    ("TIMESTAMP.*", ".*_utc", f"{MOMENT} in UTC"),
    ("TIMESTAMP.*", ".*", MOMENT),
    (INTEGER, "(.*_)?days(_.*)?", "days"),
    (INTEGER, ".*", "a whole number"),
    (FRACTION, "(.*_)?share(_before)?", SHARE),
    (FRACTION, ".*_percentage(_before)?", PERCENT),
    (FRACTION, ".*_parts(_.*)?", PARTS),
    (FRACTION, ".*_sek_excl_vat", "SEK without VAT"),
    (FRACTION, "(.*_)?(commission|price|bid)(_.*)?", "money; the meaning states currency and tax"),
)
"""A pattern for the DuckDB type, a pattern for the column name, and the unit; the first match counts."""


def unit_of(column: str, type_: str) -> str:
    """The unit of a column of this name and type; empty if none matches."""
    return next(
        (unit for kind, name, unit in UNITS if re.fullmatch(kind, type_) and re.fullmatch(name, column)), ""
    )
