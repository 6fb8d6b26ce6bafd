"""Spoiled answers: real bodies with random errors, and good answers with an edited structure.

`python -m tests.tools.spoiled_bodies --bodies 20000` reads and normalizes 20,000 bodies with errors in their
values, structure or bytes. Each must be normalized, quarantined or rejected with a sentence.

`--edits 2000` edits 2,000 good answers: a member is renamed, wrapped, moved or deleted, in one object or in
all. Each row has a mark that no column declares. After an edit, each mark must be in a table or a rejected
row, unless the edit deleted it or the answer no longer fits its shape.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.normalize.document import InvalidJson, read_document
from pipelines.sync.window.answers import UnreadableRows, normalize_answers
from tests.scenarios.scenario import scenario
from tests.tools.messages import say
from warehouse.load.landing import Landing

REPORT_EVERY = 5_000
MONTHS = (date(2026, 10, 1), date(2026, 11, 1))
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**30, 1e308, "", " ", "text", "12,50", "\u0000", "ö" * 50,
    "2026-10-25T02:30:00+02:00", "2024-02-29", "9999-12-31T23:59:59", "0001-01-01",
    [], {}, [None], [[1]], {"id": None}, [{}],
)  # fmt: skip


@dataclass(frozen=True)
class Sample:
    report: Report
    body: bytes


def samples(reports: Sequence[str] = ()) -> list[Sample]:
    """A real body of each of these reports, or of each enabled report if none is named."""
    with TemporaryDirectory() as folder:
        here = scenario(Path(folder), reports, offices=1)
        here.sync()
        landing = Landing(Path(folder) / "landing")
        by_report: dict[str, Sample] = {}
        for path in landing.paths():
            for _, body in landing.read(path):
                name = path.split("/")[0]
                if name not in by_report or len(by_report[name].body) < len(body) < 20_000:
                    by_report[name] = Sample(REPORTS[name], body)
        return list(by_report.values())


def spoiled(sample: Sample, chance: random.Random) -> bytes:
    """The body of a sample with one to three changes, and sometimes with damaged bytes."""
    tree = json.loads(sample.body)
    for _ in range(chance.randint(1, 3)):
        tree = _changed(tree, chance)
    body = json.dumps(tree, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    return chance.choice(BREAKS)(body, chance) if chance.random() < 0.2 else body


def verdict(report: Report, body: bytes) -> str:
    """The outcome of a body; "no sentence" and "a traceback" are faults, and other errors are raised."""
    try:
        document = read_document(body)
        normalized = normalize_answers(report, [document], MONTHS, "Europe/Stockholm", [None], [None])
    except InvalidJson as error:
        return "not JSON" if str(error) else "no sentence"
    except UnreadableRows as error:
        return "a traceback" if "no rows could be read" in str(error) else "does not fit"
    return "quarantined" if normalized.rejected else "normalized"


def _changed(tree: Any, chance: random.Random) -> Any:
    paths = [path for path, _ in _places(tree)]
    if not paths:
        return deepcopy(chance.choice(VALUES))
    path = chance.choice(paths)
    parent, key = _parent(tree, path), path[-1]
    change = chance.randrange(5)
    if change == 0:
        del parent[key]
    elif change == 1 and isinstance(parent, dict):
        parent[chance.choice(("", "a b", "ID", "id", "_row", "x" * 300, "Ö-é"))] = parent[key]
    elif change == 2 and isinstance(parent, list):
        parent.extend([parent[int(key)]] * chance.randint(1, 3))
    else:
        parent[key] = deepcopy(chance.choice(VALUES))
    return tree


def _cut(body: bytes, chance: random.Random) -> bytes:
    return body[: chance.randrange(len(body) + 1)]


def _bytes(body: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(body) + 1)
    return body[:at] + chance.randbytes(chance.randint(1, 4)) + body[at + 1 :]


def _charset(body: bytes, chance: random.Random) -> bytes:
    return body.decode("utf-8", "replace").encode(chance.choice(("utf-16", "utf-8-sig", "utf-32")))


def _twice(body: bytes, chance: random.Random) -> bytes:
    return body + chance.choice((b"", b"\n", b",")) + body


BREAKS: tuple[Callable[[bytes, random.Random], bytes], ...] = (_cut, _bytes, _charset, _twice)


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
    """The marks in tables and in rejected rows; None if the answer does not fit its shape."""
    document = read_document(json.dumps(tree).encode())
    try:
        normalized = normalize_answers(report, [document], MONTHS, "Europe/Stockholm", [None], [None])
    except UnreadableRows:
        return None
    texts = [repr(table.frame.rows()) for table in normalized.tables]
    return set(MARKS.findall("".join([*texts, *(row.raw for row in normalized.rejected)])))


def outcome(answer: Marked, chance: random.Random) -> tuple[str, str]:
    """Edit an answer; returns the outcome and a description of the edit."""
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
    marks = loaded_marks(answer.report, tree)
    description = f"{edit.__name__} {'.'.join(map(str, _kind(path)))} in {len(paths)} places"
    if marks is None:
        return "does not fit", description
    lost = answer.marks - marks - deleted
    return ("lost", f"{description}: {len(lost)} rows") if lost else ("nothing lost", description)


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
    objects = [value for value in parent.values() if isinstance(value, dict)] if type(parent) is dict else []
    targets = [value for value in objects if value is not parent[name] and name not in value]
    if targets:
        targets[0][name] = parent.pop(name)
    return set()


def lift(tree: Any, path: Place) -> set[str]:
    """Move a member into the nearest object around its own."""
    parent, name = _parent(tree, path), path[-1]
    enclosing = (_parent(tree, path[:end]) for end in range(len(path) - 1, 0, -1))
    around = next((value for value in enclosing if isinstance(value, dict)), None)
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


def spoil_bodies(number: int, chance: random.Random) -> bool:
    """Whether none of this number of spoiled bodies has a fault as its outcome."""
    originals, counts = samples(), Counter[str]()
    for count_so_far in range(1, number + 1):
        sample = chance.choice(originals)
        body = spoiled(sample, chance)
        result = verdict(sample.report, body)
        counts[result] += 1
        if result in ("a traceback", "no sentence") and counts[result] <= 5:
            say(f"{sample.report.name}: {result}: {body[:2000]!r}")
        if count_so_far % REPORT_EVERY == 0 or count_so_far == number:
            say(f"{count_so_far} bodies: {dict(counts)}")
    return not (counts["a traceback"] or counts["no sentence"])


def edit_answers(number: int, chance: random.Random) -> bool:
    """Whether this number of edits of good answers lost no row silently."""
    answers, outcomes = [answer for answer in map(marked, samples()) if answer.marks], Counter[str]()
    for _ in range(number):
        answer = chance.choice(answers)
        result, description = outcome(answer, chance)
        outcomes[result] += 1
        if result == "lost":
            say(f"{answer.report.name}: {description}")
    say(f"{number} edits: {dict(outcomes)}")
    return not outcomes["lost"]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bodies", type=int, default=0)
    parser.add_argument("--edits", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    has_no_fault = spoil_bodies(options.bodies, random.Random(options.seed))
    has_lost_nothing = edit_answers(options.edits, random.Random(options.seed))
    return 0 if has_no_fault and has_lost_nothing else 1


if __name__ == "__main__":
    sys.exit(main())
