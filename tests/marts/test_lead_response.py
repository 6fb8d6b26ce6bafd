"""How soon somebody took a lead, from what one reading after the other found."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from duckdb import DuckDBPyConnection

from tests.marts.given import arrived, build, held, rows, warehouse
from warehouse.store.meta_schema import write_declared

CREATED = datetime(2026, 7, 1, 14)  # in Stockholm, which is 12 o'clock in UTC
FIRST_NIGHT = datetime(2026, 7, 2, 3)
TOLD = (
    "SELECT response, first_state, answered_state, hours_at_least, hours_at_most "
    "FROM marts.lead_response ORDER BY lead_id"
)


def read(given: DuckDBPyConnection, night: datetime, state: str, *, is_removed: bool = False) -> None:
    """One night reads the lead in this state, and builds the marts."""
    load_id = held(given, "tips_and_leads", "M1", ["2026-07"], at_utc=night)
    given.execute("DELETE FROM bi.incoming_leads")
    lead = {"lead_id": "L1", "created_at": CREATED, "lead_state": state, "is_removed": is_removed}
    rows(given, "incoming_leads", "M1", "2026-07", [lead], load_id=load_id, at_utc=night)
    build(given, "lead_response")


def nights(states: Sequence[str], first: datetime = FIRST_NIGHT) -> DuckDBPyConnection:
    """A lead as one night after the other read it."""
    given = warehouse()
    write_declared(given, "clock", "Europe/Stockholm")
    arrived(given, "incoming_leads", is_removed="BOOLEAN")
    for number, state in enumerate(states):
        read(given, first + timedelta(days=number), state)
    return given


@pytest.mark.parametrize(
    ("states", "told"),
    [
        (["New"], ("waiting", "New", None, 15, None)),
        (["New", "New"], ("waiting", "New", None, 39, None)),
        (["Claimed"], ("answered", "Claimed", "Claimed", 0, 15)),
        (["New", "Claimed"], ("answered", "New", "Claimed", 15, 39)),
        (["New", "New", "Claimed", "Done"], ("answered", "New", "Claimed", 39, 63)),
        (["New", "Claimed", "New"], ("answered", "New", "Claimed", 15, 39)),
    ],
    ids=["waiting", "still waiting", "at once", "within a night", "later", "given back"],
)
def test_a_lead_was_taken_between_two_readings(states: list[str], told: tuple[object, ...]) -> None:
    assert nights(states).execute(TOLD).fetchall() == [told]


def test_a_lead_first_read_long_after_it_came_has_no_answer() -> None:
    assert nights(["Claimed"], CREATED + timedelta(days=2)).execute(TOLD).fetchall() == []


def test_a_lead_that_was_removed_was_not_answered() -> None:
    given = nights(["New"])
    read(given, FIRST_NIGHT + timedelta(days=1), "RemovedOther", is_removed=True)
    assert given.execute(TOLD).fetchall() == [("removed", "New", None, Decimal(15), None)]


def test_at_most_two_states_of_a_lead_are_kept() -> None:
    given = nights(["New", "New", "Claimed", "Reassigned", "Done"])
    found = given.execute("SELECT version, state FROM meta.lead_states ORDER BY version")
    assert found.fetchall() == [(1, "New"), (2, "Claimed")]


def test_without_a_time_zone_no_hours_are_told() -> None:
    given = warehouse()
    arrived(given, "incoming_leads", is_removed="BOOLEAN")
    read(given, FIRST_NIGHT, "Claimed")
    assert given.execute(TOLD).fetchall() == [("answered", "Claimed", "Claimed", None, None)]
