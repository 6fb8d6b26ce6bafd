"""Explanation of a number: its path from the mart to the stored answers, and related mart rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from warehouse.errors import LandingDamaged, WarehouseError
from warehouse.load.landing import Landing
from warehouse.marts.lineage import OLDER_FILE, NotInTheFile, Trace, TracedLoad, trace
from warehouse.marts.queries import SQL, rows_by_query
from warehouse.store.versions import Versions


@dataclass(frozen=True)
class StoredRequest:
    """One request behind a number, and the status and size of its answer in landing."""

    path: str
    query: Mapping[str, str]
    status: int
    bytes: int


@dataclass
class Explanation:
    """A traced number and the requests behind it; `around` has the rows of each query in sql/explain."""

    trace: Trace
    around: Mapping[str, Sequence[Mapping[str, Any]]]
    requests: list[StoredRequest] = field(default_factory=list)
    damage: str = ""  # why the stored answers could not be read again


def explain(data_dir: Path, *, month: date, measure: str, office: str = "", user: str = "") -> Explanation:
    """Trace a number of an office or a user, or else of the chain, back to its stored answers.

    The answers are read again; if one is damaged, `damage` says so. Raises NotInTheFile if an older brokerbi
    made the published file, if the file lacks the number, or if `office` or `user` matches several. Raises
    WarehouseError if the file is missing or unreadable.
    """
    with Versions(data_dir).reading() as connection:
        traced = trace(connection, month, measure, office=office, user=user)
        answers = rows_by_query(connection, SQL / "explain", variables=_variables(traced))
    around = {name: rows for name, rows in answers.items() if rows is not None}
    if len(around) < len(answers):
        raise NotInTheFile(OLDER_FILE)
    explanation = Explanation(traced, around)
    landing = Landing(data_dir / "landing")
    try:
        for load in traced.loads:
            explanation.requests += _requests(landing, load)
    except WarehouseError as error:
        explanation.damage = str(error)
    return explanation


def _requests(landing: Landing, load: TracedLoad) -> Iterator[StoredRequest]:
    if load.landing is None:
        raise LandingDamaged(f"meta.loads has no landing file for load {load.load_id}.")
    for meta, body in landing.read_used(load.landing, load.sha256):
        query = {str(name): str(value) for name, value in (meta.get("query") or {}).items()}
        yield StoredRequest(str(meta.get("path", "")), query, int(meta.get("status", 0)), len(body))


def _variables(traced: Trace) -> dict[str, object]:
    number = traced.number
    return {
        "kind": number.kind,
        "id": number.id,
        "month": number.month,
        "measure": number.measure,
        "report": traced.loads[0].report if traced.loads else number.source.report,
    }


def question_of(name: str) -> str:
    """The question that a query of sql/explain answers: the first line of its file."""
    with (SQL / "explain" / f"{name}.sql").open(encoding="utf-8") as file:
        return file.readline().removeprefix("-- ").rstrip()
