"""How are numbers and times written? The Swedish way: 1 234 567 kr, 12,3 %, and a real minus."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal
from zoneinfo import ZoneInfo

SPACE = "\u00a0"  # a number is never broken at the end of a line
MINUS = "\u2212"
UNKNOWN = "\u2013"
_MONTHS = ("January February March April May June July August September October November December").split()


def whole(number: Decimal | int | float | None) -> str:
    """A number without decimals: 1 234 567."""
    return _written(number, 0)


def kronor(number: Decimal | int | float | None) -> str:
    """An amount: 1 234 567 kr."""
    return UNKNOWN if number is None else f"{_written(number, 0)}{SPACE}kr"


def short_kronor(number: Decimal | int | float) -> str:
    """An amount for an axis or a narrow place: 1,5 mkr, 250 tkr, 900 kr."""
    amount = Decimal(number)
    if abs(amount) >= 1_000_000:
        return f"{_plain(amount / 1_000_000)}{SPACE}mkr"
    if abs(amount) >= 1_000:
        return f"{_plain(amount / 1_000)}{SPACE}tkr"
    return f"{_plain(amount)}{SPACE}kr"


def homes(number: Decimal | int | float | None) -> str:
    """Homes sold: 64, or 4,8 where commissions were shared."""
    return UNKNOWN if number is None else _plain(Decimal(number))


def percent(share: Decimal | float | None) -> str:
    """A share as percent: 0.123 is 12 %."""
    return UNKNOWN if share is None else f"{_written(Decimal(share) * 100, 0)}{SPACE}%"


def change(share: Decimal | float | None) -> str:
    """A change with its sign: +4,2 %."""
    if share is None:
        return UNKNOWN
    text = _written(Decimal(share) * 100, 1)
    sign = "" if text.startswith(MINUS) or text == "0,0" else "+"
    return f"{sign}{text}{SPACE}%"


def signed_kronor(number: Decimal | None) -> str:
    """A difference in kronor, with öre and its sign."""
    if number is None:
        return UNKNOWN
    return f"{'+' if number > 0 else ''}{_written(number, 2)}{SPACE}kr"


def amount(number: Decimal | None, unit: str) -> str:
    """A number of some measure with two decimals, in kronor where it is money."""
    return UNKNOWN if number is None else f"{_written(number, 2)}{SPACE + unit if unit else ''}"


def month_name(month: date) -> str:
    """March 2026."""
    return f"{_MONTHS[month.month - 1]} {month.year}"


def short_month(month: date) -> str:
    """Mar."""
    return _MONTHS[month.month - 1][:3]


def month_code(month: date | None) -> str:
    """2026-03."""
    return UNKNOWN if month is None else f"{month:%Y-%m}"


def span_name(first: date, last: date) -> str:
    """January to March 2026, or March 2025 to February 2026."""
    if first == last:
        return month_name(first)
    begin = _MONTHS[first.month - 1] if first.year == last.year else month_name(first)
    return f"{begin} to {month_name(last)}"


def moment(at_utc: datetime | None, timezone: ZoneInfo) -> str:
    """An instant on the brokerage's clock: 21 November 2026 05:12."""
    if at_utc is None:
        return "never"
    local = at_utc.replace(tzinfo=UTC).astimezone(timezone)
    return f"{local.day} {_MONTHS[local.month - 1]} {local:%Y %H:%M}"


def _written(number: Decimal | int | float | None, places: int) -> str:
    if number is None:
        return UNKNOWN
    rounded = Decimal(number).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    sign = MINUS if rounded < 0 else ""
    return sign + f"{abs(rounded):,.{places}f}".replace(",", SPACE).replace(".", ",")


def _plain(number: Decimal) -> str:
    """One decimal where it says something."""
    text = _written(number, 1)
    return text.removesuffix(",0")
