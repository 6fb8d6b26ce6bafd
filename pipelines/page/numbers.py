"""Numbers, months and moments as Swedes write them: 1 234 567 kr, 12,3 %, and a real minus."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal
from zoneinfo import ZoneInfo

Number = Decimal | int | float

SPACE = "\u00a0"  # a number is never broken at the end of a line
MINUS = "\u2212"
UNKNOWN = "\u2013"
_MONTHS = "January February March April May June July August September October November December".split()


def ratio(part: Number | None, whole: Number | None) -> Decimal | None:
    """A number in parts of another; none where one is unknown or there is nothing to divide by."""
    return Decimal(part) / Decimal(whole) if part is not None and whole else None


def number(value: Number | None, places: int = 0) -> str:
    """A number with so many decimals: 1 234 567."""
    if value is None:
        return UNKNOWN
    rounded = Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    sign = MINUS if rounded < 0 else ""
    return sign + f"{abs(rounded):,.{places}f}".replace(",", SPACE).replace(".", ",")


def short_number(value: Number | None) -> str:
    """One decimal where it says something: 64 homes, or 4,8 where commissions were shared."""
    return number(value, 1).removesuffix(",0")


def kronor(value: Number | None, places: int = 0) -> str:
    """An amount: 1 234 567 kr."""
    return UNKNOWN if value is None else f"{number(value, places)}{SPACE}kr"


def short_kronor(value: Number) -> str:
    """An amount for an axis or a narrow place: 1,5 mkr, 250 tkr, 900 kr."""
    amount = Decimal(value)
    size, unit = (1_000_000, "mkr") if abs(amount) >= 1_000_000 else (1_000, "tkr")
    if abs(amount) < 1_000:
        size, unit = 1, "kr"
    return f"{short_number(amount / size)}{SPACE}{unit}"


def percent(share: Number | None) -> str:
    """A share as percent: 0.123 is 12 %."""
    return UNKNOWN if share is None else f"{number(Decimal(share) * 100)}{SPACE}%"


def change(share: Number | None) -> str:
    """A change with its sign: +4,2 %."""
    if share is None:
        return UNKNOWN
    text = number(Decimal(share) * 100, 1)
    sign = "" if text.startswith(MINUS) or text == "0,0" else "+"
    return f"{sign}{text}{SPACE}%"


def month_name(month: date) -> str:
    """March 2026."""
    return f"{_MONTHS[month.month - 1]} {month.year}"


def month_code(month: date | None) -> str:
    """2026-03."""
    return UNKNOWN if month is None else f"{month:%Y-%m}"


def period_name(first: date, last: date) -> str:
    """January to March 2026, or March 2025 to February 2026."""
    if first == last:
        return month_name(first)
    begin = _MONTHS[first.month - 1] if first.year == last.year else month_name(first)
    return f"{begin} to {month_name(last)}"


def moment(at_utc: datetime | None, timezone: ZoneInfo) -> str:
    """An instant on the brokerage's clock: 21 November 2026 05:12."""
    if at_utc is None:
        return UNKNOWN
    local = at_utc.replace(tzinfo=UTC).astimezone(timezone)
    return f"{local.day} {month_name(local)} {local:%H:%M}"
