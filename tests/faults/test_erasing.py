"""Is a person gone who asked to be forgotten, from everywhere, and nothing else with her?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import zstandard

from pipelines.sync.erasing import Receipt, erase
from pipelines.sync.replaying import replay
from tests.faults.ground import FEW, Ground, ground
from tests.faults.victim import KILLED, Job, Step, killed_at, run
from warehouse.persons import Kind, Person

TOTALS = """
SELECT 'sales', count(*), sum(commission) FROM bi.sales_estates UNION ALL
SELECT 'shares', count(*), sum(commission_value) FROM bi.sales_agents UNION ALL
SELECT 'leads', count(*), count(lead_state) FROM bi.incoming_leads UNION ALL
SELECT 'users', count(*), count(DISTINCT id) FROM bi.users_history ORDER BY ALL
"""
PEOPLE = {
    Kind.CONTACT: "SELECT contact_id, contact_last_name FROM bi.incoming_leads WHERE contact_id IS NOT NULL",
    Kind.USER: "SELECT id, email_address FROM bi.users WHERE id IN (SELECT id FROM bi.sales_agents)",
}


@dataclass(frozen=True)
class Erased:
    """What stood before, what was erased, and what stands now."""

    ground: Ground
    people: dict[Kind, tuple[str, str]]
    totals: list[tuple[object, ...]]
    receipts: list[Receipt]


def files(here: Ground) -> Iterator[tuple[Path, bytes]]:
    for path in here.settings.data_dir.rglob("*"):
        if path.is_file():
            packed = path.read_bytes()
            if path.name.endswith(".zst"):
                packed = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
            yield path, packed


@pytest.fixture(scope="module")
def erased(tmp_path_factory: pytest.TempPathFactory) -> Erased:
    here = ground(tmp_path_factory.mktemp("erased"), offices=1)
    here.sync()
    here.publish()
    people = {kind: here.rows(f"{query} ORDER BY ALL LIMIT 1")[0] for kind, query in PEOPLE.items()}
    totals = here.rows(TOTALS)
    receipts = [erase(here.settings, kind, id_, clock=here.clock) for kind, (id_, _) in people.items()]
    return Erased(here, {kind: (id_, name) for kind, (id_, name) in people.items()}, totals, receipts)


def test_no_file_holds_the_person_any_more(erased: Erased) -> None:
    sought = [id_.encode() for id_, _ in erased.people.values()]
    sought.append(erased.people[Kind.USER][1].encode())
    found = [(path.name, word) for path, text in files(erased.ground) for word in sought if word in text]
    assert found == []


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


STEPS = (
    Step("warehouse/landing_writer.py", "close", "return"),
    Step("warehouse/erasing.py", "settle_ledger"),
    Step("warehouse/erasing.py", "settle_ledger", "return"),
    Step("warehouse/loading.py", "load_group", "return"),
    Step("warehouse/erasing.py", "erase_rows", "return"),
    Step("warehouse/compacting.py", "compact", "return"),
)


def test_killed_at_any_step_and_run_again_it_is_complete(tmp_path: Path) -> None:
    here = ground(tmp_path, offices=1)
    here.sync()
    here.publish()
    totals = here.rows(TOTALS)
    [user, _] = here.rows(PEOPLE[Kind.USER])[0]
    customers = tuple(customer.id for customer in here.settings.customers)
    job = Job("erase", str(tmp_path), customers, "2026-10", FEW, user=user)
    assert [run(killed_at(job, step)) for step in STEPS] == [KILLED] * len(STEPS)
    assert run(job) == 0
    assert [path.name for path, text in files(here) if user.encode() in text] == []
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
