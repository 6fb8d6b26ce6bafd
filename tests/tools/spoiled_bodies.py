"""Bodies that a service may answer: real ones with one thing or many gone wrong, from structure to bytes.

`python -m tests.tools.spoiled_bodies --bodies 100000` sends so many through reading and normalizing.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.normalize.document import InvalidJson, read_document
from pipelines.sync.window.answers import UnreadableRows, normalize_answers
from tests.scenarios.scenario import scenario
from tests.tools.telling import say
from warehouse.load.landing import Landing

TOLD_EVERY = 5_000
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


def spoiled(sample: Sample, chance: random.Random) -> bytes:
    """The body of a sample with one to three things gone wrong."""
    tree = json.loads(sample.body)
    for _ in range(chance.randint(1, 3)):
        tree = _changed(tree, chance)
    body = json.dumps(tree, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    return chance.choice(BREAKS)(body, chance) if chance.random() < 0.2 else body


def verdict(report: Report, body: bytes) -> str:
    """Loaded, quarantined or refused with a sentence; anything else is raised."""
    try:
        document = read_document(body)
        normalized = normalize_answers(report, [document], MONTHS, "Europe/Stockholm", [None], [None])
    except InvalidJson as error:
        return "not JSON" if str(error) else "no sentence"
    except UnreadableRows as error:
        return "a traceback" if "no rows could be made" in str(error) else "does not fit"
    return "quarantined" if normalized.rejected else "normalized"


def _changed(tree: Any, chance: random.Random) -> Any:
    places = list(_places(tree, []))
    if not places:
        return deepcopy(chance.choice(VALUES))
    parent, key = chance.choice(places)
    what = chance.randrange(5)
    if what == 0:
        del parent[key]
    elif what == 1 and isinstance(parent, dict):
        parent[chance.choice(("", "a b", "ID", "id", "_row", "x" * 300, "Ö-é"))] = parent[key]
    elif what == 2 and isinstance(parent, list):
        parent += [parent[key]] * chance.randint(1, 3)
    else:
        parent[key] = deepcopy(chance.choice(VALUES))
    return tree


def _places(tree: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inner:
        found.append((tree, key))
        _places(value, found)
    return found


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


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bodies", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance, known, counts = random.Random(given.seed), samples(), Counter[str]()
    for number in range(1, given.bodies + 1):
        sample = chance.choice(known)
        body = spoiled(sample, chance)
        told = verdict(sample.report, body)
        counts[told] += 1
        if told in ("a traceback", "no sentence") and counts[told] <= 5:
            say(f"{sample.report.name}: {told}: {body[:2000]!r}")
        if number % TOLD_EVERY == 0 or number == given.bodies:
            say(f"{number} bodies: {dict(counts)}")
    return 1 if counts["a traceback"] or counts["no sentence"] else 0


if __name__ == "__main__":
    sys.exit(main())
