"""Does what is kept beside the tables do no harm: a stale log, old answers, names on the page?"""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from tests.scenarios.faults.ground import FEW, Ground, ground
from tests.scenarios.faults.test_crashes import cells_of
from tests.scenarios.faults.victim import KILLED
from warehouse.database import Store
from warehouse.landing import Landing

MARKUP = "<script>alert('1')</script>"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    here = ground(tmp_path_factory.mktemp("kept"), ("users", "commission_office"), offices=1)
    here.sync()
    here.publish()
    return here


def written_to(path: Path) -> int:
    """An analyst opens the published file for writing, and the machine dies."""
    child = os.fork()
    if child == 0:
        connection = duckdb.connect(str(path))
        connection.execute("DELETE FROM bi.commission_office")
        os.kill(os.getpid(), signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("ending", ["", ".checkpoint", ".recovery"])
def test_a_stale_log_beside_the_published_file_does_no_harm(published: Ground, ending: str) -> None:
    path = published.settings.data_dir / "warehouse.duckdb"
    assert written_to(path) == KILLED
    log = path.with_name("warehouse.duckdb.wal")
    log.rename(log.with_name(log.name + ending))
    published.publish()
    assert cells_of(published.settings.data_dir, "warehouse.duckdb") == published.cells()
    assert list(path.parent.glob("warehouse.duckdb.wal*")) == []


def test_old_answers_go_when_a_setting_says_so_and_nothing_in_force_needs_them(tmp_path: Path) -> None:
    here = ground(tmp_path, ("users", "commission_office"), offices=1)
    here.sync()
    here.sync(refresh=True)
    landing, before = Landing(tmp_path / "landing"), here.cells()
    in_force = here.rows("SELECT landing FROM meta.loads WHERE load_id IN (SELECT load_id FROM meta.months)")
    settings = here.settings.model_copy(update={"landing_days": 30, "today": None})
    later = replace(
        here, settings=settings, clock=replace(here.clock, noon=here.clock.noon + timedelta(days=40))
    )
    assert len(landing.paths()) == 2 * len(in_force)
    later.publish()
    assert {path for (path,) in in_force} <= set(landing.paths())
    assert len(landing.paths()) < 2 * len(in_force)
    assert here.cells() == before


def test_a_name_full_of_markup_is_only_a_name_on_the_page(tmp_path: Path) -> None:
    here = ground(tmp_path, (*FEW, "commission_user"), offices=1)
    here.sync()
    with Store(tmp_path).writing() as file:
        file.execute("UPDATE bi.users_history SET name = $1", [MARKUP])
        file.execute("UPDATE bi.commission_office SET office_name = $1", [MARKUP])
        file.execute("UPDATE bi.sales_estates SET office_name = $1", [MARKUP])
    here.publish()
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "&lt;script&gt;" in page
    assert "<script" not in page
