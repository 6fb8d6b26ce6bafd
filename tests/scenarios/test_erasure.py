"""Erasure of a contact and of a user: from every file, for good, and of nothing else."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipelines.diagnosis.health import open_erasures
from pipelines.sandbox.faults import Fault
from pipelines.upkeep.erase import ErasureReceipt, erase
from pipelines.upkeep.export import export
from tests.scenarios.processes import Job, Step, is_killed, run
from tests.scenarios.scenario import FEW, Scenario, files_with, scenario
from warehouse.load.landing import Landing
from warehouse.persons.erased_list import FILE
from warehouse.store.database import Store

REPORTS = (*FEW, "sold_estates")
TOTALS = """
SELECT 'sales', count(*), sum(commission) FROM bi.sales_estates UNION ALL
SELECT 'shares', count(*), sum(commission_value) FROM bi.sales_agents UNION ALL
SELECT 'leads', count(*), count(lead_state) FROM bi.incoming_leads UNION ALL
SELECT 'contacts', count(DISTINCT contact_id), NULL FROM bi.incoming_leads UNION ALL
SELECT 'users', count(*), count(DISTINCT id) FROM bi.users_history UNION ALL
SELECT 'agents', count(*), sum(commission) FROM marts.agent_month ORDER BY ALL
"""
USER = """
SELECT id, email_address FROM bi.users WHERE id IN (SELECT id FROM bi.sales_agents) ORDER BY ALL LIMIT 1
"""
CONTACT = "SELECT min(contact_id) FROM bi.incoming_leads WHERE lead_message <> ''"
LEFT = """
SELECT count(*), count(contact_first_name), count(lead_title), count(lead_message)
FROM bi.incoming_leads WHERE contact_id LIKE 'erased-%'
"""
WAITING = "SELECT table_name, count(*) FROM meta.quarantine_rows GROUP BY ALL ORDER BY ALL"
SPOILED = Fault("wrong_types", share=0.2, path="GetSalesReport")
STEPS = (Step("landing_closed"), Step("landing_erased"), Step("compacted"))


def erase_user(here: Scenario, id_: str) -> ErasureReceipt:
    return erase(here.settings, "user", id_, clock=here.clock)


@dataclass(frozen=True)
class Erased:
    """A user erased by a process that was killed at every step, then a contact.

    What was theirs alone, the totals and rows in quarantine of before, and the receipt of the contact.
    """

    here: Scenario
    words: tuple[str, ...]
    exported: list[str]
    totals: list[tuple[object, ...]]
    waiting: list[tuple[object, ...]]
    begun: list[str]
    contact: ErasureReceipt


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """A published data directory with pages and rows in quarantine, which is only copied."""
    here = scenario(tmp_path_factory.mktemp("whole") / "data", REPORTS, offices=1, whole=True)
    here.sync(SPOILED)
    here.with_settings(pages=True).publish()
    return here


@pytest.fixture(scope="module")
def erased(whole: Scenario, tmp_path_factory: pytest.TempPathFactory) -> Erased:
    here = whole.copied_to(tmp_path_factory.mktemp("erased") / "data")
    [(user, mail)], contact = here.rows(USER), here.value(CONTACT)
    totals, waiting = here.rows(TOTALS), here.rows(WAITING)
    refused = Landing(here.data_dir / "landing").open("users", "M1", None, None, "refused", {"months": []})
    refused.add({"path": f"/users/{user}", "status": 500}, f"<p>{mail} of {user}</p>".encode())
    refused.close({"error": "no JSON", "fetched_at_utc": "2026-11-20T00:00:00+00:00"})
    job = Job.of("erase", here, person=("user", user))
    assert [step for step in STEPS if not is_killed(job, step)] == []
    begun = [condition.error for condition in open_erasures(here.data_dir)]
    assert run(job) == 0
    landed = here.landing_files[0]
    shutil.copy(landed, landed.with_name(f"{landed.name}.part"))
    (here.data_dir / "work" / "requests.log").write_text(f"GET /contacts/{contact}\n", "utf-8")
    export(here.settings, formats=["csv"])
    exported = files_with(here.data_dir / "export", contact)
    receipt = erase(here.settings, "contact", contact, clock=here.clock)
    return Erased(here, (user, mail, contact), exported, totals, waiting, begun, receipt)


def test_killed_at_any_step_an_erasure_is_open_until_it_is_run_again(erased: Erased) -> None:
    [begun] = erased.begun
    assert [word for word in erased.words if word in begun] == []
    assert open_erasures(erased.here.data_dir) == []


def test_no_file_holds_the_persons_any_more(erased: Erased) -> None:
    assert files_with(erased.here.data_dir, *erased.words) == []


def test_the_rows_of_a_contact_lose_name_and_texts(erased: Erased) -> None:
    [(rows, *filled)] = erased.here.rows(LEFT)
    assert (rows > 0, filled) == (True, [0, 0, 0])


def test_amounts_and_counts_stay_as_they_were_and_rows_in_quarantine_stay_there(erased: Erased) -> None:
    assert (erased.here.rows(TOTALS), erased.here.rows(WAITING)) == (erased.totals, erased.waiting)
    assert erased.waiting != []


def test_a_receipt_counts_what_was_changed_and_names_nobody(erased: Erased) -> None:
    receipt, described = erased.contact, repr(erased.contact)
    assert (receipt.landing_files > 0, receipt.rows['bi."incoming_leads"'] > 0) == (True, True)
    assert (receipt.log_places, receipt.leftovers_removed) == (1, 1)
    assert (erased.exported != [], len(receipt.versions_removed), receipt.problems) == (True, 1, [])
    assert [word for word in erased.words if word in described] == []
    assert (
        receipt.not_searched[0]
        == "rows without the person's id, even if they name the person, and names of columns"
    )


def test_a_rebuild_from_landing_is_the_same(erased: Erased, tmp_path: Path) -> None:
    here = erased.here.copied_to(tmp_path / "data")
    cells = here.cells()
    assert here.replay().failures == []
    assert here.cells() == cells


def test_the_next_sync_neither_brings_them_back_nor_begins_a_history(erased: Erased, tmp_path: Path) -> None:
    here = erased.here.copied_to(tmp_path / "data")
    here.sync(SPOILED, refresh=True)
    held = [path for path in files_with(tmp_path, *erased.words) if not path.endswith(".zst")]
    assert (held, here.rows(TOTALS)) == ([], erased.totals)


def test_a_restored_backup_with_the_newest_list_holds_them_until_the_next_publication(
    whole: Scenario, erased: Erased, tmp_path: Path
) -> None:
    here = whole.copied_to(tmp_path / "data")
    shutil.copy(erased.here.data_dir / FILE, here.data_dir / FILE)
    here.publish()
    assert here.rows(TOTALS) == erased.totals
    held = "SELECT count(*) FROM bi.users_history WHERE id = $1 OR email_address = $2"
    assert here.value(held, *erased.words[:2]) == 0
    working_and_published = (Store(here.data_dir).path, here.data_dir / "warehouse.duckdb")
    read = b"".join(path.read_bytes() for path in working_and_published)
    assert [word for word in erased.words if word.encode() in read] == []


def test_an_id_that_names_nobody_or_everybody(tmp_path: Path) -> None:
    here = scenario(tmp_path, offices=1)
    with pytest.raises(ValueError, match="everyone"):
        erase_user(here, " ")
    nobody, problems = erase_user(here, "7"), ["no stored data has this id; check it"]
    assert (nobody.landing_files, nobody.rows, nobody.problems) == (0, {}, problems)
    assert "fewer than 6 characters" in nobody.not_searched[-1]


def test_the_id_of_a_user_is_not_erased_as_that_of_a_contact(whole: Scenario, tmp_path: Path) -> None:
    here = whole.copied_to(tmp_path / "data")
    id_ = here.value("SELECT min(id) FROM bi.users")
    with pytest.raises(ValueError, match="that of a user"):
        erase(here.settings, "contact", id_, clock=here.clock)
    assert here.value(f"SELECT count(*) FROM bi.users WHERE id = '{id_}'") == 1
    assert open_erasures(here.data_dir) == []


def test_an_error_in_publication_leaves_an_erasure_unfinished(whole: Scenario, tmp_path: Path) -> None:
    here = whole.copied_to(tmp_path / "data")
    [(user, _)] = here.rows(USER)
    here.execute("ALTER TABLE bi.commission_office DROP COLUMN commission")  # a mart cannot be built
    [problem] = erase_user(here, user).problems
    assert "the earlier file is still published (staging.commission_office " in problem
    assert len(open_erasures(here.data_dir)) == 1
