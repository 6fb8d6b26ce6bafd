"""Rows in quarantine as they came, each read from the landing file of its load."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import TYPE_CHECKING

from pipelines.normalize.document import Json, parse_exactly, read_document, to_json
from pipelines.shapes.paths import simplified
from warehouse.errors import WarehouseError
from warehouse.load.landing import Landing
from warehouse.load.quarantine import QuarantinedRow, fingerprint, quarantined_rows

if TYPE_CHECKING:
    from warehouse.store.database import Store

_PLACE = re.compile(r"(?:page (\d+): )?\$(.*)", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
"""A key or a position on the way to a row."""
REPLAY = "`brokerbi replay --quarantine` reads the answer again"


@dataclass(frozen=True)
class RawRow:
    """A row in quarantine with what came; without it there is a sentence that says why."""

    row: QuarantinedRow
    raw: str
    trouble: str = ""


def raw_rows(store: Store) -> Iterator[RawRow]:
    """Every row in quarantine; a landing file is read once for all rows of its load."""
    landing = Landing(store.data_dir / "landing")
    with store.reading() as connection:
        rows = quarantined_rows(connection)
    for _, of_load in groupby(rows, key=lambda row: row.load_id):
        yield from _of_load(landing, list(of_load))


def _of_load(landing: Landing, rows: Sequence[QuarantinedRow]) -> Iterator[RawRow]:
    """The rows of one load, page by page; those that are not found come last."""
    path, trouble, missing = rows[0].landing, "", []
    waiting: defaultdict[int, list[QuarantinedRow]] = defaultdict(list)
    for row in rows:
        waiting[_page(row)].append(row)
    try:
        for number, (_, body) in enumerate(landing.read_used(path, rows[0].sha256)):
            if number in waiting:
                pages = [read_document(body).value, parse_exactly(body)]
                for row in waiting.pop(number):
                    raw = next((raw for page in pages if (raw := _found(page, row))), None)
                    if raw is None:
                        missing.append(row)
                    else:
                        yield RawRow(row, raw)
    except (WarehouseError, OSError) as error:
        trouble = str(error)
    for row in chain(missing, *waiting.values()):
        yield RawRow(row, "", trouble or f"another row stands there now; {REPLAY}")


def _page(row: QuarantinedRow) -> int:
    place = _PLACE.fullmatch(row.place)
    return int(place[1] or 1) - 1 if place else -1


def _found(page: Json, row: QuarantinedRow) -> str | None:
    """The row at the place of a row, if it is the one that was set aside."""
    place = _PLACE.fullmatch(row.place)
    value = page
    try:
        for key, position in _STEP.findall(place[2] if place else ""):
            value = value[int(position)] if position else _member(value, key)
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
    raw = to_json(value)
    return raw if fingerprint(raw) == row.fingerprint else None


def _member(value: Json, key: str) -> Json:
    """The member of an object, by its key or another spelling of it; raises KeyError."""
    if key in value:
        return value[key]
    return {simplified(name): member for name, member in value.items()}[simplified(key)]
