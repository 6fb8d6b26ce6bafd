"""Erasure of a person from landing: what answers tell of the person, and the files rewritten without."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from warehouse.load.landing import HELD, Landed, Landing, LandingWriter
from warehouse.persons.person import Person
from warehouse.persons.writings import decoded, further_encodings
from warehouse.store.schema import BETWEEN_IDS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.handed_over import Documented

REWRITTEN = "erased"
"""What the header of a landing file says when a person was erased from it."""
_KEPT = frozenset(
    ("load_id", "run_id", "report", "customer", "window_start", "window_end", "months", "fetched_at_utc")
)
"""What is said of a load and is about nobody."""
_PARTS = re.compile(rf"([/?&={BETWEEN_IDS}])")


@dataclass(frozen=True)
class RewrittenLanding:
    """Landing files after an erasure: those that held the person, and all that may be new to the ledger."""

    held: tuple[Landed, ...]
    marked: tuple[Landed, ...]

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """The reports and customers whose rows were in a file that held the person."""
        return {(one.header["report"], one.header["customer"]) for one in self.held}


def find_in_landing(landing: Landing, person: Person, documented: Documented) -> Person:
    """The person with the values that landing tells, and the customers whose answers tell them."""
    values, customers = set(person.values), set(person.customers)
    for path in _all_files(landing):
        found: set[str] = set()
        for _, body in landing.read(path):
            text = decoded(body).text
            if person.is_named_in(text):
                found |= set(person.values_in_json(text, documented))
        if found:
            customers.add(landing.landed(path).header["customer"])
        values |= found
    return replace(person, values=frozenset(values), customers=frozenset(customers))


def erase_landing(landing: Landing, person: Person, documented: Documented) -> RewrittenLanding:
    """Rewrite every landing file with data of the person; a damaged one raises: nobody can look into it.

    The answers are read and written one by one.
    """
    by_id = replace(person, values=frozenset())
    held, marked = [], []
    for path in _all_files(landing):
        landed = landing.landed(path)
        sought = person if landed.header["customer"] in person.customers else by_id
        if _may_hold(landing, landed, sought) and (new := _rewritten(landing, landed, sought, documented)):
            landed = new
            held.append(landed)
        if landed.header.get(REWRITTEN):
            marked.append(landed)
    return RewrittenLanding(tuple(held), tuple(marked))


def update_ledger(connection: DuckDBPyConnection, rewritten: RewrittenLanding) -> None:
    """Let the ledger expect the rewritten files, and the ids that they say were asked for."""
    for one in rewritten.marked:
        connection.execute(
            "UPDATE meta.loads SET asked = $1 WHERE landing = $2 AND asked IS DISTINCT FROM $1",
            [{**one.header, **one.trailer}.get("asked"), one.path],
        )
        connection.execute(
            "UPDATE meta.loads SET sha256 = $1 WHERE landing = $2 AND sha256 <> '' AND sha256 <> $1",
            [one.sha256, one.path],
        )
    sys.audit("brokerbi.landing_erased")


def _all_files(landing: Landing) -> list[str]:
    return [*landing.paths(), *landing.held()]


def _may_hold(landing: Landing, landed: Landed, person: Person) -> bool:
    """Whether a file may hold the person, in whatever writing."""
    if any(_without(one, person) != one for one in (landed.header, landed.trailer)):
        return True
    for meta, body in landing.read(landed.path):
        known = decoded(body)
        if (
            _without(meta, person) != meta
            or person.may_be_in(known.text)
            or further_encodings(body, known.encoding)
        ):
            return True
    return False


def _rewritten(landing: Landing, landed: Landed, person: Person, documented: Documented) -> Landed | None:
    """The file written anew without the person; None, and the file as it was, where it holds nothing."""
    header, trailer = _without(landed.header, person), _without(landed.trailer, person)
    has_changed = (header, trailer) != (landed.header, landed.trailer)
    place = Path(landed.path.removesuffix(HELD))
    writer = LandingWriter(landing.root, place, {**header, REWRITTEN: True})
    try:
        for meta, body in landing.read(landed.path):
            new_meta, new_body = _without(meta, person), person.erase_body(body, documented)
            has_changed |= (new_meta, new_body) != (meta, body)
            writer.add(new_meta, new_body)
        return writer.close(trailer, held=landed.path.endswith(HELD)) if has_changed else None
    finally:
        writer.discard()


def _without(said: Mapping[str, Any], person: Person) -> dict[str, Any]:
    """What is said of a load or a request, without the person."""
    asked = said.get("asked")
    together = asked if isinstance(asked, list) else [asked]
    is_asked = any(person.is_id(id_) for one in together if one for id_ in one.split(BETWEEN_IDS))
    knows_parts = person.is_unmistakable or is_asked  # a month of an address may be the same small number

    def renamed(value: Any) -> Any:
        if isinstance(value, str):
            return erased(value)
        if isinstance(value, list):
            return [renamed(one) for one in value]
        if isinstance(value, dict):
            return {erased(name): renamed(one) for name, one in value.items()}
        return value

    def erased(text: str) -> str:
        parts = _PARTS.split(person.erase_text(text))
        return "".join(person.alias if knows_parts and person.is_id(unquote(one)) else one for one in parts)

    return {name: one if name in _KEPT else renamed(one) for name, one in said.items()}
