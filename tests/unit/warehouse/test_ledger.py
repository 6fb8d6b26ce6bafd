"""Does the ledger know what is held, refused and learned?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.unit.warehouse.given import (
    FEBRUARY,
    JANUARY,
    NOON,
    Column,
    Given,
    failed,
    hours,
    load,
    sales,
    table,
    users,
)  # fmt: skip
from tests.unit.warehouse.other_process import ROOT
from warehouse.ledger import Cap, HeldMonth, Ledger
from warehouse.loads import DeclaredTable
from warehouse.store import Store
from warehouse.window_result import WindowStatus


def test_a_month_is_held_by_the_load_that_replaced_it(tmp_path: Path) -> None:
    given = Given(tmp_path)
    both = (JANUARY, FEBRUARY)
    given.load([sales("a", (JANUARY, "1", "1"), months=both, open_months=frozenset({FEBRUARY}))])
    assert given.store.ledger().months == {
        ("sales", "M1", JANUARY): HeldMonth("a", 1, hours(24), NOON, "held"),
        ("sales", "M1", FEBRUARY): HeldMonth("a", 0, hours(24), NOON, "open"),
    }


def test_a_snapshot_is_held_without_a_month(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([users("a", {"1": "Ann"}, offices=[(0, "North")])])
    assert given.store.ledger().months == {("users", "M1", None): HeldMonth("a", 2, hours(24), NOON, "held")}


def test_nothing_is_held_in_an_empty_directory(tmp_path: Path) -> None:
    assert Store(tmp_path / "new").ledger() == Ledger()


def test_a_refusal_is_remembered_until_it_is_taken_back(tmp_path: Path) -> None:
    store = Given(tmp_path).store
    store.deny("sales", "M1", NOON)
    store.deny("sales", "M1", hours(1))
    assert store.ledger().denied == {("sales", "M1"): hours(1)}
    store.allow("sales", "M1")
    assert store.ledger().denied == {}


def test_learned_windows_can_be_forgotten_one_by_one_or_all_at_once(tmp_path: Path) -> None:
    store = Given(tmp_path).store
    for customer in ("M1", "M2"):
        store.remember_cap("sales", customer, Cap(days=14))
    store.remember_cap("leads", "M1", Cap(months=1))
    store.forget_caps(customer="M2")
    assert store.ledger().caps == {("sales", "M1"): Cap(days=14), ("leads", "M1"): Cap(months=1)}
    store.forget_caps("sales")
    assert store.ledger().caps == {("leads", "M1"): Cap(months=1)}
    store.forget_caps()
    assert store.ledger().caps == {}


def test_the_ledger_knows_how_many_requests_a_window_takes_and_how_long_one_lasts(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([sales("a", requests=3, seconds=6.0), sales("b", months=(FEBRUARY,), requests=1, seconds=2.0)])
    given.store.record_failures([failed("c", requests=9, seconds=900.0)])
    ledger = given.store.ledger()
    assert (ledger.pages, ledger.request_seconds) == ({("sales", "M1"): 3}, 2.0)


def test_a_failure_is_written_down_and_holds_nothing(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.store.record_failures([failed("a", status=WindowStatus.HELD_BACK, reason="half the rows are gone")])
    assert given.rows("SELECT status, error, load_number FROM meta.loads") == [
        ("held back", "half the rows are gone", None)
    ]
    assert given.store.ledger().months == {}


def test_a_failure_of_a_load_in_force_leaves_it_in_force(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([sales("a", (JANUARY, "1", "1"))])
    given.store.record_failures([failed("a", reason="landing is damaged")])
    assert given.rows("SELECT status, rows, error FROM meta.loads") == [("loaded", 1, "landing is damaged")]


def test_a_load_that_failed_before_takes_its_place_when_it_succeeds(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.store.record_failures([failed("a")])
    given.load([sales("a", (JANUARY, "1", "1"))])
    assert given.rows("SELECT status, load_number, error FROM meta.loads") == [("loaded", 1, None)]


def test_freshness_tells_success_from_failure(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([sales("a", months=(JANUARY, FEBRUARY))])
    given.store.record_failures([failed("b", fetched_at_utc=hours(3))])
    columns = "newest_held_month, held_months, last_success_utc, last_failure_utc, last_error, is_late"
    assert given.rows(f"SELECT {columns} FROM meta.freshness") == [
        (FEBRUARY, 2, hours(0).replace(tzinfo=None), hours(3).replace(tzinfo=None), "no answer", True)
    ]


def test_users_are_known_from_the_report_of_users_or_else_from_commissions(tmp_path: Path) -> None:
    given = Given(tmp_path)
    user = Column("user_id", "VARCHAR")
    commission = DeclaredTable("commission_user", "commission_user", (user,), False, None, (), "")
    rows = [{"_month": JANUARY, "user_id": "8"}, {"_month": JANUARY, "user_id": "7"}]
    given.load([load("a", [table(commission, rows)], report="commission_user")])
    assert given.store.users("M1") == ["7", "8"]
    given.load([users("b", {"9": "Ann"})])
    assert (given.store.users("M1"), given.store.users("M2")) == (["9"], [])


def test_reading_the_ledger_needs_no_frames(tmp_path: Path) -> None:
    Given(tmp_path)
    code = "import sys; from pathlib import Path; from warehouse.store import Store; "
    code += "Store(Path(sys.argv[1])).ledger(); print('polars' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("False\n", "")
