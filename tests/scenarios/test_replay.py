"""Syncs that resume an earlier one, and files that are rebuilt from landing alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.planning.plan import make_plan
from pipelines.planning.selection import Selection
from tests.scenarios.scenario import TODAY, Scenario, scenario, synced, whole_chain
from warehouse.errors import ReplayNeeded, WarehouseError
from warehouse.ledger.stored_answers import is_replay_unfinished
from warehouse.load.landing import Landing
from warehouse.publishing.publish import loaded_since_publication
from warehouse.publishing.retention import clear_landing
from warehouse.store.database import Store
from warehouse.store.versions import Versions

THREE = ("sales", "running_commissions", "users")
EARLIEST_DUE = "2026-08-31"


@pytest.fixture
def chain(tmp_path: Path) -> Scenario:
    return whole_chain(tmp_path / "data", THREE, start="2026-07", customers="G1", changed_months="0")


@cache
def synced_once() -> Scenario:
    here = whole_chain(Path(mkdtemp()) / "data", THREE, start="2026-10", customers="G1")
    assert here.sync().is_well
    return here


@pytest.fixture
def loaded(tmp_path: Path) -> Scenario:
    return synced_once().copied_to(tmp_path / "data")


def older_months_asked(here: Scenario) -> set[str | None]:
    """The customers with requests for months before those due every night, and their margin."""
    return {one.customer for one in here.asked if (one.query.get("datefrom") or "9") < EARLIEST_DUE}


def test_a_sync_makes_at_most_the_requests_of_its_plan_and_the_next_asks_what_is_due(chain: Scenario) -> None:
    plan, _ = make_plan(chain.settings, Selection(), Store(chain.data_dir), chain.clock)
    summary = chain.sync()
    assert len(chain.asked) == summary.requests <= plan.requests
    before = chain.cells()
    chain.sync()
    assert older_months_asked(chain) == set()
    assert chain.cells() == before


def spoil(path: Path) -> None:
    body = path.read_bytes()
    middle = len(body) // 2
    path.write_bytes(body[:middle] + bytes([body[middle] ^ 1]) + body[middle + 1 :])


@pytest.mark.parametrize(("harm", "words"), [(Path.unlink, "brokerbi sync --refresh"), (spoil, "damaged")])
def test_a_landing_file_that_is_gone_or_has_a_wrong_byte_is_named_and_its_rows_stay(
    tmp_path: Path, harm: Callable[[Path], None], words: str
) -> None:
    here = synced(tmp_path, ("sales",))
    before = here.cells()
    harm(here.landing_files[0])
    [failure] = here.replay().failures
    assert words in failure
    assert here.cells() == before
    assert here.sync(refresh=True).failure_lines() == []
    assert here.replay().failures == []


def is_unfinished(here: Scenario) -> bool:
    with Store(here.data_dir).reading() as file:
        return is_replay_unfinished(file, REPORTS)


def test_a_lost_file_is_rebuilt_as_a_whole(loaded: Scenario) -> None:
    before = loaded.cells()
    loaded.lose_working_file()
    assert loaded.replay(reports=["users"]).failures == []
    assert loaded.cells() == before


def stop(*_: int) -> None:
    raise KeyboardInterrupt


def test_a_replay_that_was_stopped_is_not_published_before_it_has_ended(loaded: Scenario) -> None:
    loaded.lose_working_file()
    with pytest.raises(KeyboardInterrupt):
        loaded.replay(on_load=stop)
    with pytest.raises(WarehouseError, match="A replay did not finish"):
        loaded.publish()
    assert loaded.replay().failures == []
    assert not is_unfinished(loaded)
    loaded.publish()
    assert loaded_since_publication(Store(loaded.settings.data_dir)) is None
    loaded.replay()
    assert loaded_since_publication(Store(loaded.settings.data_dir))
    requested = "SELECT report, is_on FROM meta.reports ORDER BY ALL"
    assert loaded.rows(requested) == synced_once().rows(requested)


def test_an_answer_that_cannot_be_read_counts_as_failed_and_the_rest_is_replayed(loaded: Scenario) -> None:
    loaded.lose_working_file()
    loaded.settings.shapes_file.write_text('[running_commissions]\nrows = "nowhere[]"\n')
    done = loaded.replay()
    count = len(done.unfit)
    assert (count > 0, done.loads > 0) == (True, True)
    assert loaded.rows(
        "SELECT report, count(*), min(left(error, 8)) FROM meta.loads WHERE status = 'failed' GROUP BY ALL"
    ) == [("running_commissions", count, "expected")]
    assert not is_unfinished(loaded)


def test_old_answers_go_when_nothing_in_force_needs_them(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("users", "commission_office"), offices=1)
    here.sync()
    here.sync(refresh=True)
    landing, before = Landing(tmp_path / "landing"), here.cells()
    in_force = here.rows("SELECT landing FROM meta.loads WHERE load_id IN (SELECT load_id FROM meta.months)")
    later = here.on_calendar_day(TODAY + timedelta(days=40)).clock.utc_now()
    assert len(landing.paths()) == 2 * len(in_force)
    clear_landing(tmp_path, days=30, now=later)
    assert {path for (path,) in in_force} <= set(landing.paths())
    assert len(landing.paths()) < 2 * len(in_force)
    assert here.cells() == before


REMEMBERING = ("restatements", "sale_changes", "user_month_versions", "month_change_reasons")
DAYS = (date(2026, 4, 10), date(2026, 6, 10))
RESTATED = "SELECT * EXCLUDE (load_id_before, load_id_after, _load_id) FROM marts.restatements ORDER BY ALL"
SALES_CHANGED = RESTATED.replace("restatements", "sale_changes")
USERS_BEFORE = "SELECT * FROM marts.user_month_versions ORDER BY ALL"
REASONS = "SELECT * EXCLUDE (_load_id) FROM marts.month_change_reasons ORDER BY ALL"


@pytest.fixture(scope="module")
def restated(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """A data directory that was synced, and its marts built, on two days."""
    reports = ("commission_office", "commission_user", "sales", "running_commissions", "tips_and_leads")
    here = whole_chain(
        tmp_path_factory.mktemp("restated") / "data",
        reports,
        start="2026-03",
        as_of=DAYS[-1],
        customers="G1",
        whole=True,
    )
    for day in DAYS:
        here = here.on(day)
        assert here.sync(refresh=True).is_well
        here.build(*REMEMBERING)
    return here


def test_a_replay_from_landing_alone_says_what_is_lost(restated: Scenario, tmp_path: Path) -> None:
    here = restated.copied_to(tmp_path / "data")
    here.lose_working_file()
    [note] = here.replay().notes
    assert "may lack changes among them" in note
    assert here.cells() == restated.cells()
    assert here.replay().notes == []


HISTORIES = "FROM bi.users_history ORDER BY ALL"


def in_older_format(here: Scenario, directory: Path) -> Scenario:
    """A copy of a data directory whose working file was written by an earlier version."""
    older = here.copied_to(directory)
    older.execute("ALTER TABLE meta.loads DROP COLUMN bytes")
    older.execute("UPDATE meta.storage SET format = format - 1")
    return older


def with_a_published_version(here: Scenario, directory: Path) -> Scenario:
    """A copy of a data directory with two published versions, the newer one damaged, and no working file."""
    lost = here.copied_to(directory)
    lost.publish()
    lost.publish()
    versions = Versions(directory)
    versions.path(versions.names()[-1]).write_bytes(b"damaged")
    lost.lose_working_file()
    return lost


@pytest.mark.parametrize("rebuilt_from", [in_older_format, with_a_published_version])
def test_a_file_is_rebuilt_with_all_it_knows(
    restated: Scenario, tmp_path: Path, rebuilt_from: Callable[[Scenario, Path], Scenario]
) -> None:
    here, before = rebuilt_from(restated, tmp_path / "data"), restated.cells()
    with pytest.raises(ReplayNeeded, match="brokerbi replay"):
        here.sync()
    done = here.replay()
    assert (done.failures, done.notes) == ([], [])
    assert here.cells() == before
    here.build(*REMEMBERING)
    for query in (RESTATED, SALES_CHANGED, USERS_BEFORE, REASONS):
        assert here.rows(query) == restated.rows(query) != []


def test_rows_of_an_older_file_outlive_answers_that_are_missing_or_of_an_earlier_shape(
    loaded: Scenario, tmp_path: Path
) -> None:
    here, before = in_older_format(loaded, tmp_path / "older"), loaded.cells()
    next(path for path in here.landing_files if "sales" in path.parts).unlink()
    here.settings.shapes_file.write_text('[running_commissions.columns]\namount = ".sum"\n')
    done = here.replay()
    assert (len(done.failures), bool(done.unfit)) == (1, True)
    assert here.cells() == before


def test_a_history_of_an_older_file_outlives_its_answers(loaded: Scenario, tmp_path: Path) -> None:
    here = in_older_format(loaded, tmp_path / "older")
    next(path for path in here.landing_files if "users" in path.parts).unlink()
    done = here.replay()
    assert (done.failures, ["the history of users" in note for note in done.notes]) == ([], [True])
    assert here.rows(HISTORIES) == loaded.rows(HISTORIES) != []
