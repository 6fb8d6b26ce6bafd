"""Output of the commands: lines, tables, JSON and formatted numbers.

Data reaches a terminal only through this module, which makes control characters visible.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from shutil import get_terminal_size
from textwrap import wrap
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

from pipelines.foreign_text import visible, visible_lines
from pipelines.words import count

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

GAP = "  "
SECONDS_BETWEEN_LINES = 30.0
MIN_COLUMN_WIDTH = 15
"""The least width of a wrapped last column."""


def read_settings(*, offline: bool = False, reading: bool = False) -> Settings:
    """Read the settings from the environment; their warnings go to stderr."""
    from pipelines.settings.model import load_settings

    settings = load_settings(os.environ, offline=offline, reading=reading)
    warn(*settings.warnings)
    return settings


def say(text: str = "") -> None:
    """Print lines to stdout."""
    write(visible_lines(text))


def log(text: str) -> None:
    """Print lines to stderr; on a terminal, they are wrapped."""
    for line in text.split("\n"):
        print_wrapped("", line, stream=sys.stderr)


def write(text: str, stream: TextIO | None = None) -> None:
    """Print lines; if the reader closes the pipe, as `head` does, the command goes on without output."""
    stream = stream or sys.stdout
    try:
        print(text, file=stream, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def warn(*sentences: str) -> None:
    """Print the sentences that are not empty to stderr, each prefixed with `brokerbi:`."""
    for sentence in filter(None, sentences):
        log(f"brokerbi: {sentence}")


@dataclass
class ProgressLine:
    """Progress on stderr: one changing line on a terminal, otherwise a line at most every 30 seconds."""

    printed_at: float = field(default_factory=monotonic)

    def show(self, text: str) -> None:
        """Show a text; an empty one clears the line on a terminal."""
        if sys.stderr.isatty():
            print(f"\r\x1b[K{visible(text)}", end="", file=sys.stderr, flush=True)
        elif text and monotonic() - self.printed_at >= SECONDS_BETWEEN_LINES:
            self.printed_at = monotonic()
            log(text)


def print_json(value: object) -> None:
    """Print a value as JSON: amounts as numbers, dates and times as text."""
    say(json.dumps(value, indent=2, ensure_ascii=False, default=_plain))


def _plain(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else str(value)


def print_step(label: str, text: str) -> None:
    """Print one step of an explanation."""
    print_wrapped(f"  {label:<17}", text)


def print_wrapped(prefix: str, text: str, *, is_grey: bool = False, stream: TextIO | None = None) -> None:
    """Print a text after a prefix, wrapped with a hanging indent. `is_grey` applies only on a terminal.

    Stdout is always wrapped, any other `stream` only on a terminal, because a log needs whole lines.
    """
    is_terminal = (stream or sys.stdout).isatty()
    grey, plain = ("\x1b[90m", "\x1b[0m") if is_grey and is_terminal else ("", "")
    text, width = visible(text), max(_width() - len(prefix), 1)
    is_whole = len(text) <= width or not (is_terminal or stream is None)
    lines = [text] if is_whole else wrap(text, width, break_long_words=False, break_on_hyphens=False)
    for part in lines:
        write(f"{grey}{f'{prefix}{part}'.rstrip()}{plain}", stream)
        prefix = " " * len(prefix)


def print_records(records: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()) -> None:
    """Print records, or only `columns` of them, as a table with numbers aligned right."""
    if not records:
        return
    names = list(columns or records[0])
    numbers = [
        index
        for index, name in enumerate(names)
        if all(isinstance(record[name], Decimal | int | None) for record in records)
    ]
    headings = [name.removeprefix("is_").replace("_", " ") for name in names]
    print_table(headings, [[cell(name, record[name]) for name in names] for record in records], right=numbers)


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> None:
    """Print rows under headings; `right` has the indexes of the columns that are aligned right.

    If the table is wider than the terminal, its last column wraps. If it is still too wide, each row becomes
    a block with a line for each value.
    """
    cells = [[visible(text) for text in row] for row in (headings, *rows)]
    *widths, last = (max(map(len, column)) for column in zip(*cells, strict=True))
    room = _width() - sum(widths) - len(GAP) * len(widths)
    longest_word = max(len(word) for row in cells for word in row[-1].split() or [""])
    if room < min(last, max(longest_word, MIN_COLUMN_WIDTH)):
        _print_blocks(cells)
        return
    widths.append(min(last, room))
    for row in (cells[0], ["─" * width for width in widths], *cells[1:]):
        *prefixes, text = (
            f"{text:{'>' if index in right else '<'}{width}}"
            for index, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        print_wrapped("".join(f"{prefix}{GAP}" for prefix in prefixes), text)


def _print_blocks(cells: Sequence[Sequence[str]]) -> None:
    headings, *rows = cells
    widest = max(map(len, headings))
    for row in rows:
        for heading, text in zip(headings, row, strict=True):
            if text:
                print_wrapped(f"{heading:<{widest}}{GAP}", text)
        say()


def _width() -> int:
    return get_terminal_size((100, 24)).columns


def cell(name: str, value: Any) -> str:
    """A value formatted by its type and the name of its column."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else ""
        case datetime():
            return f"{value:%Y-%m-%d %H:%M}"
        case date():
            return f"{value:%Y-%m}" if name.endswith("month") else str(value)
        case Decimal() if name.endswith(("share", "share_before")):
            return f"{100 * value:.1f} %"
        case Decimal() | int():
            return _amount(value)
        case list() | tuple():
            return ", ".join(map(str, value))
        case _:
            return str(value)


def to_sql(number: Decimal | int | None) -> str:
    """A number in plain digits, as in SQL, without trailing zeros; `unknown` for None."""
    return "unknown" if number is None else f"{Decimal(number):.8f}".rstrip("0").rstrip(".")


def _amount(number: Decimal | int) -> str:
    """A number like 12.35 or, from a thousand on, 1 235."""
    exact = Decimal(number)
    if abs(exact) < 1000:
        return to_sql(round(exact, 2))
    return count(int(exact.quantize(Decimal(1), ROUND_HALF_UP)))


def is_wrong_usage(error: Exception) -> bool:
    """Whether an error is about wrong arguments or settings; all such errors are ValueErrors."""
    return isinstance(error, ValueError) and not isinstance(error, UnicodeError)


def sentence_of(error: Exception) -> str:
    """The sentence that a command prints for an error. For an unexpected error, it states only the type."""
    is_ours = type(error).__module__.partition(".")[0] in ("pipelines", "warehouse")
    if is_ours or is_wrong_usage(error):
        return str(error)
    if isinstance(error, OSError):
        remedy = "" if isinstance(error, FileNotFoundError) else "; check the disk and its permissions"
        return f"{error.strerror or error} ({error.filename or 'unknown file'}){remedy}"
    kind = type(error).__name__
    return f"unexpected error ({kind}); set BROKERBI_TRACEBACK=1 and run the command again to see where"
