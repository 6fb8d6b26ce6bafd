"""Tables of the pages: columns of records, written for a reader, to be sorted by a click and saved as CSV.

Where nobody says whether VAT is in commissions, an amount has a second reading, without it; a switch of the
whole page shows one or the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Generic, TypeVar

from pipelines.page.charts import bar_width
from pipelines.page.downloads import Download, download
from pipelines.page.language import Language, Number

T = TypeVar("T")
Value = str | Decimal | int | float | date | None


@dataclass(frozen=True)
class TableColumn(Generic[T]):
    """A column: its head, what it shows of a record, and how that is written.

    Kinds are text, words (which may be broken), day, month, count, parts, share, precise, change, brief,
    exact, stated money and stated signed money, and those with two readings where VAT is left open: money,
    signed money, fee and points.
    """

    head: str
    value: Callable[[T], Value]
    kind: str = "text"  # as Writer writes it
    less: Callable[[T], Value] | None = None  # the second reading of what is no plain amount
    note: Callable[[T], str] | None = None
    link: Callable[[T], str] | None = None
    is_minor: bool = False  # not on a phone
    has_bar: bool = False
    is_in_file: Callable[[T], bool] | None = None  # where one value stands beside several rows, in one alone


@dataclass(frozen=True)
class Reading:
    """A value as it is written, what it is sorted by, and whether it is well or not."""

    text: str
    key: str
    tone: str = ""


@dataclass(frozen=True)
class Cell:
    """A value in the one reading or in both, with what is beside it."""

    stated: Reading
    less: Reading | None = None
    note: str = ""
    link: str = ""
    width: str = ""


@dataclass(frozen=True)
class Head:
    """A column's name, and how it is laid out."""

    name: str
    kind: str

    @property
    def is_number(self) -> bool:
        return self.kind not in ("text", "words", "day", "month")


@dataclass(frozen=True)
class PageTable:
    """Cells under heads, and the same as a file."""

    name: str
    heads: list[Head]
    minor: list[bool]
    rows: list[list[Cell]]
    total: list[Cell]  # none where there is no sum
    more: int  # rows that are not shown, of which the file may have some
    download: Download | None


@dataclass(frozen=True)
class Writer:
    """A page's language, and the VAT that may be in its commissions: none where that is known."""

    words: Language
    vat_rate: Decimal | None

    def without(self, amount: Number | None) -> Decimal | None:
        """An amount in the second reading; none where there is only one."""
        return None if amount is None or self.vat_rate is None else Decimal(amount) / (1 + self.vat_rate)

    def phrase(
        self, key: str, count: Number, amount: Decimal, *, has_plus: bool = False, **values: object
    ) -> Cell:
        """Words with an amount in them, in the one reading or in both."""

        def text(reading: Number | None) -> Reading:
            written = self.words.brief(reading, has_plus=has_plus)
            return Reading(self.words.text(key, count, amount=written, **values), "")

        less = self.without(amount)
        return Cell(text(amount), None if less is None else text(less))

    def table(
        self,
        name: str,
        columns: Sequence[TableColumn[T]],
        rows: Sequence[T],
        *,
        most: int | None = None,
        total: T | None = None,
    ) -> PageTable | None:
        """The table of these records, or of the first of them, perhaps with a sum; none without a record.

        The file has all that are given; in_all of a record says how many there are in all.
        """
        if not rows:
            return None
        values = [[column.value(row) for column in columns] for row in rows]
        longest = [
            max((one for one in some if isinstance(one, Decimal | int)), default=Decimal(0))
            for some in zip(*values, strict=True)
        ]
        return PageTable(
            name,
            [Head(column.head, column.kind) for column in columns],
            [column.is_minor for column in columns],
            [
                [
                    self._cell(column, row, value, most)
                    for column, value, most in zip(columns, of_row, longest, strict=True)
                ]
                for row, of_row in list(zip(rows, values, strict=True))[:most]
            ],
            [self._cell(column, total, column.value(total), 0) for column in columns] if total else [],
            max(len(rows), getattr(rows[0], "in_all", 0)) - len(rows[:most]),
            download(
                self.words,
                name,
                [column.head for column in columns],
                [
                    [
                        value if column.is_in_file is None or column.is_in_file(row) else None
                        for column, value in zip(columns, of_row, strict=True)
                    ]
                    for row, of_row in zip(rows, values, strict=True)
                ],
            ),
        )

    def cell(self, kind: str, value: Value, less: Value = None) -> Cell:
        """A value, with the second reading of an amount, or the one that is given."""
        if self.vat_rate is None:
            less = None
        elif (
            less is None
            and kind in ("money", "signed money", "fee", "points")
            and isinstance(value, Decimal | float)
        ):
            less = self.without(value)
        return Cell(self._reading(kind, value), None if less is None else self._reading(kind, less))

    def _cell(self, column: TableColumn[T], row: T, value: Value, longest: Number) -> Cell:
        return replace(
            self.cell(column.kind, value, column.less(row) if column.less else None),
            note=column.note(row) if column.note else "",
            link=column.link(row) if column.link else "",
            width=bar_width(value, longest)
            if column.has_bar and longest and isinstance(value, Decimal | int)
            else "",
        )

    def _reading(self, kind: str, value: Value) -> Reading:
        if isinstance(value, date):
            return Reading(self.words.month(value) if kind == "month" else self.words.day(value), f"{value}")
        if value is None or isinstance(value, str):
            return Reading(value or self.words.number(None), value or "")
        text, is_toned = (
            self._number(kind, value),
            kind in ("change", "points", "signed money", "stated signed money"),
        )
        tone = "" if not is_toned or text == self._number(kind, 0) else "up" if value > 0 else "down"
        return Reading(text, f"{float(value):.10g}", tone)

    def _number(self, kind: str, value: Number) -> str:
        match kind:
            case "signed money" | "stated signed money":
                return self.words.signed(value)
            case "brief":
                return self.words.brief(value)
            case "share":
                return self.words.percent(value)
            case "precise":
                return self.words.percent(value, 1)
            case "fee":
                return self.words.percent(value, 2)
            case "points":
                return self.words.points(value)
            case "change":
                return self.words.change(value)
            case "exact":
                return self.words.number(value, 2)
            case "parts":
                return self.words.short(value)
            case _:
                return self.words.number(value)
