"""Language of a page: its words, from words.toml, and its formats of numbers and dates.

Amounts are written without a currency: the service documents one for budgets (SEK), but none for commissions
and prices. Only the Swedish abbreviations of large amounts, tkr and mkr, name the krona.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

Number = Decimal | int | float

LANGUAGES = ("en", "sv")
MINUS = "\u2212"
UNKNOWN = "\u2013"


@dataclass(frozen=True)
class Language:
    """The words of one language, by section and key, and the formats of numbers and dates."""

    code: str
    words: Mapping[str, Any]

    def text(self, key: str, count: Number | None = None, /, **values: object) -> str:
        """The text of a key, such as `offices.heading`, filled in; in the singular if `count` is 1."""
        text: Any = self.words
        for part in key.split("."):
            text = text[part]
        if isinstance(text, Mapping):
            text = text["one" if count == 1 else "other"]
        return str(text).format(count=self.number(count), **values)

    def with_figures(self, metrics: Sequence[Any]) -> Language:
        """A copy that also has the labels of meta.metrics, with keys such as `figures.commission`."""
        labels = {metric.metric: getattr(metric, f"label_{self.code}") for metric in metrics}
        return Language(self.code, {**self.words, "figures": labels})

    def with_unknown_vat(self) -> Language:
        """A copy whose labels and notes state that shares of budget hold only if commissions exclude VAT."""
        words = {section: {**texts} for section, texts in self.words.items()}
        for key in ("of_budget", "forecast"):
            words["year"][key] += f", {words['basis']['condition']}"
        for section in ("offices", "agents"):
            words[section]["note"] += f" {words['basis']['shares']}"
        return Language(self.code, words)

    def label(self, section: str, name: str | None) -> str:
        """The words for a name in a section of words.toml, or the name itself if the section lacks it."""
        return str(self.words[section].get((name or "").replace(" ", "_"), name or ""))

    def number(self, value: Number | None, places: int = 0, *, has_plus: bool = False) -> str:
        """A number with `places` decimals: 1,234.5 in English, 1 234,5 in Swedish; a dash for None."""
        if value is None:
            return UNKNOWN
        rounded = Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
        sign = MINUS if rounded < 0 else "+" if has_plus and rounded else ""
        form = self.words["form"]
        whole, _, decimals = f"{abs(rounded):,.{places}f}".partition(".")
        text = sign + whole.replace(",", form["thousands"])
        return f"{text}{form['decimal']}{decimals}" if decimals else text

    def tenths(self, value: Number | None) -> str:
        """A number with one decimal, unless the decimal is zero: 4.8, but 64."""
        return self.number(value, 1).removesuffix(self.words["form"]["decimal"] + "0")

    def signed(self, value: Number | None) -> str:
        """A difference as a whole number with its sign."""
        return self.number(value, has_plus=True)

    def compact(self, value: Number | None, *, has_plus: bool = False) -> str:
        """An amount in few characters: 4.0M, 20M, 23.5M, 250k, 900."""
        if value is None:
            return UNKNOWN
        amount, form = Decimal(value), self.words["form"]
        for size, unit in ((Decimal(1_000_000), form["million"]), (Decimal(1_000), form["thousand"])):
            if abs(amount) >= size:
                places = 1 if abs(amount) < 100 * size and amount % (10 * size) else 0
                return str(unit).format(self.number(amount / size, places, has_plus=has_plus))
        return self.number(amount, has_plus=has_plus)

    def percent(self, share: Number | None, places: int = 0, *, has_plus: bool = False) -> str:
        """A share of 0.123 as 12%, or 12 % in Swedish."""
        if share is None:
            return UNKNOWN
        return self.text("form.percent", share=self.number(Decimal(share) * 100, places, has_plus=has_plus))

    def change(self, share: Number | None) -> str:
        """A change with its sign, +4.2%."""
        return self.percent(share, 1, has_plus=True)

    def points(self, difference: Number | None) -> str:
        """A difference of two shares in percentage points, with its sign: +0.05 pp."""
        if difference is None:
            return UNKNOWN
        return self.text("form.points", points=self.number(Decimal(difference) * 100, 2, has_plus=True))

    def month(self, month: date) -> str:
        """A month with its year: March 2026."""
        return f"{self.words['form']['months'][month.month - 1]} {month.year}"

    def period(self, first: date, last: date) -> str:
        """The months from first to last: January to March 2026, or March 2025 to February 2026."""
        if first == last:
            return self.month(first)
        name = self.words["form"]["months"][first.month - 1]
        begin = name if first.year == last.year else self.month(first)
        return self.text("form.period", first=begin, last=self.month(last))

    def months(self, months: Sequence[date]) -> str:
        """Months in order, consecutive ones as a period: January to March 2026, May 2026."""
        runs: list[tuple[date, date]] = []
        for month in months:
            if runs and (runs[-1][1] + timedelta(days=31)).replace(day=1) == month:
                runs[-1] = (runs[-1][0], month)
            else:
                runs.append((month, month))
        return ", ".join(self.period(*run) for run in runs)

    def day(self, day: date | None) -> str:
        """A day with its month and year: 21 November 2026."""
        return UNKNOWN if day is None else f"{day.day} {self.month(day)}"

    def moment(self, at_utc: datetime | None, timezone: ZoneInfo) -> str:
        """A time in the brokerage's time zone: 21 November 2026 05:12."""
        if at_utc is None:
            return UNKNOWN
        local = at_utc.replace(tzinfo=UTC).astimezone(timezone)
        return f"{self.day(local)} {local:%H:%M}"


def local_day(at_utc: datetime | None, timezone: ZoneInfo) -> date | None:
    """The day of a time in the brokerage's time zone; None if the time is None."""
    return at_utc.replace(tzinfo=UTC).astimezone(timezone).date() if at_utc else None


@cache
def language(code: str) -> Language:
    """The language with this code, one of LANGUAGES."""
    sections = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
    return Language(
        code, {name: {key: texts[code] for key, texts in words.items()} for name, words in sections.items()}
    )
