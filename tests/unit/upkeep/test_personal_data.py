"""What an erasure leaves of a row and of an answer, and which columns are about a person."""

from __future__ import annotations

import html
import json
import re
from unicodedata import normalize
from urllib.parse import quote

import duckdb
import polars as pl
import pytest

from pipelines.catalogue.reports import REPORTS
from pipelines.normalize.columns.tables import name_of
from pipelines.upkeep.erase import documented_tables
from warehouse.persons.person import Person
from warehouse.persons.writings import in_any_writing

TABLES = documented_tables(REPORTS)
CONTACT, USER = Person("contact", "K1", "x", name_of), Person("user", "U1", "x", name_of)
SHORT = Person("user", "7", "x", name_of)
NUMBERS = '"a":1.50,"b":123456789012345678901234567890,"c":1e2'
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
        (USER, '{"USERId":"U1","USERName":"A"}', '{"USERId":"x","USERName":null}'),
        (USER, '{"User Id":"U1","User E-Mail":"a@b"}', '{"User Id":"x","User E-Mail":null}'),
        (USER, "<p>U1 is missing</p>", "<p>x is missing</p>"),
        (USER, f'{{"userId":"U1",{NUMBERS}}}', f'{{"userId":"x",{NUMBERS}}}'),
        (
            USER,
            '{"U1":{"name":"A","n":1},"U2":{"name":"B"}}',
            '{"x":{"name":null,"n":1},"U2":{"name":"B"}}',
        ),
        (USER, '{"U1":{"id":"U2","name":"B"}}', '{"x":{"id":"U2","name":"B"}}'),
        (USER, '{"userId":"\\u0055\\u0031","half":"\\ud83d"}', '{"userId":"x","half":"\\ud83d"}'),
        (USER, '{"userId":"U1","userId":"U2"}', '{"userId":"U2"}'),
        (SHORT, '{"7":{"id":7,"n":1},"8":{"n":7}}', '{"x":{"id":"x","n":1},"8":{"n":7}}'),
        (SHORT, '{"userId":"7","rooms":"7","note":"7 rooms"}', '{"userId":"x","rooms":"7","note":"7 rooms"}'),
    ],
)
def test_only_the_words_around_the_id_go(person: Person, body: str, left: str) -> None:
    assert person.erase_json(body, {}) == left


KNOWN = Person("user", "U-12345", "x", name_of, frozenset({"Ann Ek", "ann@ek.example"}))


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
        ('{"mail":"ann\\u0040ek.example"', '{"mail":"x"'),
        ('{"text":"call\\nann@ek.example"', '{"text":"call\\nx"'),
        (
            '{"url":"https://y.example/?who=ann%2540ek.example&n=Ann+Ek"}',
            '{"url":"https://y.example/?who=x&n=x"}',
        ),
        ('{"ann@ek.example":1,"ANN EK":2}', '{"x":1,"x-2":2}'),
        (
            '{"note":"{\\"userId\\":\\"U-12345\\",\\"userName\\":\\"A\\"}"}',
            '{"note":"{\\"userId\\":\\"x\\",\\"userName\\":null}"}',
        ),
        ('{"id":"U-2","name":"ask U-12345"}', '{"id":"U-2","name":"ask x"}'),
    ],
)
def test_a_value_goes_wherever_it_stands_unless_it_is_a_namesakes(body: str, left: str) -> None:
    assert KNOWN.erase_json(body, {}) == left


def test_in_a_table_what_the_catalogue_calls_personal_goes_and_the_rest_stays() -> None:
    agent = {"estate_id": "O1", "id": "U1", "name": "A", "employee_id": "7", "primary_office_name": "O"}
    changed = USER.erase_row(agent, TABLES.of("bi", "sales_agents"))
    assert changed == {"id": "x", "name": None, "employee_id": None}


def test_the_documented_id_of_an_estate_is_nobody() -> None:
    estate = {"id": "U1", "address_street_address": "Road 1"}
    assert USER.ids_in(estate, TABLES.of("bi", "sales_estates")) == []


def test_undocumented_columns_are_judged_by_their_names() -> None:
    lead = {"contact_id": "K1", "contact_email": "a@b.example", "contact_type": "Buyer", "lead_message": "hi"}
    changed = CONTACT.erase_row(lead, TABLES.of("bi", "incoming_leads"))
    assert changed == {"contact_id": "x", "contact_email": None, "lead_message": None}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_body_keeps_its_encoding(encoding: str) -> None:
    body, left = '{"agentName":"Ann Ek","city":"Malmö"}', '{"agentName":"x","city":"Malmö"}'
    assert KNOWN.erase_body(body.encode(encoding), {}) == left.encode(encoding)


@pytest.mark.parametrize(
    "body", [b'{"a":"Ann', b"\xff Ann \xfe\x00", '"Ö"'.encode("utf-16-le")[:-1], b"", b"\0"]
)
def test_a_body_without_the_person_stays_byte_for_byte(body: bytes) -> None:
    assert KNOWN.erase_body(body, {}) == body


@pytest.mark.parametrize("text", ["Ünal Öz", "a\\b/c'd", "x+y@z.example", "ﬀ ß I\u0307 \U0001f600"])
def test_every_engine_finds_a_text_in_every_writing(text: str) -> None:
    pattern = in_any_writing(text, any_case=True)
    units = text.encode("utf-16-be").hex()
    escaped = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
    writings = [
        text,
        text.upper(),
        text.lower(),
        json.dumps(text)[1:-1],
        escaped,
        quote(text),
        quote(quote(text)),
    ]
    writings += [html.escape(text), "".join(f"&#{ord(sign)};" for sign in text), normalize("NFD", text)]
    found = duckdb.execute("SELECT [regexp_matches(one, $2) FOR one IN $1]", [writings, pattern]).fetchall()
    assert found == [([True] * len(writings),)]
    assert pl.Series(writings).str.contains(pattern).all()
    assert [one for one in writings if not re.search(pattern, one)] == []
