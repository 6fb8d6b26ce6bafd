"""Erasure of a person from everything that is kept, and of nothing else."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipelines.catalogue.reports import REPORTS as CATALOGUE
from pipelines.diagnosis.quarantined_rows import raw_rows
from pipelines.normalize.columns.tables import name_of
from pipelines.sandbox.faults import Fault
from pipelines.upkeep.erase import ErasureReceipt, documented_tables, erase
from pipelines.upkeep.export import export
from pipelines.upkeep.report_page import refresh_operators_page
from tests.scenarios.processes import Job, Step, is_killed, run
from tests.scenarios.scenario import FEW, Scenario, files_with, scenario, synced
from warehouse.ledger.status import overview
from warehouse.persons.erasure import erase_tables, was_published
from warehouse.persons.person import Person
from warehouse.publishing.publish import publish
from warehouse.store.database import Store

REPORTS = (*FEW, "sold_estates")
TABLES = documented_tables(CATALOGUE)
TOTALS = """
SELECT 'sales', count(*), sum(commission) FROM bi.sales_estates UNION ALL
SELECT 'shares', count(*), sum(commission_value) FROM bi.sales_agents UNION ALL
SELECT 'leads', count(*), count(lead_state) FROM bi.incoming_leads UNION ALL
SELECT 'users', count(*), count(DISTINCT id) FROM bi.users_history ORDER BY ALL
"""
USER = """
SELECT id, email_address, name FROM bi.users WHERE id IN (SELECT id FROM bi.sales_agents)
AND name IN (SELECT responsible_agent_name FROM bi.sold_estates) ORDER BY ALL LIMIT 1
"""
STEPS = (
    Step("landing_closed"),
    Step("landing_erased"),
    Step("tables_erased"),
    Step("compacted"),
)


def erase_user(here: Scenario, id_: str) -> ErasureReceipt:
    return erase(here.settings, "user", id_, clock=here.clock)


@dataclass(frozen=True)
class Erased:
    """A user was erased: id, address and name, and the totals of before."""

    here: Scenario
    user: tuple[str, str, str]
    exported: list[str]
    totals: list[tuple[object, ...]]
    receipt: ErasureReceipt


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """A published data directory that is only copied."""
    here = synced(tmp_path_factory.mktemp("whole"), REPORTS, whole=True).with_settings(pages=True)
    here.publish()
    return here


@pytest.fixture(scope="module")
def erased(whole: Scenario, tmp_path_factory: pytest.TempPathFactory) -> Erased:
    here = whole.copied_to(tmp_path_factory.mktemp("erased") / "data")
    leave_unfinished_file(here.landing_files[0])
    totals, [(user, mail, name)] = here.rows(TOTALS), here.rows(USER)
    (here.data_dir / "work" / "requests.log").write_text(f"asked {user} of {name}\n", "utf-8")
    export(here.data_dir, formats=["csv"], tables=["users"], now=here.clock.utc_now())
    exported = files_with(here.data_dir / "export", user, mail)
    return Erased(here, (user, mail, name), exported, totals, erase_user(here, user))


def leave_unfinished_file(whole: Path) -> None:
    """A landing file over which a process was killed."""
    shutil.copy(whole, whole.with_name(f"{whole.name}.part"))


def test_no_file_holds_the_person_any_more(erased: Erased) -> None:
    assert files_with(erased.here.data_dir, *erased.user[:2]) == []


def test_a_name_goes_too_where_no_id_stands_beside_it(erased: Erased) -> None:
    named = "SELECT DISTINCT responsible_agent_name FROM bi.sold_estates"
    texts = [str(text) for (text,) in erased.here.rows(named)]
    assert [text for text in texts if erased.user[2] in text] == []
    assert any("erased-" in text for text in texts)


def test_logs_and_leftovers_are_cleaned(erased: Erased) -> None:
    assert (erased.receipt.log_places, erased.receipt.leftovers_removed) == (2, 1)


def test_amounts_and_counts_stay_as_they_were(erased: Erased) -> None:
    assert erased.here.rows(TOTALS) == erased.totals


def test_the_receipt_counts_what_was_touched_and_names_nobody(erased: Erased) -> None:
    receipt, described = erased.receipt, repr(erased.receipt.described())
    assert (bool(receipt.landing_files), bool(receipt.rows), receipt.problems) == (True, True, [])
    assert [word for word in erased.user if word in described] == []


def test_the_ledger_knows_the_rewritten_landing_files(erased: Erased) -> None:
    cells = erased.here.cells()
    assert erased.here.replay().failures == []
    assert erased.here.cells() == cells


def test_an_empty_id_is_refused(erased: Erased) -> None:
    with pytest.raises(ValueError, match="everybody"):
        erase_user(erased.here, " ")


def test_a_check_that_refuses_the_file_does_not_keep_the_person_in_it(
    whole: Scenario, tmp_path: Path
) -> None:
    here = whole.copied_to(tmp_path / "data")
    user, mail, _ = here.rows(USER)[0]
    here.execute(
        "INSERT INTO bi.commission_office BY NAME "
        "SELECT * REPLACE ('another' AS _load_id) FROM bi.commission_office"
    )
    receipt = erase_user(here, user)
    assert here.value("SELECT arg_max(status, at_utc) FROM meta.publications") == "refused"
    assert (receipt.problems, len(receipt.versions_removed)) == ([], 1)
    assert files_with(tmp_path, user, mail) == []
    assert overview(Store(here.data_dir)).published_file == ""


def test_the_exports_beside_the_file_that_hold_the_person_are_removed(erased: Erased) -> None:
    assert erased.exported != []
    assert erased.receipt.exports_removed == 1


def test_a_person_in_a_row_in_quarantine_goes_and_the_row_stays(tmp_path: Path) -> None:
    here = scenario(tmp_path, ("users", "sales"), offices=1, whole=True, pages="true")
    here.sync(Fault("wrong_types", share=0.9))
    waiting = list(raw_rows(Store(tmp_path)))
    ids = [id_ for (id_,) in here.rows("SELECT id FROM bi.users ORDER BY id")]
    user = next(id_ for id_ in ids if any(id_ in one.raw for one in waiting))
    refresh_operators_page(here.settings, here.clock)
    erase_user(here, user)
    assert [*files_with(tmp_path, user), *tmp_path.glob("*.html")] == []
    assert [one.trouble for one in raw_rows(Store(tmp_path))] == [""] * len(waiting)


def test_a_person_whose_rows_were_replaced_goes_from_the_free_space_of_files_too(tmp_path: Path) -> None:
    here = synced(tmp_path / "data", REPORTS, whole=True)
    user, mail, _ = here.rows(USER)[0]
    person = Person("user", user, "gone", name_of, frozenset({mail}))
    with Store(here.data_dir).writing() as file:
        erase_tables(file, person, TABLES)
    publish(here.data_dir, keep=1, now=here.clock.utc_now())
    file_of_analysts = (here.data_dir / "warehouse.duckdb").read_bytes()
    assert [word.encode() in file_of_analysts for word in (user, mail)] == [True, True]
    assert not was_published(here.data_dir, person, TABLES)
    assert len(erase_user(here, user).versions_removed) == 1
    assert files_with(tmp_path, user, mail) == []


def test_killed_at_any_step_and_run_again_it_is_complete(whole: Scenario, tmp_path: Path) -> None:
    here = whole.copied_to(tmp_path / "data").with_settings(pages=False)
    user, *_ = here.rows(USER)[0]
    totals, job = here.rows(TOTALS), Job.of("erase", here, person=("user", user))
    assert [step for step in STEPS if not is_killed(job, step)] == []
    assert run(job) == 0
    assert files_with(tmp_path, user) == []
    assert here.rows(TOTALS) == totals
    assert here.replay().failures == []
