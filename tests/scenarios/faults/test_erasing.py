"""Erasure of a person from everything that is kept, and of nothing else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import zstandard

from pipelines.catalogue.reports import REPORTS as CATALOGUE
from pipelines.operations.erase import ErasureReceipt, documented_tables, erase
from pipelines.operations.quarantined_rows import raw_rows
from pipelines.operations.replay import replay
from pipelines.sandbox.faults import Fault
from tests.scenarios.faults.ground import FEW, Ground, ground
from tests.scenarios.faults.victim import KILLED, Job, Step, killed_at, run
from warehouse.database import Store
from warehouse.erasure import erase_tables, was_published
from warehouse.personal_data import Person, PersonKind

TOTALS = """
SELECT 'sales', count(*), sum(commission) FROM bi.sales_estates UNION ALL
SELECT 'shares', count(*), sum(commission_value) FROM bi.sales_agents UNION ALL
SELECT 'leads', count(*), count(lead_state) FROM bi.incoming_leads UNION ALL
SELECT 'users', count(*), count(DISTINCT id) FROM bi.users_history ORDER BY ALL
"""
PEOPLE = {
    PersonKind.CONTACT: """
        SELECT contact_id, contact_first_name || ' ' || contact_last_name FROM bi.incoming_leads
        WHERE contact_id IS NOT NULL AND contains(lead_title, contact_last_name)""",
    PersonKind.USER: """
        SELECT id, email_address FROM bi.users WHERE id IN (SELECT id FROM bi.sales_agents)
        AND name IN (SELECT responsible_agent_name FROM bi.sold_estates)""",
}
NAMES = """
SELECT 'title', lead_title FROM bi.incoming_leads UNION ALL
SELECT 'agent', responsible_agent_name FROM bi.sold_estates ORDER BY ALL
"""
"""Where names stand without an id of theirs."""
REPORTS = (*FEW, "sold_estates")
TABLES = documented_tables(CATALOGUE)


@dataclass(frozen=True)
class Erased:
    """What stood before, what was erased, and what stands now."""

    ground: Ground
    people: dict[PersonKind, tuple[str, str]]
    totals: list[tuple[object, ...]]
    receipts: list[ErasureReceipt]
    names: set[str]


def files(here: Ground) -> Iterator[tuple[Path, bytes]]:
    for path in here.settings.data_dir.rglob("*"):
        if path.is_file():
            packed = path.read_bytes()
            if path.name.endswith(".zst"):
                packed = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
            yield path, packed


@pytest.fixture(scope="module")
def erased(tmp_path_factory: pytest.TempPathFactory) -> Erased:
    here = ground(tmp_path_factory.mktemp("erased"), REPORTS, offices=1)
    here.sync()
    here.publish()
    left_behind(here)
    people = {kind: here.rows(f"{query} ORDER BY ALL LIMIT 1")[0] for kind, query in PEOPLE.items()}
    totals = here.rows(TOTALS)
    user = people[PersonKind.USER][0]
    [(name,)] = here.rows("SELECT name FROM bi.users WHERE id = $1", user)
    (here.settings.data_dir / "work" / "requests.log").write_text(f"asked {user} of {name}\n", "utf-8")
    receipts = [erase(here.settings, kind, id_, clock=here.clock) for kind, (id_, _) in people.items()]
    return Erased(here, people, totals, receipts, {name, people[PersonKind.CONTACT][1]})


def left_behind(here: Ground) -> None:
    """A landing file that a process was killed over, yesterday."""
    [whole, *_] = here.settings.data_dir.rglob("*.tar.zst")
    unfinished = whole.with_name(f"{whole.name}.part")
    shutil.copy(whole, unfinished)
    os.utime(unfinished, (0, 0))


def test_no_file_holds_the_person_any_more(erased: Erased) -> None:
    sought = [id_.encode() for id_, _ in erased.people.values()]
    sought.append(erased.people[PersonKind.USER][1].encode())
    found = [(path.name, word) for path, text in files(erased.ground) for word in sought if word in text]
    assert found == []


def test_a_name_goes_too_where_no_id_stands_beside_it(erased: Erased) -> None:
    left = [text for _, text in erased.ground.rows(NAMES) if any(name in str(text) for name in erased.names)]
    assert left == []
    gone = [kind for kind, text in erased.ground.rows(NAMES) if "erased-" in str(text)]
    assert set(gone) == {"title", "agent"}


def test_logs_and_leftovers_are_cleaned(erased: Erased) -> None:
    assert sorted(receipt.log_places for receipt in erased.receipts) == [0, 2]
    assert sum(receipt.leftovers_removed for receipt in erased.receipts) == 1


def test_amounts_and_counts_stay_as_they_were(erased: Erased) -> None:
    assert erased.ground.rows(TOTALS) == erased.totals


def test_the_receipt_counts_what_was_touched_and_names_nobody(erased: Erased) -> None:
    told = repr([receipt.described() for receipt in erased.receipts])
    assert all(receipt.landing_files and receipt.rows and not receipt.problems for receipt in erased.receipts)
    assert [word for pair in erased.people.values() for word in pair if word in told] == []


def test_the_ledger_knows_the_rewritten_landing_files(erased: Erased) -> None:
    cells = erased.ground.cells()
    assert replay(erased.ground.settings).failures == []
    assert erased.ground.cells() == cells


def test_erasing_again_finds_nothing(erased: Erased) -> None:
    id_, _ = erased.people[PersonKind.USER]
    again = erase(erased.ground.settings, PersonKind.USER, id_, clock=erased.ground.clock)
    assert (again.landing_files, again.rows, again.rebuilt, again.versions_removed) == (0, {}, [], [])


def test_an_empty_id_is_refused(erased: Erased) -> None:
    with pytest.raises(ValueError, match="everybody"):
        erase(erased.ground.settings, PersonKind.USER, " ")


def test_a_file_being_written_and_the_history_of_runs_are_told_of(erased: Erased, tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_bytes(b'{"user": "U-12345"}')
    unfinished = erased.ground.settings.data_dir / "landing" / "x.tar.zst.part"
    unfinished.touch()
    found = erase(
        erased.ground.settings, PersonKind.USER, "U-12345", clock=erased.ground.clock, runs=tmp_path
    )
    unfinished.unlink()
    assert [problem.split(";")[0][:30] for problem in found.problems] == [
        "1 landing files are being writ",
        "the history of runs still tell",
    ]


def test_a_check_that_refuses_the_file_does_not_keep_the_person_in_it(tmp_path: Path) -> None:
    here = ground(tmp_path, REPORTS, offices=1)
    here.sync()
    here.publish()
    [user, mail] = here.rows(PEOPLE[PersonKind.USER])[0]
    with Store(tmp_path).writing() as file:
        file.execute(f"INSERT INTO bi.commission_office BY NAME {TWICE}")
    receipt = erase(here.settings, PersonKind.USER, user, clock=here.clock)
    assert here.rows("SELECT status FROM meta.publications ORDER BY at_utc DESC LIMIT 1") == [("refused",)]
    assert (receipt.problems, len(receipt.versions_removed)) == ([], 1)
    sought = (user.encode(), mail.encode())
    assert [path.name for path, text in files(here) if any(word in text for word in sought)] == []


def test_a_person_in_a_row_in_quarantine_goes_and_the_row_stays(tmp_path: Path) -> None:
    here = ground(tmp_path, ("users", "tips_and_leads"), offices=1)
    here.sync(Fault("wrong_types", share=0.9))
    here.publish()
    waiting = list(raw_rows(Store(tmp_path), tmp_path))
    ids = [id_ for (id_,) in here.rows("SELECT id FROM bi.users ORDER BY id")]
    user = next(id_ for id_ in ids if any(id_ in one.raw for one in waiting))
    erase(here.settings, PersonKind.USER, user, clock=here.clock)
    assert [path.name for path, text in files(here) if user.encode() in text] == []
    assert [one.trouble for one in raw_rows(Store(tmp_path), tmp_path)] == [""] * len(waiting)


def test_a_person_whose_rows_were_replaced_before_goes_from_the_free_space_of_files_too(
    tmp_path: Path,
) -> None:
    here = ground(tmp_path, REPORTS, offices=1)
    here.sync()
    [user, mail] = here.rows(PEOPLE[PersonKind.USER])[0]
    with Store(tmp_path).writing() as file:
        erase_tables(file, Person(PersonKind.USER, user, "gone", frozenset({mail})), TABLES)
    here.publish()
    sought = (user.encode(), mail.encode())
    published = tmp_path / "warehouse.duckdb"
    assert all(word in published.read_bytes() for word in sought)
    assert not was_published(tmp_path, Person(PersonKind.USER, user, "gone"), TABLES)
    receipt = erase(here.settings, PersonKind.USER, user, clock=here.clock)
    assert len(receipt.versions_removed) == 1
    assert [path.name for path, text in files(here) if any(word in text for word in sought)] == []


TWICE = "SELECT * REPLACE ('another' AS _load_id) FROM bi.commission_office"

STEPS = (
    Step("warehouse/landing.py", "close", "return"),
    Step("warehouse/erasure.py", "update_ledger"),
    Step("warehouse/erasure.py", "update_ledger", "return"),
    Step("warehouse/load.py", "load_group", "return"),
    Step("warehouse/erasure.py", "erase_tables", "return"),
    Step("warehouse/retention.py", "compact", "return"),
)


@pytest.mark.parametrize("kind", list(PersonKind))
def test_killed_at_any_step_and_run_again_it_is_complete(tmp_path: Path, kind: PersonKind) -> None:
    here = ground(tmp_path, REPORTS, offices=1)
    here.sync()
    here.publish()
    totals = here.rows(TOTALS)
    [id_, _] = here.rows(PEOPLE[kind])[0]
    customers = tuple(customer.id for customer in here.settings.customers)
    job = Job("erase", str(tmp_path), customers, "2026-10", REPORTS, person=(kind, id_))
    assert [run(killed_at(job, step)) for step in STEPS] == [KILLED] * len(STEPS)
    assert run(job) == 0
    assert [path.name for path, text in files(here) if id_.encode() in text] == []
    assert here.rows(TOTALS) == totals
    assert replay(here.settings).failures == []
