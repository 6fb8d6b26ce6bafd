"""Output of the commands: lines, tables that also survive a pipe, JSON, numbers as people write them.

All of it goes through here, so that no control character of the data reaches a terminal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from itertools import zip_longest
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from pipelines.foreign_text import visible, visible_lines
from pipelines.words import count

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

GAP = "  "
INDENT = " " * 19
NARROWEST = 20
"""A column is folded to no less than this, however narrow the terminal is."""


def read_settings(*, offline: bool = False, reading: bool = False) -> Settings:
    """The settings of the environment, as `load_settings` reads them; their warnings go to stderr."""
    from pipelines.settings.model import load_settings

    settings = load_settings(os.environ, offline=offline, reading=reading)
    for warning in settings.warnings:
        complain(f"brokerbi: {warning}")
    return settings


def say(text: str = "") -> None:
    """Plain lines on stdout."""
    print(visible_lines(text))


def complain(text: str) -> None:
    """The same on stderr."""
    print(visible_lines(text), file=sys.stderr)


def print_json(value: object) -> None:
    """A value for programs; what JSON has no word for (days, moments) as text."""
    say(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def line(head: str, text: str) -> None:
    """One line of an explanation, under its head."""
    say(f"  {head:<17}{text}")


def table(
    head: str, text: str, heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()
) -> None:
    """A table of an explanation, under a line of text."""
    line(head, text)
    print_table(heads, rows, right=right, indent=INDENT)


def print_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    width: int | None = None,
    indent: str = "",
) -> None:
    """Print rows under heads, columns as wide as they need; `right` names right-aligned ones.

    Where that is wider than the terminal (or `width`) the widest column is folded; a pipe gets one line
    for each row, however long.
    """
    heads, rows = list(map(visible, heads)), [list(map(visible, row)) for row in rows]
    if width is None and sys.stdout.isatty():
        width = get_terminal_size().columns
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    if width is not None:
        widest = widths.index(max(widths))
        excess = max(len(indent) + sum(widths) + len(GAP) * (len(widths) - 1) - width, 0)
        widths[widest] = max(min(widths[widest], NARROWEST), widths[widest] - excess)
    line = indent + GAP.join(
        f"{{:{'>' if place in right else '<'}{width}}}" for place, width in enumerate(widths)
    )
    for row in (heads, ["─" * width for width in widths], *rows):
        folded = (
            [cell[start : start + width] for start in range(0, len(cell), max(width, 1))]
            for cell, width in zip(row, widths, strict=True)
        )
        for cells in zip_longest(*folded, fillvalue=""):
            say(line.format(*cells).rstrip())


def written(number: Decimal | int | None) -> str:
    """A number as SQL writes it, without zeros at the end."""
    return "unknown" if number is None else f"{Decimal(number):.8f}".rstrip("0").rstrip(".")


def amount(number: Decimal | int | None) -> str:
    """A number as people read it: from a thousand on whole and in groups of three, else to two decimals."""
    if number is None:
        return "-"
    exact = Decimal(number)
    whole = int(exact.quantize(Decimal(1), ROUND_HALF_UP))
    return count(whole) if abs(exact) >= 1000 else written(round(exact, 2))


def is_wrong_usage(error: Exception) -> bool:
    """Whether the words or the settings were wrong: SettingsError above all."""
    return isinstance(error, ValueError) and not isinstance(error, UnicodeError)


def sentence_of(error: Exception) -> str:
    """Errors of ours are sentences already; another is named as a fault."""
    is_ours = type(error).__module__.partition(".")[0] in ("pipelines", "warehouse")
    if is_ours or is_wrong_usage(error):
        return str(error)
    if isinstance(error, OSError):
        found = f"{error.strerror or error} ({error.filename or 'no file named'})"
        return found if isinstance(error, FileNotFoundError) else f"{found}; check the disk and its rights"
    return f"this should not happen ({type(error).__name__}); set BROKERBI_TRACEBACK=1 to see where"
