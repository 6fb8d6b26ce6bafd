"""Good answers whose structure was edited: no row is lost without a word.

`python -m tests.tools.edited_answers --edits 2000` renames, wraps, moves or deletes a member of so many good
answers, in one object or all. Each row has a mark that no column declares. After an edit each mark has to be
in a table or a rejected row, or the answer does not fit its shape; a mark may be lost only where it was
deleted.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.normalize.document import read_document
from pipelines.sync.window.answers import UnreadableRows, normalize_answers
from tests.scenarios.scenario import scenario
from tests.tools.telling import say
from warehouse.load.landing import Landing

MONTHS = (date(2026, 10, 1), date(2026, 11, 1))


@dataclass(frozen=True)
class Sample:
    report: Report
    body: bytes


def samples(reports: Sequence[str] = ()) -> list[Sample]:
    """One real body of each of these reports; of every report that is on, if none is named."""
    with TemporaryDirectory() as folder:
        here = scenario(Path(folder), reports, offices=1)
        here.sync()
        landing = Landing(Path(folder) / "landing")
        found: dict[str, Sample] = {}
        for path in landing.paths():
            for _, body in landing.read(path):
                name = path.split("/")[0]
                if name not in found or len(found[name].body) < len(body) < 20_000:
                    found[name] = Sample(REPORTS[name], body)
        return list(found.values())


MARK = "mark"
MARKS = re.compile(r"mark-\d+")
Place = tuple[str | int, ...]
"""The keys and positions that lead to a value."""


@dataclass(frozen=True)
class Marked:
    """A good answer whose rows have marks, and the marks that are loaded from it."""

    report: Report
    tree: Any
    marks: frozenset[str]


def marked(sample: Sample) -> Marked:
    """The answer of a sample with a mark in each object of a list."""
    tree, numbers = json.loads(sample.body), count()
    for _, value in _places(tree):
        for element in value if isinstance(value, list) else ():
            if isinstance(element, dict):
                element[MARK] = f"mark-{next(numbers)}"
    for element in tree if isinstance(tree, list) else ():
        element[MARK] = f"mark-{next(numbers)}"
    return Marked(sample.report, tree, frozenset(loaded_marks(sample.report, tree) or ()))


def loaded_marks(report: Report, tree: Any) -> set[str] | None:
    """The marks in tables and in rejected rows; none if the answer does not fit its shape."""
    document = read_document(json.dumps(tree).encode())
    try:
        normalized = normalize_answers(report, [document], MONTHS, "Europe/Stockholm", [None], [None])
    except UnreadableRows:
        return None
    texts = [repr(table.frame.rows()) for table in normalized.tables]
    return set(MARKS.findall("".join([*texts, *(row.raw for row in normalized.rejected)])))


def outcome(answer: Marked, chance: random.Random) -> tuple[str, str]:
    """What became of an answer after an edit, and the edit."""
    tree = json.loads(json.dumps(answer.tree))
    places = [(path, value) for path, value in _places(tree) if path[-1] != MARK]
    paths = [path for path, _ in places]
    nested = [path for path, value in places if isinstance(value, list | dict)]
    path = chance.choice(chance.choice([paths, nested or paths]))
    edit = chance.choice(EDITS)
    is_everywhere = chance.random() < 0.5
    paths = [other for other in paths if _kind(other) == _kind(path)] if is_everywhere else [path]
    deleted: set[str] = set()
    for other in reversed(paths):  # later elements first, so that positions stay
        deleted |= edit(tree, other)
    found = loaded_marks(answer.report, tree)
    told = f"{edit.__name__} {'.'.join(map(str, _kind(path)))} in {len(paths)} places"
    if found is None:
        return "does not fit", told
    lost = answer.marks - found - deleted
    return ("lost", f"{told}: {len(lost)} rows") if lost else ("nothing lost", told)


def delete(tree: Any, path: Place) -> set[str]:
    """Delete a member or an element; returns the marks that go with it."""
    return set(MARKS.findall(json.dumps(_parent(tree, path).pop(path[-1]))))


def rename(tree: Any, path: Place) -> set[str]:
    """Give a member another name."""
    parent, name = _parent(tree, path), path[-1]
    if isinstance(parent, dict):
        parent[f"{name}Other"] = parent.pop(name)
    return set()


def wrap(tree: Any, path: Place) -> set[str]:
    """Put a member or an element into an object of its own."""
    parent, name = _parent(tree, path), path[-1]
    parent[name] = {"wrapped": parent[name]}
    return set()


def wrap_again(tree: Any, path: Place) -> set[str]:
    """Put a member into an object under another name."""
    parent, name = _parent(tree, path), path[-1]
    if isinstance(parent, dict):
        parent["wrapped"] = {name: parent.pop(name)}
    return set()


def move(tree: Any, path: Place) -> set[str]:
    """Move a member into another object next to it."""
    parent, name = _parent(tree, path), path[-1]
    beside = [value for value in parent.values() if isinstance(value, dict)] if type(parent) is dict else []
    beside = [value for value in beside if value is not parent[name] and name not in value]
    if beside:
        beside[0][name] = parent.pop(name)
    return set()


def lift(tree: Any, path: Place) -> set[str]:
    """Move a member out, into the object around its own."""
    parent, name = _parent(tree, path), path[-1]
    around = next(
        (
            _parent(tree, path[:end])
            for end in range(len(path) - 1, 0, -1)
            if isinstance(_parent(tree, path[:end]), dict)
        ),
        None,
    )
    if isinstance(parent, dict) and around is not None and name not in around:
        around[name] = parent.pop(name)
    return set()


EDITS: Sequence[Callable[[Any, Place], set[str]]] = (delete, rename, wrap, wrap_again, move, lift)


def _places(tree: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Each member and element with its path, outer ones first."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inner:
        yield (*path, key), value
        yield from _places(value, (*path, key))


def _parent(tree: Any, path: Place) -> Any:
    for key in path[:-1]:
        tree = tree[key]
    return tree


def _kind(path: Place) -> tuple[str, ...]:
    return tuple("[]" if isinstance(key, int) else key for key in path)


def edit_answers(number: int, chance: random.Random) -> bool:
    """Whether so many edits of good answers lost no row without a word."""
    answers, outcomes = [answer for answer in map(marked, samples()) if answer.marks], Counter[str]()
    for _ in range(number):
        answer = chance.choice(answers)
        found, told = outcome(answer, chance)
        outcomes[found] += 1
        if found == "lost":
            say(f"{answer.report.name}: {told}")
    say(f"{number} edits: {dict(outcomes)}")
    return not outcomes["lost"]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--edits", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    return 0 if edit_answers(given.edits, random.Random(given.seed)) else 1


if __name__ == "__main__":
    sys.exit(main())
