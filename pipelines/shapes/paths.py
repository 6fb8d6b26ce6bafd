"""Paths: where the rows of a table are in an answer, and where the values of its columns are.

A path is steps joined by dots. Case and marks like `_` are ignored in names. An empty path is the document.
name        a member
name[]      each element of a list
name{}      each value of an object whose keys are data, such as ids (a keyed object)
*[]         each element of every list of objects in this object
(a|b)[]     each element of the lists a and b
#           after {}, *[] or (a|b)[]: the name under which the element was found
.x          x of the row; a dot alone is the row itself
-           the service does not send this column
@table.x[]  rows at x[] in each row of `table`, the parent row
@table.id   a column of the parent row
Example: in {"offices": {"M1": {"name": "Ek", "users": [{"id": 7}]}}}, with rows at `offices{}.users[]`,
`.id` is 7, `offices{}.name` is "Ek", and `offices{}#` is "M1".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from unicodedata import normalize

NONE = "-"
ANY = "*"
KEY = "#"
_STEP = re.compile(r"(\*(?=\[)|\([^()]*\)(?=\[)|[^\[\]{}#()*.@]*)(\[\]|\{\}|)(#?)")
"""A step in three groups: the names; `[]`, `{}` or nothing; `#` or nothing."""


class PathError(ValueError):
    """A path cannot be read, or a column's path does not fit the path to the rows."""


@lru_cache(maxsize=20_000)
def simplified(name: str) -> str:
    """A name in lower case, without marks: `TotalRowCount` and `total_row_count` become the same."""
    return re.sub(r"[\W_]+", "", normalize("NFC", name)).lower()


@dataclass(frozen=True)
class Step:
    """One step into a document: to a member, to the elements of lists, or to the values of a keyed object.

    `names` are simplified. They are empty for `*[]` (`is_any`), and for `[]` alone, which steps into a list
    that has no name. Comparisons ignore spelling and `#`: `Office_s{}#` equals `offices{}`.
    """

    text: str = field(compare=False)
    names: tuple[str, ...]
    each: str = ""
    is_any: bool = False
    takes_key: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Hop:
    """The path from one level of a document to the next: members to walk through, then a step.

    The step leads into a list or keyed object. In the last hop, it may lead to one object: `rows[].sale`.
    """

    members: tuple[str, ...]
    step: Step
    text: str = field(compare=False)


@dataclass(frozen=True)
class ColumnPath:
    """Where to find a column's value.

    `level` is a position on the path to the rows: 0 is the document, and the last level is the row. `members`
    are the names to follow from there. Without members, the value is this level's element or, if `is_key`,
    its key. For a column of the parent row, `parent` is the parent's table, and `members` the column's name.
    """

    level: int = -1
    members: tuple[str, ...] = ()
    is_key: bool = False
    parent: str = ""


@dataclass(frozen=True)
class RowsPath:
    """Where the rows of a table are, from the root of a document or from the rows of another table."""

    text: str
    hops: tuple[Hop, ...]
    parent: str = ""

    def column(self, text: str) -> ColumnPath | None:
        """Parse a column's path; None for `-`. Raises PathError if it cannot be read or does not fit."""
        if text == NONE:
            return None
        if text.startswith("."):
            return ColumnPath(len(self.hops), member_path(text[1:]))
        if self.parent and text.startswith(f"@{self.parent}."):
            return ColumnPath(members=(text.partition(".")[2],), parent=self.parent)
        if text.startswith("@"):
            raise PathError(f"it is a column of the rows above: begin rows with {text.partition('.')[0]}.")
        steps, level = _steps(text, is_column=True), 0
        for hop in self.hops:
            length = len(hop.members) + 1
            head, remaining = steps[:length], steps[length:]
            if not head or head[-1] != hop.step or _names(head[:-1]) != hop.members:
                break
            steps, level = remaining, level + 1
            if head[-1].takes_key:
                return ColumnPath(level, is_key=True)
        if any(step.each for step in steps):
            raise PathError(f"{text!r} is not on the path to the rows at {self.text!r}")
        return ColumnPath(level, _names(steps))


def rows_path(text: str) -> RowsPath:
    """Parse the path to the rows of a table; raises PathError if it cannot be read."""
    parent, path = "", text.strip()
    if path.startswith("@"):
        parent, _, path = path[1:].partition(".")
    hops, hop_steps, steps = list[Hop](), list[Step](), _steps(path)
    for step in steps:
        hop_steps.append(step)
        if step.each or step is steps[-1]:
            hops.append(Hop(_names(hop_steps[:-1]), step, ".".join(part.text for part in hop_steps)))
            hop_steps = []
    return RowsPath(text, tuple(hops), parent)


def member_path(text: str) -> tuple[str, ...]:
    """Parse a path that has only members, like `paging.totalRows`; raises PathError if it cannot be read."""
    steps = _steps(text.strip())
    if any(step.each for step in steps):
        raise PathError(f"the path {text!r} leads into a list, but it may only have members")
    return _names(steps)


def _names(members: list[Step]) -> tuple[str, ...]:
    return tuple(member.names[0] for member in members if not member.each)


def _steps(text: str, *, is_column: bool = False) -> list[Step]:
    """The steps of a path. `#` may be written as a step: `offices{}.#` is `offices{}#`."""
    parts = text.replace(f".{KEY}", KEY).removeprefix(".").split(".") if text else []
    last = len(parts) if is_column else 0
    return [_step(part, text, may_take_key=number == last) for number, part in enumerate(parts, 1)]


def _step(part: str, text: str, *, may_take_key: bool) -> Step:
    match = _STEP.fullmatch(part)
    names, each, key = match.groups() if match else ("", "", "")
    is_any = names == ANY
    alternatives = () if is_any or not names else tuple(map(simplified, names.strip("()").split("|")))
    allows_key = may_take_key and (each == "{}" or is_any or len(alternatives) > 1)
    if not (names or each) or "" in alternatives or (key and not allows_key):
        raise PathError(f"the path {text!r} cannot be read at {part!r}")
    return Step(f"{names}{each}", alternatives, each, is_any, bool(key))
