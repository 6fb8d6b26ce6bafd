"""Archive of landing: filled behind the sync, read where the disk has nothing, reached by erasures."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import zstandard

from pipelines.diagnosis.installation import sink_findings
from pipelines.diagnosis.quarantined_rows import raw_rows
from pipelines.shards.move import move
from pipelines.upkeep.archive import archive_of, landing_of, refresh_archive
from pipelines.upkeep.erase import erase
from pipelines.upkeep.fencing import Fence
from pipelines.upkeep.finish import finish_without_file
from pipelines.upkeep.replay import replay
from tests.scenarios.scenario import TODAY, Scenario, synced
from warehouse.errors import LandingDamaged
from warehouse.ledger.conditions import Severity
from warehouse.load.archive import Archive
from warehouse.load.landing import file_sha256
from warehouse.store.database import Store

DOWN = "s3://nobody/there"


@pytest.fixture
def here(tmp_path: Path, place: str) -> Scenario:
    return synced(tmp_path / "data", ("sales", "users")).with_settings(landing_archive=place)


@pytest.fixture
def local(tmp_path: Path) -> Scenario:
    place = str(tmp_path / "archive")
    return synced(tmp_path / "data", ("sales", "users")).with_settings(landing_archive=place)


def archive(here: Scenario) -> Archive:
    found = archive_of(here.settings)
    assert found
    return found


def fill(here: Scenario) -> None:
    drained = refresh_archive(here.settings, here.clock.utc_now)
    assert drained
    assert (drained.waiting, drained.error) == (0, "")


def conditions(here: Scenario) -> list[tuple[Any, ...]]:
    return here.rows("SELECT kind, severity FROM meta.conditions WHERE kind = 'not archived'")


def names(here: Scenario) -> list[str]:
    return [path.relative_to(here.data_dir / "landing").as_posix() for path in here.landing_files]


def test_every_stored_answer_is_archived_once_by_its_content(here: Scenario) -> None:
    fill(here)
    fill(here)
    found = sorted((path, sha256) for path, sha256, _ in archive(here).files())
    assert found == [
        (name, file_sha256(path)) for name, path in zip(names(here), here.landing_files, strict=True)
    ]


def test_a_replay_from_the_archive_alone_equals_what_was_loaded(here: Scenario) -> None:
    before = here.cells()
    fill(here)
    here.lose_working_file()
    shutil.rmtree(here.data_dir / "landing")
    assert replay(here.settings, clock=here.clock).failures == []
    assert here.cells() == before


def test_what_was_let_go_from_the_disk_is_brought_back_when_it_is_read(here: Scenario) -> None:
    fill(here)
    later = replace(
        here.with_settings(landing_local_days=7), clock=here.on_calendar_day(TODAY + timedelta(8)).clock
    )
    path = names(here)[0]
    body = [content for _, content in landing_of(here.settings).read(path)]
    fill(later)
    assert here.landing_files == []
    assert [content for _, content in landing_of(here.settings).read(path)] == body


def test_a_publication_that_cannot_be_archived_is_a_publication_and_says_what_waits(local: Scenario) -> None:
    cut_off = local.with_settings(landing_archive=DOWN)
    finished = cut_off.publish()
    assert finished.publication.published
    assert finished.archive
    assert finished.archive.waiting == len(local.landing_files)
    assert conditions(local) == [("not archived", "warning")]
    fill(local)
    assert conditions(local) == []


def test_where_nothing_was_loaded_what_waits_is_archived_all_the_same(local: Scenario) -> None:
    assert finish_without_file(local.settings, local.clock) == ""
    assert sorted(archive(local).newest()) == names(local)


def test_a_row_in_quarantine_is_shown_as_the_archive_has_it(local: Scenario) -> None:
    fill(local)
    load = "load_id, report, customer FROM meta.loads WHERE report = 'users' LIMIT 1"
    local.execute(
        f"INSERT INTO meta.quarantine_rows BY NAME SELECT '$[0]' AS place, 'no text' AS reason, {load}"
    )
    shutil.rmtree(local.data_dir / "landing")
    [row] = raw_rows(Store(local.data_dir), archive(local))
    assert "another row stands there now" in row.trouble


def test_what_is_held_back_is_not_archived_before_it_is_released(local: Scenario) -> None:
    held = local.landing_files[0].rename(f"{local.landing_files[0]}.held")
    fill(local)
    assert held.name.removesuffix(".tar.zst.held") not in str([path for path, *_ in archive(local).files()])


def test_a_damaged_object_is_named_and_never_loaded(local: Scenario) -> None:
    fill(local)
    for file in Path(local.settings.landing_archive).rglob("*.tar.zst"):
        file.write_bytes(b"?")
    path = names(local)[0]
    shutil.rmtree(local.data_dir / "landing")
    with pytest.raises(LandingDamaged, match="not what its name says"):
        landing_of(local.settings).landed(path)


def test_a_file_that_is_not_what_was_archived_stays_on_the_disk(local: Scenario) -> None:
    fill(local)
    local.execute("UPDATE meta.archived SET sha256 = '?'")
    fill(
        replace(
            local.with_settings(landing_local_days=1), clock=local.on_calendar_day(TODAY + timedelta(8)).clock
        )
    )
    assert len(local.landing_files) == len(names(local)) > 0


def test_an_erasure_leaves_nothing_of_the_person_in_the_archive_also_where_the_disk_has_nothing(
    here: Scenario,
) -> None:
    [(user,)] = here.rows("SELECT id FROM bi.users ORDER BY id LIMIT 1")
    fill(here)
    for path in here.landing_files:
        path.unlink()
    assert erase(here.settings, "user", user, clock=here.clock).problems == []
    objects = archive(here).objects
    contents = [zstandard.decompress(objects.get(one.key) or b"", 1 << 28) for one in objects.found("all")]
    assert len(contents) == len({path for path, *_ in archive(here).files()}) > 0
    assert not any(user.encode() in content for content in contents)


def test_an_erasure_that_cannot_reach_the_archive_says_so(local: Scenario) -> None:
    fill(local)
    [(user,)] = local.rows("SELECT id FROM bi.users ORDER BY id LIMIT 1")
    receipt = erase(local.with_settings(landing_archive="").settings, "user", user, clock=local.clock)
    assert "BROKERBI_LANDING_ARCHIVE" in receipt.problems[0]


def test_retention_reaches_the_archive(local: Scenario) -> None:
    fill(local)
    local.execute("UPDATE meta.loads SET landing = NULL WHERE report = 'sales'")
    later = replace(
        local.with_settings(landing_days=30), clock=local.on_calendar_day(TODAY + timedelta(40)).clock
    )
    fill(later)
    assert {path.partition("/")[0] for path, *_ in archive(local).files()} == {"users"}


def test_an_owner_of_an_earlier_epoch_is_refused(here: Scenario) -> None:
    now = here.clock.utc_now
    for epoch in (1, 2, 2):
        drained = refresh_archive(here.settings, now, fence=Fence(epoch))
        assert drained
        assert drained.error == ""
    drained = refresh_archive(here.settings, now, fence=Fence(1))
    assert drained
    assert "another owner (epoch 2" in drained.error


def test_a_customer_moves_with_what_only_the_archive_has_and_leaves_nothing_there(
    local: Scenario, tmp_path: Path
) -> None:
    old = local.with_settings(shard="north")
    assert old.publish().archive
    customer = old.settings.customers[0].id
    moved = [path for path in names(old) if f"/{customer}/" in path]
    assert moved
    shutil.rmtree(old.data_dir / "landing")
    others = old.with_settings(customers=old.settings.customers[1:])
    new = old.with_settings(data_dir=tmp_path / "new", customers=old.settings.customers[:1], shard="south")
    assert move(others.settings, new.settings, customer, clock=old.clock).answers == len(moved)
    assert not [path for path in archive(others).newest() if f"/{customer}/" in path]
    assert set(moved) <= archive(new).newest().keys()


def test_doctor_proves_that_an_archive_and_a_lake_write_once(local: Scenario) -> None:
    lake = str(local.data_dir / "lake")
    found = list(sink_findings(local.with_settings(lake=lake).settings))
    assert [(one.subject, one.severity) for one in found] == [
        ("archive", Severity.WELL),
        ("lake", Severity.WELL),
    ]
    [found_down] = sink_findings(local.with_settings(landing_archive="/proc/nowhere").settings)
    assert found_down.severity == Severity.WARNING
