"""Suppression of persons in rows, documents and texts, and the columns that are about a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipelines.normalize.contents import column_name
from pipelines.normalize.document import parse_exactly, to_json
from pipelines.sync.privacy import documented_tables
from tests.unit.warehouse.given import Given, hours, users
from warehouse.errors import WarehouseError
from warehouse.persons.erased_list import FILE, ErasedList, ErasedPerson, read_erased, record_begun
from warehouse.persons.person import Person
from warehouse.persons.personal_data import PersonKind, emptied_columns, id_columns
from warehouse.persons.suppression import suppress_tables, suppressed_frame

TABLES = documented_tables()
PERSONAL = {**TABLES["incoming_leads"], **TABLES["users"]}
CONTACT = Person("contact", "K-12345", "x", column_name)
USER = Person("user", "U-12345", "x", column_name)
NUMBER = Person("user", "7", "x", column_name)
NUMBERS = '"a": 1.5, "b": 123456789012345678901234567890, "c": 0.1234567890123456789'


def erased_list(*persons: tuple[PersonKind, str]) -> ErasedList:
    """The list of these persons, each with the alias `x`."""
    empty = ErasedList(b"key")
    return ErasedList(
        b"key", tuple(ErasedPerson(kind, empty.hash_of(kind, id_), "x", "") for kind, id_ in persons)
    )


def suppressed(person: tuple[PersonKind, str], table: str, **row: Any) -> dict[str, Any]:
    """A row of a table of bi without the person."""
    [left] = suppressed_frame(pl.DataFrame([row]), TABLES[table], erased_list(person)).to_dicts()
    return left


def test_a_row_loses_the_personal_columns_of_the_catalogue_and_no_others() -> None:
    agent = {"estate_id": "O1", "primary_office_name": "O", "commission_value": 7}
    left = suppressed(("user", "U1"), "sales_agents", id="U1", name="A", employee_id="7", **agent)
    assert left == {"id": "x", "name": None, "employee_id": None, **agent}


def test_undocumented_columns_are_judged_by_their_names() -> None:
    lead = {
        "contact_id": "K1",
        "contact_email": "a@b.example",
        "contact_type": "Buyer",
        "estate_status_text": "s",
    }
    left = suppressed(("contact", "K1"), "incoming_leads", **lead, lead_title="Call A", lead_message="hi")
    assert left == {
        **lead,
        "contact_id": "x",
        "contact_email": None,
        "lead_title": None,
        "lead_message": None,
    }


def test_another_person_of_the_row_keeps_the_name() -> None:
    left = suppressed(
        ("user", "U1"), "tips", sender_id="U1", sender_name="A", receiver_id="U2", receiver_name="B"
    )
    assert left == {"sender_id": "x", "sender_name": None, "receiver_id": "U2", "receiver_name": "B"}


def test_an_id_that_is_a_number_becomes_null() -> None:
    assert suppressed(("user", "7"), "trademarks", user_id=7, sold=7) == {"user_id": None, "sold": 7}


def test_rows_that_already_have_the_alias_lose_the_same_columns() -> None:
    assert suppressed(("user", "U1"), "users", id="x", name="A") == {"id": "x", "name": None}


def test_ids_of_estates_belong_to_no_person() -> None:
    estate = {"id": "U1", "address_street_address": "Road 1"}
    assert suppressed(("user", "U1"), "sales_estates", **estate) == estate
    assert list(id_columns(["id"], TABLES["sales_estates"])) == []


def test_a_row_without_an_id_loses_nothing() -> None:
    columns = ["estate_id", "responsible_agent_name"]
    assert list(id_columns(columns, TABLES["sold_estates"])) == []
    assert emptied_columns("user_id", ["user_id", "sold", "company_name"], {}) == []


@pytest.mark.parametrize(
    ("person", "body", "left"),
    [
        (
            CONTACT,
            '{"contact": {"id": "K-12345", "name": "A"}, "lead": {"title": "A", "n": 1}, "a": 1.5}',
            '{"contact": {"id": "x", "name": null}, "lead": {"title": null, "n": 1}, "a": 1.5}',
        ),
        (CONTACT, '[{"id": "K-12345", "n": 1}]', '[{"id": "x", "n": 1}]'),
        (USER, '[{"userId": " U-12345", "userName": "A"}]', '[{"userId": "x", "userName": null}]'),
        (USER, '[{"userId": "U-12345", "name": "A", "n": []}]', '[{"userId": "x", "name": null, "n": []}]'),
        (USER, '[{"id": "U-12345", "image": {"url": "u"}}]', '[{"id": "x", "image": {"url": null}}]'),
        (USER, '{"users": ["U-12345", "U-123456"]}', '{"users": ["x", "U-123456"]}'),
        (USER, '{"U-12345": {"name": "A", "n": 1}}', '{"x": {"name": null, "n": 1}}'),
        (USER, '{"link": "https://y.example/U-12345?n=1"}', '{"link": "https://y.example/x?n=1"}'),
        (USER, f'{{"userId": "\\u0055-12345", {NUMBERS}}}', f'{{"userId": "x", {NUMBERS}}}'),
        (
            NUMBER,
            '{"id": 7, "state": {"id": 7}, "7": {"n": "7"}}',
            '{"id": null, "state": {"id": 7}, "7": {"n": "7"}}',
        ),
    ],
)
def test_a_document_loses_the_id_and_the_values_about_it(person: Person, body: str, left: str) -> None:
    document = parse_exactly(body.encode())
    assert to_json(person.erase_document(document, PERSONAL)) == left


@pytest.mark.parametrize("body", ['{"a": "U-12345"}', '{"a": "\\u0055-12345"}'])
def test_an_id_without_special_characters_appears_in_a_body_unescaped(body: str) -> None:
    assert USER.may_be_in(body.encode()) == ("U-12345" in body)
    assert Person("user", "Ü/12345", "x", column_name).may_be_in(b'"\\u00dc\\/12345"')


def test_stored_rows_histories_and_row_versions_lose_the_person(tmp_path: Path) -> None:
    given = Given(tmp_path)
    given.load([users("a", {"1": "Ann", "2": "Bo"})])
    given.load([users("b", {"1": "Anna", "2": "Bo"}, fetched=hours(1))])
    with given.store.writing() as file:
        file.execute("INSERT INTO meta.sale_versions (agent_ids) VALUES (['1', '2'])")
        file.execute("INSERT INTO meta.budget_pushes (user_id, after) VALUES ('1', 5)")
        file.execute("INSERT INTO meta.history_scopes (asked) VALUES ('O|1')")
        changed = suppress_tables(file, erased_list(("user", "1")), TABLES)
    assert changed['bi."users_history"'] == 2
    stored = given.rows("SELECT id, name FROM bi.users_history ORDER BY ALL")
    assert stored == [("2", "Bo"), ("x", None), ("x", None)]
    assert given.rows("SELECT agent_ids FROM meta.sale_versions") == [(["x", "2"],)]
    assert given.rows("SELECT user_id, after FROM meta.budget_pushes") == [("x", 5)]
    assert given.rows("SELECT asked FROM meta.history_scopes WHERE asked <> ''") == [("O|x",)]
    assert given.rows("SELECT has_traces FROM meta.storage") == [(True,)]


def test_the_erased_list_names_no_person_and_recognizes_the_same_person_again(tmp_path: Path) -> None:
    person = record_begun(tmp_path, "user", "U-12345", hours(0))
    again = record_begun(tmp_path, "user", "U-12345", hours(1))
    assert (again.alias, len(read_erased(tmp_path).persons)) == (person.alias, 1)
    assert read_erased(tmp_path).aliases("user", ["U-12345", "U-2"]) == {"U-12345": person.alias}
    assert read_erased(tmp_path).aliases("contact", ["U-12345"]) == {}
    assert "U-12345" not in (tmp_path / FILE).read_text()
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


def test_a_damaged_list_stops_every_load(tmp_path: Path) -> None:
    record_begun(tmp_path, "user", "U-12345", hours(0))
    (tmp_path / FILE).write_text("{")
    with pytest.raises(WarehouseError, match="restore its newest copy"):
        read_erased(tmp_path)
