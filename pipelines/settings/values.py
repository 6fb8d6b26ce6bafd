"""Which values may a setting have? What is refused, and the sentence that says so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from zoneinfo import ZoneInfo

from pipelines.months import Month

FORBIDDEN_IN_IDS = "|,[]\\\"'"  # the first four are forbidden in Dagster's partition keys
LONGEST_ID = 100
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
EARLIEST_START = Month(1990, 1)
CRON_FIELDS = 5
LINK = re.compile(r"(https?://|file:///)[^\s@?#]+")


def checked_customer_id(text: str) -> str:
    """A customer id as it may stand in a partition key and, percent-encoded, in a path.

    Blanks and slashes within it are the service's business: they are encoded wherever they would matter.
    """
    customer = text.strip()
    if not customer:
        raise ValueError("a customer id is empty; write the ids with one comma between them, like M30011,G2")
    found = [
        sign
        for sign in customer
        if sign in FORBIDDEN_IN_IDS or (sign.isspace() and sign != " ") or not sign.isprintable()
    ]
    if found or "..." in customer or customer in {".", ".."}:
        sign = repr(found[0]) if found else "dots alone"
        raise ValueError(f"the customer id {customer!r} may not hold {sign}; ids look like M30011 or G2")
    if len(customer) > LONGEST_ID:
        raise ValueError(f"the customer id {customer[:20]!r}... is longer than {LONGEST_ID} signs")
    return customer


def checked_username(text: str) -> str:
    """A username that Basic authentication can carry: no colon, no control characters."""
    if ":" in text or CONTROL.search(text):
        raise ValueError("may not hold a colon or a control character: Basic authentication cannot carry it")
    return text


def checked_password(text: str) -> str:
    """A password without control characters (a line break that slipped in, above all)."""
    if CONTROL.search(text):
        raise ValueError("holds a line break or another control character; look for one that slipped in")
    return text


def checked_timezone(text: str) -> str:
    """A time zone this machine knows."""
    try:
        return ZoneInfo(text).key
    except (KeyError, ValueError, OSError):  # unknown, no name at all, or a folder of names
        raise ValueError("is not a known time zone; write it like Europe/Stockholm") from None


def checked_start(value: object) -> Month:
    """The first month; written YYYY-MM, or a date in it when TOML made one of it."""
    if isinstance(value, Month):
        month = value
    elif isinstance(value, date):
        month = Month.of(value)
    else:
        month = _month(str(value))
    if month < EARLIEST_START:
        raise ValueError(f"is {month}, before {EARLIEST_START}, when no customer can have had reports")
    return month


def _month(text: str) -> Month:
    try:
        return Month.parse(text)
    except ValueError:
        raise ValueError("is not a month; write it as YYYY-MM, for example 2024-01") from None


def checked_nightly(text: str) -> str:
    """A schedule in cron's five fields."""
    if len(text.split()) != CRON_FIELDS:
        raise ValueError("is not a schedule; write cron's five fields, like 0 5 * * * for five each morning")
    return text


def checked_link(text: str) -> str:
    """An address that a browser opens, without a closing slash and without a login in it."""
    link = text.strip().rstrip("/")
    if link and not LINK.fullmatch(link):
        raise ValueError("is not an address that a browser opens; write it like https://files.example.com/bi")
    return link


def words(value: object) -> object:
    """Text with commas as a list of its words; everything else as it is."""
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    return value


def own_path(value: object) -> object:
    """A path with its ~ resolved."""
    return Path(value).expanduser() if isinstance(value, (str, Path)) else value


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name that somebody most likely meant."""
    found = get_close_matches(name.lower(), known, n=1, cutoff=0.75)
    return found[0] if found else None
