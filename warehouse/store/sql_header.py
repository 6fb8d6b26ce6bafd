"""The header of a SQL file: comments with its question, and sections such as its columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

SECTIONS = ("Columns", "Severity", "Concerns", "Parameters", "Kind", "Key", "For each")

_ENTRY = re.compile(r"  (\S[^:]*): (.*)")


def read_header(text: str) -> tuple[Sequence[str], Mapping[str, Sequence[str]]]:
    """The prose of a file's header, line by line, and the lines of each of its sections."""
    prose: list[str] = []
    sections: dict[str, list[str]] = {name: [] for name in SECTIONS}
    lines = prose
    for comment in text.splitlines():
        if not comment.startswith("--"):
            break
        line = comment[2:]
        name, colon, rest = line.strip().partition(":")
        if colon and name in sections and not line.startswith("  "):
            lines = sections[name]
            line = rest
        if lines is prose:
            prose.append(line.strip())
        elif line.strip():
            lines.append(line)
    return prose, sections


def entries(lines: Iterable[str]) -> dict[str, str]:
    """The entries of a section, `  name: words`, with the indented lines that continue them."""
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        entry = _ENTRY.fullmatch(line.removeprefix(" "))
        if entry and not line.removeprefix(" ").startswith("   "):
            name = entry[1]
            found[name] = entry[2]
        elif name:
            found[name] += " " + line.strip()
    return found
