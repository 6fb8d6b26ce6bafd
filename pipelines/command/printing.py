"""How do tables and numbers look in a terminal? Plain columns that also survive a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> None:
    """Print rows under heads, columns as wide as they need; `right` names right-aligned ones."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for position, head in enumerate(heads):
        table.add_column(head, justify="right" if position in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console(file=sys.stdout)
    if not console.is_terminal:
        console.width = max(console.width, 160)
    console.print(table)


def say(line: str = "") -> None:
    """One plain line on stdout."""
    sys.stdout.write(f"{line}\n")


def complain(line: str) -> None:
    """One plain line on stderr."""
    sys.stderr.write(f"{line}\n")


def count(number: int) -> str:
    """A whole number with thin groups of three: 1 234 567."""
    return f"{number:,}".replace(",", " ")


def duration(seconds: float) -> str:
    """A time as a person says it: 8 s, 2 min 5 s, 1 h 20 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def size(number: int) -> str:
    """Bytes in the unit that reads best."""
    amount = float(number)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
