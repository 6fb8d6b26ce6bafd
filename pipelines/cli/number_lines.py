"""Lines and tables of an explanation, and its numbers as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from pipelines.cli.output import count, print_table, say
from pipelines.page.language import whole

MOST_ROWS = 12
INDENT = " " * 19


def line(head: str, text: str) -> None:
    """One line of an explanation, under its head."""
    say(f"  {head:<17}{text}")


def written(number: Decimal | int | None) -> str:
    """As SQL writes it, without zeros at the end."""
    return "unknown" if number is None else f"{Decimal(number):.8f}".rstrip("0").rstrip(".")


def brief(number: Decimal | int | None) -> str:
    """As people read it: from a thousand on without fractions, rounded as on the pages, in groups of 3."""
    if number is None:
        return "-"
    return count(int(whole(Decimal(number)))) if abs(Decimal(number)) >= 1000 else written(number)


def parts(number: Decimal | None) -> str:
    """Homes, writings and valuations, which are shared, to two decimals."""
    return "-" if number is None else written(round(Decimal(number), 2))


def counted(number: Decimal | int, thing: str) -> str:
    """So many things, in the plural unless it is one."""
    amount = count(number) if isinstance(number, int) else parts(number)
    return f"{amount} {thing}{'' if number == 1 else 's'}"


def signed(number: Decimal) -> str:
    """A change, with its sign."""
    return f"{'+' if number > 0 else ''}{brief(number)}"


def table(
    head: str,
    text: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    most: int = MOST_ROWS,
) -> None:
    """A table of an explanation under a line of text, its first rows alone where there are many."""
    more = f", the first {most} of {count(len(rows))}" if len(rows) > most else ""
    line(head, text + more)
    print_table(heads, rows[:most], right=right, indent=INDENT)
