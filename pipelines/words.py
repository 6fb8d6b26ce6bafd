"""Numbers, sizes and times as people write them, for all messages."""

from __future__ import annotations


def count(number: int) -> str:
    """A whole number in groups of three: 1 234 567."""
    return f"{number:,}".replace(",", " ")


def counted(number: int, thing: str) -> str:
    """A number and a noun, plural unless the number is one."""
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


def size(number: int) -> str:
    """A number of bytes in the largest unit that it reaches: 12 B, 3.4 kB, 1.0 GB."""
    amount = float(number)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def duration(seconds: float) -> str:
    """A duration in one or two units: 8.0 s, 2 min 5 s, 1 h 20 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
