"""Is a person gone who asked to be forgotten, from everywhere, and nothing else with her?"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import zstandard

from pipelines.operations.erasing import Receipt, erase
from pipelines.operations.replaying import replay
from pipelines.operations.set_aside import raw_rows
from pipelines.sandbox.faults import Fault
from tests.scenarios.faults.ground import FEW, Ground, ground
from tests.scenarios.faults.victim import KILLED, Job, Step, killed_at, run
from warehouse.erasing import was_published
from warehouse.forgetting import forget
from warehouse.persons import Kind, Person
from warehouse.store import Store

TOTALS = """
SELECT 'sales', count(*), sum(commission) FROM bi.sales_estates UNION ALL
SELECT 'shares', count(*), sum(commission_value) FROM bi.sales_agents UNION ALL
SELECT 'leads', count(*), count(lead_state) FROM bi.incoming_leads UNION ALL
SELECT 'users', count(*), count(DISTINCT id) FROM bi.users_history ORDER BY ALL
"""
PEOPLE = {
    Kind.CONTACT: """
        SELECT contact_id, contact_first_name || ' ' || contact_last_name FROM bi.incoming_leads
        WHERE contact_id IS NOT NULL AND contains(lead_title, contact_last_name)""",
    Kind.USER: """
        SELECT id, email_address FROM bi.users WHERE id IN (SELECT id FROM bi.sales_agents)
        AND name IN (SELECT responsible_agent_name FROM bi.sold_estates)""",
}
NAMES = """
SELECT 'title', lead_title FROM bi.incoming_leads UNION ALL
SELECT 'agent', responsible_agent_name FROM bi.sold_estates ORDER BY ALL
"""
"""Where names stand without an id of theirs."""
REPORTS = (*FEW, "sold_estates")


@dataclass(frozen=True)
class Erased:
    """What stood before, what was erased, and what stands now."""

    ground: Ground
    people: dict[Kind, tuple[str, str]]
    totals: list[tuple[object, ...]]
    receipts: list[Receipt]
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
    user = people[Kind.USER][0]
    [(name,)] = here.rows("SELECT name FROM bi.users WHERE id = $1", user)
    (here.settings.data_dir / "work" / "requests.log").write_text(f"asked {user} of {name}\n", "utf-8")
    receipts = [erase(here.settings, kind, id_, clock=here.clock) for kind, (id_, _) in people.items()]
    return Erased(here, people, totals, receipts, {name, people[Kind.CONTACT][1]})


def left_behind(here: Ground) -> None:
    """A landing file that a process was killed over, yesterday."""
    [whole, *_] = here.settings.data_dir.rglob("*.tar.zst")
    unfinished = whole.with_name(f"{whole.name}.part")
    shutil.copy(whole, unfinished)
    os.utime(unfinished, (0, 0))


def test_no_file_holds_the_person_any_more(erased: Erased) -> None:
    sought = [id_.encode() for id_, _ in erased.people.values()]
    sought.append(erased.people[Kind.USER][1].encode())
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
    id_, _ = erased.people[Kind.USER]
    again = erase(erased.ground.settings, Kind.USER, id_, clock=erased.ground.clock)
    assert (again.landing_files, again.rows, again.rebuilt, again.versions_removed) == (0, {}, [], [])


def test_an_empty_id_is_refused(erased: Erased) -> None:
    with pytest.raises(ValueError, match="everybody"):
        erase(erased.ground.settings, Kind.USER, " ")


def test_a_file_being_written_and_the_history_of_runs_are_told_of(erased: Erased, tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_bytes(b'{"user": "U-12345"}')
    unfinished = erased.ground.settings.data_dir / "landing" / "x.tar.zst.part"
    unfinished.touch()
    found = erase(erased.ground.settings, Kind.USER, "U-12345", clock=erased.ground.clock, runs=tmp_path)
    unfinished.unlink()
    assert [problem.split(";")[0][:30] for problem in found.problems] == [
        "1 landing files are being writ",
        "the history of runs still tell",
    ]


def test_a_check_that_refuses_the_file_does_not_keep_the_person_in_it(tmp_path: Path) -> None:
    here = ground(tmp_path, REPORTS, offices=1)
    here.sync()
    here.publish()
    [user, mail] = here.rows(PEOPLE[Kind.USER])[0]
    with Store(tmp_path).writing() as file:
        file.execute(f"INSERT INTO bi.commission_office BY NAME {TWICE}")
    receipt = erase(here.settings, Kind.USER, user, clock=here.clock)
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
    erase(here.settings, Kind.USER, user, clock=here.clock)
    assert [path.name for path, text in files(here) if user.encode() in text] == []
    assert [one.trouble for one in raw_rows(Store(tmp_path), tmp_path)] == [""] * len(waiting)


def test_a_person_whose_rows_were_replaced_before_goes_from_the_free_space_of_files_too(
    tmp_path: Path,
) -> None:
    here = ground(tmp_path, REPORTS, offices=1)
    here.sync()
    [user, mail] = here.rows(PEOPLE[Kind.USER])[0]
    with Store(tmp_path).writing() as file:
        forget(file, Person(Kind.USER, user, "gone", frozenset({mail})), ())
    here.publish()
    sought = (user.encode(), mail.encode())
    published = tmp_path / "warehouse.duckdb"
    assert all(word in published.read_bytes() for word in sought)
    assert not was_published(tmp_path, Person(Kind.USER, user, "gone"), ())
    receipt = erase(here.settings, Kind.USER, user, clock=here.clock)
    assert len(receipt.versions_removed) == 1
    assert [path.name for path, text in files(here) if any(word in text for word in sought)] == []


TWICE = "SELECT * REPLACE ('another' AS _load_id) FROM bi.commission_office"

STEPS = (
    Step("warehouse/landing_writer.py", "close", "return"),
    Step("warehouse/erasing.py", "settle_ledger"),
    Step("warehouse/erasing.py", "settle_ledger", "return"),
    Step("warehouse/loading.py", "load_group", "return"),
    Step("warehouse/forgetting.py", "forget", "return"),
    Step("warehouse/compacting.py", "compact", "return"),
)


@pytest.mark.parametrize("kind", list(Kind))
def test_killed_at_any_step_and_run_again_it_is_complete(tmp_path: Path, kind: Kind) -> None:
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


CONTACT, USER = Person(Kind.CONTACT, "K1", "x"), Person(Kind.USER, "U1", "x")
OFFICE = '"company":{"id":"C","name":"O"}'


@pytest.mark.parametrize(
    ("person", "body", "left"),
    [
        (
            CONTACT,
            '{"contact":{"id":"K1","name":"A"},"a":1.50}',
            '{"contact":{"id":"x","name":null},"a":1.50}',
        ),
        (CONTACT, '{"contactId":"K1","contactName":"A","n":1}', '{"contactId":"x","contactName":null,"n":1}'),
        (CONTACT, '{"contactId":"K1","leadMessage":"hi"}', '{"contactId":"x","leadMessage":null}'),
        (CONTACT, '[{"id":"K1","name":"an estate"}]', '[{"id":"x","name":"an estate"}]'),
        (
            USER,
            f'{{"sender":{{"id":"U1","name":"A",{OFFICE}}}}}',
            f'{{"sender":{{"id":"x","name":null,{OFFICE}}}}}',
        ),
        (USER, '[{"id":"U1","image":{"url":"u"}},{"id":"U2"}]', '[{"id":"x","image":null},{"id":"U2"}]'),
        (USER, "<p>U1 is missing</p>", "<p>x is missing</p>"),
    ],
)
def test_only_the_words_around_the_id_go(person: Person, body: str, left: str) -> None:
    assert person.without(body) == left


KNOWN = Person(Kind.USER, "U-12345", "x", frozenset({"Ann Ek", "ann@ek.example"}))


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ('{"agentName":"Ann Ek","price":1.50}', '{"agentName":"x","price":1.50}'),
        ('{"title":"Call ANN EK!"}', '{"title":"Call x!"}'),
        ('{"id":"OBJ1","responsibleAgentName":"Ann Ek"}', '{"id":"OBJ1","responsibleAgentName":"x"}'),
        ('{"id":"U-2","name":"Ann Ek"}', '{"id":"U-2","name":"Ann Ek"}'),
        ('{"senderId":"U-2","senderName":"Ann Ek"}', '{"senderId":"U-2","senderName":"Ann Ek"}'),
        ('{"senderId":"U-2","message":"ask Ann Ek"}', '{"senderId":"U-2","message":"ask x"}'),
        ('{"name":"Joann Eklund"}', '{"name":"Joann Eklund"}'),
        ('{"mail":"ann@ek.example"', '{"mail":"x"'),
    ],
)
def test_a_value_goes_wherever_it_stands_unless_it_is_a_namesakes(body: str, left: str) -> None:
    assert KNOWN.without(body) == left


def test_a_short_id_is_not_looked_for_within_texts() -> None:
    person = Person(Kind.USER, "7", "x")
    assert person.without('{"userId":"7","rooms":"7","note":"7 rooms"}') == (
        '{"userId":"x","rooms":"7","note":"7 rooms"}'
    )
