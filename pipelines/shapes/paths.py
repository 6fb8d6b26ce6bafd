"""Paths: where rows are in an answer, and where each column is on the way to them.

path = step("."step)*    names compare without case and "_"; an empty path is the document itself
name   a member          name[]  each element of a list       name{}  each value of an object
*[]    every list of objects in this object                   (a|b)[] these lists together
#      after {}, *[] or (a|b)[]: the name under which the element was found
.x     x of the row      .       the row itself               -       the service has none
@table.x[]  rows below another table's rows                   @table.id  a column of that table
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

NONE = "-"
ANY = "*"
KEY = "#"
_STEP = re.compile(r"(?P<names>\*|\([^()]*\)|[^\[\]{}#()*.@]*)(?P<each>\[\]|\{\}|)(?P<key>#?)")


class PathError(ValueError):
    """A path that cannot be read, or does not fit the rows that it belongs to; the sentence says why."""


@lru_cache(maxsize=20_000)
def simplified(name: str) -> str:
    """A name without case and separators: `TotalRowCount` and `total_row_count` are one."""
    return re.sub(r"[\W_]+", "", name).lower()


@dataclass(frozen=True)
class Step:
    """One step into a document: a member, or each element of lists or objects under some names.

    `names` are simplified; empty ones stand for the value itself (`[]` at the start of a path) or, with
    `is_any`, for every list of objects.
    """

    text: str
    names: tuple[str, ...]
    each: str = ""
    is_any: bool = False
    takes_key: bool = False

    def label(self, name: str) -> str:
        """A name as the path writes it, from its simplified form."""
        written = self.text.removesuffix(self.each).strip("()").split("|")
        return next((label for label in written if simplified(label) == name), name)


@dataclass(frozen=True)
class Hop:
    """A way from one level of a document to the next: members to walk through, then a step.

    The step leads into a list or an object of many, or, at the end of a path, to one object (`rows[].sale`).
    """

    members: tuple[str, ...]
    step: Step
    text: str


@dataclass(frozen=True)
class ColumnPath:
    """Where the value of a column is: at a level of the way to the rows, under members of its objects.

    Level 0 is the document, the last level is the row. `parent` names the table whose column it is.
    """

    level: int = -1
    members: tuple[str, ...] = ()
    is_key: bool = False
    is_none: bool = False
    parent: str = ""

    @property
    def is_itself(self) -> bool:
        """Whether the column is the row itself, which is no object then."""
        return not (self.members or self.is_key or self.is_none)


@dataclass(frozen=True)
class RowsPath:
    """Where the rows of a table are, from the root of a document or from the rows of another table."""

    text: str
    hops: tuple[Hop, ...]
    parent: str = ""

    def column(self, text: str) -> ColumnPath:
        """Where a column is; raises PathError for one that is not on the way to these rows."""
        return _column_path(text, self)


def rows_path(text: str) -> RowsPath:
    """Read the path of rows; raises PathError with a sentence."""
    parent, rest = "", text.strip()
    if rest.startswith("@"):
        parent, _, rest = rest[1:].partition(".")
    steps = _steps(rest)
    hops: list[Hop] = []
    members: list[Step] = []
    for place, step in enumerate(steps):
        if step.takes_key:
            raise PathError(f"the path {text!r} ends in a name ({KEY}), which only a column can")
        if step.each or place == len(steps) - 1:
            label = ".".join(part.text for part in (*members, step))
            hops.append(Hop(tuple(member.names[0] for member in members), step, label))
            members = []
        else:
            members.append(step)
    return RowsPath(text, tuple(hops), parent)


def member_path(text: str) -> tuple[str, ...]:
    """Read a path of members only, such as a root or a total; raises PathError."""
    steps = _steps(text.strip())
    if any(step.each or step.takes_key for step in steps):
        raise PathError(f"the path {text!r} leads into a list, where members only are expected")
    return tuple(step.names[0] for step in steps)


def _column_path(text: str, rows: RowsPath) -> ColumnPath:
    text = text.strip()
    last = len(rows.hops)
    if text == NONE:
        return ColumnPath(is_none=True)
    if text.startswith("@"):
        parent, _, name = text[1:].partition(".")
        if parent != rows.parent or not name:
            raise PathError(f"{text!r} is no column of the table whose rows hold these ({rows.text!r})")
        return ColumnPath(members=(name,), parent=parent)
    if text.startswith("."):
        return ColumnPath(last, member_path(text[1:]))
    steps = _steps(text)
    level = 0
    for hop in rows.hops:
        length = len(hop.members) + 1
        head = steps[:length]
        if len(head) < length or not _is_hop(head, hop):
            break
        steps, level = steps[length:], level + 1
        if head[-1].takes_key:
            if steps:
                raise PathError(f"nothing can follow the name ({KEY}) in {text!r}")
            return ColumnPath(level, is_key=True)
    if any(step.each or step.takes_key for step in steps):
        raise PathError(f"{text!r} is not on the way to the rows at {rows.text!r}")
    return ColumnPath(level, tuple(step.names[0] for step in steps))


def _is_hop(steps: Sequence[Step], hop: Hop) -> bool:
    *members, step = steps
    is_same = (step.names, step.each, step.is_any) == (hop.step.names, hop.step.each, hop.step.is_any)
    return is_same and tuple(member.names[0] for member in members if not member.each) == hop.members


def _steps(text: str) -> list[Step]:
    """The steps of a path, read once from left to right."""
    steps: list[Step] = []
    place = 0
    while place < len(text):
        if text[place] == ".":
            place += 1
        found = _STEP.match(text, place)
        if found is None or found.end() == place:
            raise PathError(f"the path {text!r} cannot be read at {text[place:]!r}")
        names, each, key = found["names"], found["each"], found["key"]
        place = found.end()
        if place < len(text) and text[place] != ".":
            raise PathError(f"the path {text!r} cannot be read at {text[place:]!r}")
        if key and not names and not each and steps:  # `offices{}.#` is `offices{}#`
            steps[-1] = _with_key(steps[-1], text)
            continue
        step = _step(names, each, text)
        steps.append(_with_key(step, text) if key else step)
    return steps


def _step(names: str, each: str, text: str) -> Step:
    if names == ANY and each != "[]":
        raise PathError(f"the path {text!r} holds *, which only *[] can be")
    if names.startswith("(") and each != "[]":
        raise PathError(f"the path {text!r} names several lists without [] behind them")
    if not names and not each:
        raise PathError(f"the path {text!r} has a step without a name")
    is_any = names == ANY
    several = () if is_any or not names else tuple(simplified(name) for name in names.strip("()").split("|"))
    if "" in several:
        raise PathError(f"the path {text!r} has a name without letters or digits")
    return Step(f"{names}{each}", several, each, is_any)


def _with_key(step: Step, text: str) -> Step:
    if not (step.each == "{}" or step.is_any or len(step.names) > 1):
        raise PathError(f"the path {text!r} asks for the name ({KEY}) of a list that has only one")
    return Step(step.text, step.names, step.each, step.is_any, takes_key=True)
