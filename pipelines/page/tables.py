"""Tables of the pages, which readers can sort by a click and save as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from urllib.parse import quote

from pipelines.foreign_text import csv_cell, file_name
from pipelines.page.charts import Chart, bar_width
from pipelines.page.facts import Row
from pipelines.page.language import Language, Number

BYTE_ORDER_MARK = "\ufeff"  # without it Excel guesses another encoding
Value = str | Decimal | int | float | date | None
TONED = ("change", "points", "signed money")


@dataclass(frozen=True)
class PageColumn:
    """A column of a table: its heading, its value in a row, and the format of the value.

    `heading` is a key of words.toml, or the text itself if the table has no section. A key without a dot,
    such as `agents`, belongs to the table's section; one with a dot names its section (`figures.homes`).
    `value` is a function of the row, or the name of a column, by default the last part of `heading`.
    Kinds: text, words (text that can wrap), day, month, days, count, parts (one decimal), share, change,
    compact, exact (two decimals), money, signed money, fee, points.
    """

    heading: str
    value: str | Callable[[Row], Value] = ""
    kind: str = "text"
    note: Callable[[Row], str] | None = None
    change: str = ""  # the column with the change since the year before
    link: str = ""  # the column with the address of a page
    is_minor: bool = False  # hidden on a phone
    bar: tuple[str, ...] = ()  # the columns with the budget and the amount a year before, drawn on the bar
    has_bar: bool = False

    def value_in(self, row: Row) -> Value:
        """The value of the column in a row."""
        if callable(self.value):
            return self.value(row)
        value: Value = getattr(row, self.value or self.heading.rpartition(".")[2])
        return value


def budget_columns(amount_column: str) -> tuple[PageColumn, PageColumn]:
    """Two columns that compare an amount with the budget: the share of the budget, and the difference."""

    def share(row: Row) -> Value:
        actual: Decimal | None = getattr(row, amount_column)
        return None if actual is None or not row.budget else actual / row.budget

    def gap(row: Row) -> Value:
        actual: Decimal | None = getattr(row, amount_column)
        return None if actual is None or row.budget is None else actual - row.budget

    return PageColumn("page.of_budget", share, "share"), PageColumn("page.gap", gap, "signed money")


def period_name(name: str, last: date, words: Language) -> str:
    """The label of the period `name` up to the month `last`; a `year` up to December is a full year."""
    key = "full_year" if name == "year" and last.month == 12 else name
    return words.text(f"cards.{key}", year=last.year)


def total_row(rows: Sequence[Row], **named: object) -> Row | None:
    """The total of at least two rows, or None for fewer.

    The columns in `named` have the values given there. Any other column has the sum if its first value is a
    number (but None if a later value is None). Otherwise, it has its first value.
    """
    if len(rows) < 2:
        return None
    sums = {}
    for column, value in vars(rows[0]).items():
        if isinstance(value, Decimal | int):
            values = [getattr(row, column) for row in rows]
            sums[column] = None if None in values else sum(values)
    return rows[0].with_columns(**{**sums, **named})


def oldest_reading_notes(rows: Sequence[Row], section: str, words: Language) -> list[str]:
    """A note if some rows were fetched (`read_on`) before the day of the newest answer (`counted_on`)."""
    days = [row.read_on for row in rows if row.read_on]
    has_old_rows = days and min(days) < max(row.counted_on for row in rows)
    return [words.text(f"{section}.oldest_reading", day=words.day(min(days)))] if has_old_rows else []


@dataclass(frozen=True)
class Cell:
    """A formatted value with its sort key, and what is shown next to it."""

    text: str
    key: str
    tone: str = ""  # up or down
    note: str = ""
    change: Cell | None = None
    link: str = ""
    width: str = ""  # of the bar, in percent
    budget: str = ""  # where the bar's mark is, in percent
    before: str = ""  # width of the bar of the year before, in percent


@dataclass(frozen=True)
class Heading:
    """A column's name and layout."""

    name: str
    kind: str
    is_minor: bool

    @property
    def is_number(self) -> bool:
        return self.kind not in ("text", "words", "day", "month")


@dataclass(frozen=True)
class Download:
    """A CSV file as a data URL, its file name, and the name of its table."""

    href: str
    file: str
    name: str


def download(words: Language, name: str, names: Sequence[str], rows: Sequence[Sequence[object]]) -> Download:
    """A CSV file with the decimal mark and separator of the page. No text in it can run as a formula."""
    text, decimal = io.StringIO(), words.words["form"]["decimal"]
    file = csv.writer(text, delimiter=words.words["form"]["csv"])
    file.writerow(map(csv_cell, names))
    file.writerows([[_csv_value(value, decimal) for value in row] for row in rows])
    address = "data:text/csv;charset=utf-8," + quote(BYTE_ORDER_MARK + text.getvalue())
    return Download(address, file_name(re.sub(r"\W+", "-", name.lower()).strip("-")) + ".csv", name)


def _csv_value(value: object, decimal: str) -> str:
    if isinstance(value, Decimal | float):
        return f"{value:.4f}".rstrip("0").rstrip(".").replace(".", decimal)
    return f"{value}" if isinstance(value, int) else csv_cell(str(value or ""))


@dataclass(frozen=True)
class PageTable:
    """Cells under headings, and the same numbers as a download."""

    name: str
    headings: list[Heading]
    rows: list[list[Cell]]
    total: list[Cell]  # empty if the table has no total
    more: int  # how many rows are not shown; the download has those that the query returned
    download: Download
    is_open: bool = False  # for a table in `Section.collapsed`: whether it is shown open


@dataclass(frozen=True)
class Section:
    """The contents under one heading: figures in a line, charts, an open table, and collapsed tables."""

    id: str
    heading: str
    subjects: tuple[str, ...] = ()  # the subjects of its figures, as in marts.doubts
    is_open: bool = True
    figures: list[str] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    table: PageTable | None = None
    collapsed: list[PageTable | None] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Writer:
    """Formats tables in the language of a page."""

    words: Language
    is_one_office: bool = False  # the page is about one office, so tables leave out its name

    def table(
        self,
        name: str,
        section: str,
        columns: Sequence[PageColumn],
        rows: Sequence[Row],
        *,
        limit: int | None = None,
        total: Row | None = None,
    ) -> PageTable | None:
        """A table of the first `limit` rows, with an optional total; None if there are no rows.

        The first column always stays. Of the others, those without any value are left out, and so is
        `office_name` on the page of a single office. The download has all `rows`. If the query of the rows
        has a limit too, its column `in_all` has the number of rows without that limit.
        """
        if not rows:
            return None
        shown_rows = [*rows, total] if total else rows
        columns = [columns[0], *(column for column in columns[1:] if self._is_shown(column, shown_rows))]
        names = [self._heading(section, column.heading) for column in columns]
        pairs = zip(names, columns, strict=True)
        longest_bars = [self._longest_bar(column, rows) for column in columns]
        return PageTable(
            name,
            [Heading(heading, column.kind, column.is_minor) for heading, column in pairs],
            [
                [self.cell(column, row, bar) for column, bar in zip(columns, longest_bars, strict=True)]
                for row in rows[:limit]
            ],
            [self.cell(column, total) for column in columns] if total else [],
            max(len(rows), getattr(rows[0], "in_all", 0)) - len(rows[:limit]),
            download(self.words, name, names, [[column.value_in(row) for column in columns] for row in rows]),
        )

    def _is_shown(self, column: PageColumn, rows: Sequence[Row]) -> bool:
        if self.is_one_office and column.value == "office_name":
            return False
        return any(column.value_in(row) is not None for row in rows)

    def _heading(self, section: str, key: str) -> str:
        if not section:
            return key
        return self.words.text(key if "." in key else f"{section}.{key}")

    def _longest_bar(self, column: PageColumn, rows: Sequence[Row]) -> Number:
        if not column.has_bar:
            return 0
        values = [getattr(row, name) for row in rows for name in column.bar]
        values += map(column.value_in, rows)
        return max((value for value in values if isinstance(value, Decimal | int)), default=0)

    def cell(self, column: PageColumn, row: Row, longest: Number = 0) -> Cell:
        """The cell of a column in a row. Its bar is relative to `longest`; 0 means that it has no bar."""
        value = column.value_in(row)
        change = getattr(row, column.change) if column.change else None
        change_kind = "points" if column.change.endswith("_difference") else "change"
        amount = value if isinstance(value, Decimal | int) else None
        budget, before = (getattr(row, name) for name in column.bar) if column.bar else (None, None)
        return replace(
            self._format_value(column.kind, value),
            note=column.note(row) if column.note else "",
            change=None if change is None else self._format_value(change_kind, change),
            link=getattr(row, column.link) if column.link else "",
            width=bar_width(amount, longest) if longest and amount is not None else "",
            budget=bar_width(budget, longest) if longest and budget else "",
            before=bar_width(before, longest) if longest and before else "",
        )

    def _format_value(self, kind: str, value: Value) -> Cell:
        if isinstance(value, date):
            return Cell(self.words.month(value) if kind == "month" else self.words.day(value), f"{value}")
        if value is None or isinstance(value, str):
            return Cell(self.words.number(None) if value is None else value, value or "")
        text = self._format_number(kind, value)
        is_toned = kind in TONED and text != self._format_number(kind, 0)
        tone = ("up" if value > 0 else "down") if is_toned else ""
        return Cell(text, f"{float(value):.10g}", tone)

    def _format_number(self, kind: str, value: Number) -> str:
        words = self.words
        match kind:
            case "signed money":
                return words.signed(value)
            case "compact":
                return words.compact(value)
            case "share":
                return words.percent(value)
            case "fee":
                return words.percent(value, 2)
            case "days":
                return words.text("form.days", value)
            case "points":
                return words.points(value)
            case "change":
                return words.change(value)
            case "exact":
                return words.number(value, 2)
            case "parts":
                return words.tenths(value)
            case _:
                return words.number(value)
