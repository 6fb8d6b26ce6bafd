"""The ledger: loaded months, denials and learned limits."""

from __future__ import annotations

from pipelines.catalogue.model import Ids
from tests.unit.warehouse.given import (
    FEBRUARY,
    JANUARY,
    NOON,
    Column,
    Given,
    declared_table,
    failed,
    hours,
    load,
    sales,
    table,
    users,
)
from warehouse.ledger import ledger
from warehouse.ledger.ids import known_ids
from warehouse.ledger.window_result import WindowStatus
from warehouse.store.meta_schema import aware

BOTH = (JANUARY, FEBRUARY)


def test_loaded_months_are_stored_by_month_and_a_snapshot_without_one(given: Given) -> None:
    given.load([sales("a", (JANUARY, "1", "1"), months=BOTH, open_months=frozenset({FEBRUARY}))])
    given.load([users("u", {"1": "Ann"}, offices=[(0, "North")])])
    assert given.ledger().stored == {
        ("sales", "M1"): {
            JANUARY: ledger.StoredMonth(NOON, "held", "a", 1),
            FEBRUARY: ledger.StoredMonth(NOON, "open", "a", 0),
        },
        ("users", "M1"): {None: ledger.StoredMonth(NOON, "held", "u", 2)},
    }


def test_a_denial_is_recorded_until_it_is_forgotten(given: Given) -> None:
    given.write(ledger.record_denial, "sales", "M1", NOON)
    given.write(ledger.record_denial, "sales", "M1", hours(1))
    assert given.ledger().denied == {("sales", "M1"): hours(1)}
    given.write(ledger.forget_denial, "sales", "M1")
    assert given.ledger().denied == {}


def test_a_learned_window_keeps_the_moment_it_was_learned_until_it_changes(given: Given) -> None:
    found = []
    for hour, days in enumerate((14, 14, 7, 7)):
        given.write(ledger.record_cap, "sales", "M1", ledger.Cap(days=days), hours(hour))
        [(learned,)] = given.rows("SELECT learned_at_utc FROM meta.window_caps")
        found.append(aware(learned))
    assert found == [hours(0), hours(0), hours(2), hours(2)]


def test_a_stored_month_has_the_day_on_which_it_is_due(given: Given) -> None:
    day, next_due = NOON.date(), "SELECT report, month, next_due_on, due_reason FROM meta.months ORDER BY ALL"
    given.load([sales("a", (JANUARY, "1", "1")), users("u", {"1": "Ann"}, offices=[(0, "North")])])
    days = {
        ("sales", "M1", JANUARY): (day, "monthly"),
        ("sales", "M1", FEBRUARY): (day, "weekly"),
        ("users", "M1", None): (day, "nightly"),
    }
    given.write(ledger.write_due_days, days)
    assert given.rows(next_due) == [("sales", JANUARY, day, "monthly"), ("users", None, day, "nightly")]
    given.write(ledger.write_due_days, {})
    assert given.rows(next_due) == [("sales", JANUARY, None, None), ("users", None, None, None)]


def test_a_limit_learned_for_pages_keeps_the_limit_for_windows(given: Given) -> None:
    for cap in (ledger.Cap(months=1), ledger.Cap(page_size=250), ledger.Cap(days=14, months=1)):
        given.write(ledger.record_cap, "leads", "M1", cap, NOON)
    assert given.ledger().caps == {("leads", "M1"): ledger.Cap(days=14, months=1, page_size=250)}


def test_the_ledger_has_the_requests_of_a_window_and_the_seconds_of_a_request(given: Given) -> None:
    given.load([sales("a", requests=3, seconds=6.0), sales("b", months=(FEBRUARY,), requests=1, seconds=2.0)])
    given.write(ledger.record_failures, [failed("c", requests=9, seconds=900.0)], NOON)
    read = given.ledger()
    assert (read.most_requests, read.request_seconds) == ({("sales", "M1"): 3}, 2.0)


def test_a_failure_is_recorded_without_a_loaded_month(given: Given) -> None:
    lost = failed("a", status=WindowStatus.HELD_BACK, reason="half the rows are gone")
    given.write(ledger.record_failures, [lost], NOON)
    assert given.rows("SELECT status, error, load_number FROM meta.loads") == [
        ("held back", "half the rows are gone", None)
    ]
    assert given.ledger().stored == {}


def test_a_failure_of_a_current_load_leaves_the_load_current(given: Given) -> None:
    given.load([sales("a", (JANUARY, "1", "1"))])
    given.write(ledger.record_failures, [failed("a", reason="landing is damaged")], NOON)
    assert given.rows("SELECT status, rows, error FROM meta.loads") == [("loaded", 1, "landing is damaged")]


def test_a_load_that_failed_before_replaces_its_row_when_it_succeeds(given: Given) -> None:
    given.write(ledger.record_failures, [failed("a")], NOON)
    given.load([sales("a", (JANUARY, "1", "1"))])
    assert given.rows("SELECT status, load_number, error FROM meta.loads") == [("loaded", 1, None)]


USERS_OR_EARNERS = (Ids("users", ("id",)), Ids("users", ("user_id",)), Ids("commission_user", ("user_id",)))


def test_ids_are_those_of_the_first_source_that_has_any(given: Given) -> None:
    def known(customer: str) -> list[str]:
        return [*given.read(known_ids, "user_budget_crm", customer, USERS_OR_EARNERS, FEBRUARY)]

    user = Column("user_id", "VARCHAR")
    commission = declared_table("commission_user", "commission_user", (user,), False, None, (), "")
    rows = [{"_month": JANUARY, "user_id": "8"}, {"_month": JANUARY, "user_id": "7"}]
    given.load([load("a", [table(commission, rows)], report="commission_user")])
    assert known("M1") == ["7", "8"]
    given.load([users("b", {"9": "Ann"})])
    assert (known("M1"), known("M2")) == (["9"], [])


def test_a_failed_month_is_listed_until_it_is_loaded_but_a_held_back_month_is_not(given: Given) -> None:
    given.load([sales("a", (JANUARY, "1", "1"), months=BOTH)])
    given.write(ledger.record_failures, [failed("b", months=BOTH, fetched_at_utc=hours(1))], NOON)
    assert given.ledger().failed == {("sales", "M1"): frozenset(BOTH)}
    held_back = failed("c", months=(FEBRUARY,), fetched_at_utc=hours(2), status=WindowStatus.HELD_BACK)
    given.write(ledger.record_failures, [held_back], NOON)
    assert given.ledger().failed == {("sales", "M1"): frozenset({JANUARY})}
    given.load([sales("d", (JANUARY, "1", "1"), fetched=hours(3))])
    assert given.ledger().failed == {}
