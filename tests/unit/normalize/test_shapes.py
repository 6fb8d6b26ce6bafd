"""Tests of documents that keep their rows in different places: of one window, of one list, of one row."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pipelines.normalize.columns.tables import Normalized
from tests.unit.normalize.answers import estate, estates, event, lead, normalized, rows, table, types

Json = Any


def boxed(value: Json, box: Callable[[list[Json]], Json]) -> Json:
    """The value with every list of objects in it put into a box, also those in rows."""
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return box([boxed(one, box) for one in value])
    if isinstance(value, dict):
        return {key: boxed(member, box) for key, member in value.items()}
    return value


SHAPES: Mapping[str, Callable[[Json], Json]] = {
    "as declared": lambda value: value,
    "in data": lambda value: {"data": value},
    "in result and report": lambda value: {"Result": {"Report": value}, "Success": True},
    "two levels down": lambda value: {"value": {"body": {"items": value}}},
    "in a list": lambda value: [value] if isinstance(value, dict) else {"rows": value},
    "every list in an object": lambda value: boxed(value, lambda rows: {"items": rows}),
    "every list in two": lambda value: boxed(
        value, lambda rows: {"page": {"list": rows}, "count": len(rows)}
    ),
    "with a null": lambda value: {"previous": None, "errors": [], "data": value},
    "with a flag": lambda value: {"data": value, "ok": True, "message": ""},
}
REFERENCES = [{"customerId": "M1", "houses": [{"id": "{n}", "contractDay": "2026-01-02"}]}]
PERSON = {"id": "H{n}", "name": "Åsa", "emailAddress": "a@b.se", "cellPhone": "1", "changedAt": "2026-01-02"}
ANSWERS: Mapping[str, tuple[str, str, Json]] = {  # by report: a table, its id, and an answer of one row
    "sales": ("sales_agents", "id", estates(estate("{n}", agents=[{"id": "{n}", "name": "Åsa"}]))),
    "estates_report": ("estates_report_estates", "id", estates(estate("{n}"))),
    "sold_estates": ("sold_estates", "id", REFERENCES),
    "tips_and_leads": ("incoming_leads", "lead_id", {"incomingLeads": [lead("{n}", sender={"id": "x"})]}),
    "running_commissions": ("running_commissions", "estate_id", [event(estateId="{n}")]),
    "commission_user": (
        "commission_user",
        "user_id",
        [{"userId": "{n}", "commission": 5.5, "writingParts": 1}],
    ),
    "users": ("users", "id", [{**PERSON, "id": "{n}"}]),
    "trademarks": ("trademarks", "brand", [{"brand": "{n}"}]),
    "user_budget_estate": ("user_budget_estate", "sold", [{"sold": "{n}"}]),
}


def numbered(value: Json, number: int) -> Json:
    """The answer with this number where its ids are."""
    if isinstance(value, list):
        return [numbered(one, number) for one in value]
    if isinstance(value, dict):
        return {key: numbered(member, number) for key, member in value.items()}
    return value.replace("{n}", str(number)) if isinstance(value, str) else value


@pytest.mark.parametrize("report", ANSWERS)
@pytest.mark.parametrize("first", SHAPES)
def test_documents_of_any_two_shapes_lose_no_row(report: str, first: str) -> None:
    name, column, answer = ANSWERS[report]
    for place, second in enumerate(SHAPES):
        shapes = (first, second, ("as declared", "in data")[place % 2])
        documents = [SHAPES[shape](numbered(answer, number)) for number, shape in enumerate(shapes, 1)]
        result = normalized(report, *documents, asked=["H"] * 3, chosen=["Active"] * 3)
        assert result.recognised, (shapes, result.notes)
        assert sorted(rows(result, name, column)) == [("1",), ("2",), ("3",)], shapes


EMPTY: Mapping[str, Json] = {
    "null": None,
    "a list": [],
    "an object": {},
    "a list in an envelope": {"Result": {"Report": []}, "Success": True},
    "a null in an envelope": {"Result": {"Report": None}, "Success": True},
    "an envelope that says more": {"customer": "M1", "from": "2026-01-01", "Report": [], "took": 0.5},
}


@pytest.mark.parametrize("report", ANSWERS)
@pytest.mark.parametrize("empty", EMPTY)
def test_an_empty_document_beside_one_with_rows_changes_nothing(report: str, empty: str) -> None:
    name, column, answer = ANSWERS[report]
    if empty == "an envelope that says more" and report in ("trademarks", "user_budget_estate"):
        return  # an object without a documented field may be a row itself
    for order in (1, -1):
        documents = [numbered(answer, 7), EMPTY[empty]][::order]
        result = normalized(report, *documents, asked=["H"] * 2, chosen=["Active"] * 2)
        assert (result.recognised, rows(result, name, column)) == (True, [("7",)]), result.notes


@pytest.mark.parametrize(
    "answer",
    [
        {"Result": {"Report": []}, "Success": False},
        {"Result": [], "error": "Timeout expired."},
        {"Data": None, "Reason": "the licence has expired"},
        {"incomingLeads": None, "statusCode": 500},
        {"incomingLeads": [], "found": [{"createdAt": "2026-01-05", "lead": {"id": "L1"}}]},
    ],
)
def test_a_document_without_rows_that_says_something_else_is_no_empty_one(answer: Json) -> None:
    good = {"incomingLeads": [lead("L2")]}
    assert not normalized("tips_and_leads", good, answer, chosen=["Active"] * 2).recognised


def test_every_row_keeps_its_lists_where_it_wants() -> None:
    agents = [{"id": "HAN1"}]
    answer = estates(
        estate("OBJ1", agents=None),
        estate("OBJ2", agents={"items": agents}),
        estate("OBJ3", agents=agents),
        estate("OBJ4", people={"agents": agents}),
        estate("OBJ5"),
        estate("OBJ6", agents={"HAN1": {"id": "HAN1", "name": "Åsa"}}),
    )
    result = normalized("sales", answer)
    assert rows(result, "sales_agents", "estate_id", "id", "_parent_row") == [
        (f"OBJ{number}", "HAN1", number - 1) for number in (2, 3, 4, 6)
    ]


def test_a_null_never_beats_a_list_of_the_same_name() -> None:
    answer = {"incomingLeads": None, "data": {"incomingLeads": [lead("L1")], "tips": []}}
    assert rows(normalized("tips_and_leads", answer), "incoming_leads", "lead_id") == [("L1",)]


def test_objects_under_ids_are_rows_that_keep_their_key() -> None:
    people = {"HAN1": {**PERSON, "id": "a"}, "HAN2": {**PERSON, "id": "b"}}
    for answer in (people, {"users": people}):
        result = normalized("users", answer)
        assert rows(result, "users", "key", "id") == [("HAN1", "a"), ("HAN2", "b")]


def test_undocumented_objects_under_ids_are_rows_as_well() -> None:
    result = normalized(
        "live_activity", [{"name": "One", "byUser": {"U17": {"calls": 1}, "U18": {"calls": 2}}}]
    )
    assert rows(result, "live_activity__by_user", "key", "calls") == [("U17", 1), ("U18", 2)]
    assert not any("17" in name for name in types(result, "live_activity"))


def test_objects_under_names_of_fields_stay_columns() -> None:
    result = normalized("live_activity", [{"address1": {"street": "A"}, "address2": {"street": "B"}}])
    assert types(result, "live_activity").keys() == {"address1_street", "address2_street"}


@pytest.mark.parametrize(
    "by_office",
    [
        lambda of: [{"office": {"customerId": name}, **lists} for name, lists in of.items()],
        lambda of: {"offices": [{"id": name, "leads": lists} for name, lists in of.items()]},
        lambda of: dict(of.items()),
        lambda of: {"Result": {"north" if name == "M1" else "south": one for name, one in of.items()}},
    ],
    ids=["a list of offices", "an object in them", "objects by id", "objects by name"],
)
def test_lists_by_office_know_which_question_brought_them(by_office: Callable[[Json], Json]) -> None:
    def leads(*ids: str) -> Json:
        by_id = {f"M{n}": {"incomingLeads": [lead(one)], "tips": []} for n, one in enumerate(ids, 1)}
        return by_office(by_id)

    result = normalized("tips_and_leads", leads("L1", "L2"), leads("L3", "L4"), chosen=("Active", "Removed"))
    assert result.recognised, result.notes
    assert sorted(rows(result, "incoming_leads", "lead_id", "is_removed")) == [
        ("L1", False),
        ("L2", False),
        ("L3", True),
        ("L4", True),
    ]


def test_the_same_undocumented_field_of_two_shapes_is_one_column_wide_enough_for_both() -> None:
    shapes = [event(extra=1)], {"data": [event(extra=1.5)]}, {"rows": [event(extra="x")]}
    result = normalized("running_commissions", *shapes)
    assert types(result, "running_commissions") == {"extra": "VARCHAR"}
    assert rows(result, "running_commissions", "_row", "extra") == [(0, "1"), (1, "1.5"), (2, "x")]


def test_rows_that_pages_of_two_shapes_repeat_are_kept_once_with_what_is_nested_in_them() -> None:
    second = lead("L2", calls=[{"n": 1}])
    pages = {"incomingLeads": [lead("L1"), second]}, {"data": {"incomingLeads": [second, lead("L3")]}}
    result = normalized("tips_and_leads", *pages)
    assert rows(result, "incoming_leads", "_row", "lead_id") == [(0, "L1"), (1, "L2"), (2, "L3")]
    assert rows(result, "incoming_leads__calls", "_parent_row", "n") == [(1, 1)]
    assert result.repeated_ids == 1


def test_what_is_nested_in_rows_of_a_second_shape_finds_its_row() -> None:
    one, two = (estates(estate(name, agents=[{"id": f"H{name}"}])) for name in ("OBJ1", "OBJ2"))
    result = normalized("sales", one, {"data": two})
    parents = dict(rows(result, "sales_estates", "_row", "id"))
    agents = rows(result, "sales_agents", "_parent_row", "id")
    assert [(parents[row], name) for row, name in agents] == [("OBJ1", "HOBJ1"), ("OBJ2", "HOBJ2")]


def test_a_list_of_mostly_something_else_than_objects_is_no_list_of_rows() -> None:
    result = normalized("running_commissions", [0] * 5_000)
    assert (result.recognised, result.rejected) == (False, ())


def test_of_very_many_rejected_rows_the_first_thousand_are_kept_and_all_are_counted() -> None:
    result = normalized("running_commissions", [event(amount="much") for _ in range(2_500)] + [event()])
    assert (len(result.rejected), sum(one.count for one in result.rejected)) == (1_000, 2_500)
    assert table(result, "running_commissions").frame.height == 1


WRAPPED: Mapping[str, Callable[[list[Json]], Json]] = {
    "bare": lambda rows: rows,
    "in items": lambda rows: {"items": rows},
    "in rows, counted": lambda rows: {"count": len(rows), "rows": rows},
    "in pages": lambda rows: [{"items": rows[:1]}, {"items": rows[1:]}],
    "by number": lambda rows: {str(place): row for place, row in enumerate(rows, 1)},
}


@pytest.mark.parametrize("kinds", list(itertools.permutations(WRAPPED, 3)))
def test_lists_of_one_name_in_three_envelopes_are_rows_of_one_table(kinds: tuple[str, ...]) -> None:
    tree = [
        {
            "customerId": f"M{place}",
            "years": WRAPPED[kind](estates(estate(kind))["officeSaleReports"][0]["years"]),
        }
        for place, kind in enumerate(kinds)
    ]
    result = normalized("sales", {"officeSaleReports": tree})
    assert sorted(rows(result, "sales_estates", "id")) == sorted((kind,) for kind in kinds)


def test_undocumented_lists_in_envelopes_are_rows_of_one_table() -> None:
    budgets = [{"customerId": "M1", "months": wrap([{"a": 1}, {"a": 2}])} for wrap in WRAPPED.values()]
    result = normalized("budget_commission", budgets)
    assert len(table(result, "budget_commission__months").frame) == 2 * len(WRAPPED)


def test_rows_under_their_years_and_months_are_of_these() -> None:
    answer = {
        "officeSaleReports": [
            {"customerId": "M1", "years": {"2026": {"months": {"1": {"estateSaleReports": [estate("E1")]}}}}}
        ]
    }
    result = normalized("sales", answer)
    assert rows(result, "sales_estates", "id", "year", "month") == [("E1", "2026", "1")]


def test_rows_that_are_each_in_an_object_of_their_own_are_rows_with_what_is_nested_in_them() -> None:
    languages = [{"id": "sv", "name": "Svenska"}, {"id": "en", "name": "Engelska"}]
    people = [{"user": numbered({**PERSON, "spokenLanguages": languages}, number)} for number in range(2)]
    result = normalized("users", people)
    assert rows(result, "users", "id", "name") == [("H0", "Åsa"), ("H1", "Åsa")]
    assert rows(result, "users__spoken_languages", "_parent_row", "id") == [
        *[(0, "sv"), (0, "en")],
        *[(1, "sv"), (1, "en")],
    ]


@pytest.mark.parametrize("box", SHAPES)
def test_wrapped_rows_may_have_anything_but_their_own_fields_beside_them(box: str) -> None:
    people: Json = [{"n": 1, "user": numbered(PERSON, 0)}, {"user": numbered(PERSON, 1), "links": [{"a": 1}]}]
    result = normalized("users", SHAPES[box]([*people, {"user": None}]))
    assert rows(result, "users", "id", "name") == [("H0", "Åsa"), ("H1", "Åsa")]
    assert (result.recognised, len(result.rejected)) == (True, 1), result.notes


def test_a_field_beside_the_wrapper_and_never_in_it_is_the_row_s() -> None:
    person = {key: value for key, value in PERSON.items() if key != "id"}
    assert rows(normalized("users", [{"id": "H1", "attributes": person}]), "users", "id", "name") == [
        ("H1", "Åsa")
    ]


def test_wrapped_offices_keep_their_kinds_and_what_they_say_of_themselves() -> None:
    homes = {
        kind: [{"id": kind, "contractDay": "2026-01-03", "advertisedAt": None}] for kind in ("plots", "farms")
    }
    result = normalized("sold_estates", [{"office": {"customerId": "M1", "name": "o", "city": "c", **homes}}])
    assert sorted(rows(result, "sold_estates", "office_customer_id", "kind")) == [
        ("M1", "farms"),
        ("M1", "plots"),
    ]


def test_rows_in_an_object_that_is_documented_are_no_wrapped_ones() -> None:
    sender = {"id": "x", "createdAt": "2026-01-02"}
    [documented] = normalized("tips_and_leads", {"incomingLeads": [{"sender": sender}]}).rejected
    assert documented.table == "incoming_leads"


@pytest.mark.parametrize(
    "answer",
    [
        [{"a": {"user": PERSON}}, {"a": {"user": PERSON}}],
        [{"user": PERSON}, {"person": PERSON}],
        {"months": [{"name": "May", "cellPhone": "", "emailAddress": None}], "count": 1},
    ],
)
def test_a_document_whose_rows_all_lack_what_tells_rows_apart_is_refused(answer: Json) -> None:
    good = [{**PERSON, "id": "H1"}]
    assert not normalized("users", good, answer).recognised
    assert normalized("users", good, [{**PERSON, "id": None}]).recognised


def test_a_document_whose_rows_are_all_written_otherwise_is_refused_and_a_single_row_is_set_aside() -> None:
    sums = [{"userId": f"H{n}", "commission": "1.234,56", "writingParts": 1} for n in range(2)]
    good = [{"userId": "H9", "commission": 5.5, "writingParts": 1}]
    assert not normalized("commission_user", good, sums).recognised
    for document in (sums[:1], [*sums, *good]):
        result = normalized("commission_user", document)
        assert (result.recognised, len(result.rejected)) == (True, len(document) - (document != sums[:1]))


def test_the_only_list_beside_plain_values_holds_the_rows_and_one_beside_another_list_does_not() -> None:
    sums = [{"userId": "H1", "commission": 5.5, "writingParts": 1}]
    alone = normalized("commission_user", {"figures": sums, "asOf": "2026-01-01", "source": "x"})
    beside = normalized("commission_user", {"figures": sums, "others": [{"a": 1}]})
    assert (rows(alone, "commission_user", "user_id"), alone.recognised) == ([("H1",)], True)
    assert (rows(beside, "commission_user", "user_id"), beside.recognised) == ([], False)


def test_an_empty_list_in_an_envelope_leaves_the_list_after_it_its_rows() -> None:
    answer: dict[str, Json] = {name: {"items": []} for name in ("incomingLeads", "outgoingLeads")}
    tip = {
        "createdAt": "2026-01-02",
        "tip": {"id": "T1", "title": "x"},
        "sender": {},
        "receiver": {},
        "contact": {},
    }
    result = normalized("tips_and_leads", {**answer, "tips": {"items": [tip]}}, chosen=["Active"])
    assert (rows(result, "tips", "tip_id"), result.rejected) == ([("T1",)], ())


LISTS_OF_LEADS = {"incomingLeads": "incoming_leads", "outgoingLeads": "outgoing_leads", "tips": "tips"}
PARTS = {"sender": {"id": "x"}, "receiver": {"id": "y"}, "contact": {"id": "c"}}


def one_of(name: str, id_: str) -> dict[str, Json]:
    """A row of that list of leads, with all that all of them have."""
    return {"createdAt": "2026-01-02", ("tip" if name == "tips" else "lead"): {"id": id_}, **PARTS}


def ids_of_leads(result: Normalized) -> dict[str, list[str]]:
    columns = {name: "tip_id" if name == "tips" else "lead_id" for name in LISTS_OF_LEADS.values()}
    found = {name: sorted(one for (one,) in rows(result, name, id_)) for name, id_ in columns.items()}
    return {name: ids for name, ids in found.items() if ids}


@pytest.mark.parametrize("key", ["rows", "items"])
@pytest.mark.parametrize("filled", [*((name,) for name in LISTS_OF_LEADS), ("incomingLeads", "tips")])
def test_a_list_under_a_declared_name_belongs_to_that_name_alone(filled: tuple[str, ...], key: str) -> None:
    def box(name: str) -> Json:
        held = [one_of(name, "X1")] if name in filled else []
        return {key: held, "totalRowCount": len(held), "index": 0}

    for outside in (lambda value: value, lambda value: {"report": value}, lambda value: [value]):
        answer = {name: box(name) for name in LISTS_OF_LEADS}
        result = normalized("tips_and_leads", outside(answer), chosen=["Active"])
        assert (ids_of_leads(result), result.rejected) == (
            {LISTS_OF_LEADS[name]: ["X1"] for name in LISTS_OF_LEADS if name in filled},
            (),
        )


@pytest.mark.parametrize("report", ["live_activity", "live_commissions", "trademarks", "office_budget_crm"])
@pytest.mark.parametrize(
    "answer",
    [
        {"Success": False, "Result": None, "ErrorMessage": "Databasfel"},
        {"code": 17, "description": "Något gick fel"},
        {"ok": False, "reason": "maintenance"},
        {"fault": {"faultstring": "x"}},
        {"data": {"error": "x"}},
        {"error": None, "data": None, "isError": True},
    ],
)
def test_what_says_that_something_failed_is_no_undocumented_row(report: str, answer: Json) -> None:
    assert not normalized(report, answer).recognised


@pytest.mark.parametrize("report", ["commission_user", "running_commissions", "users", "office_budget_crm"])
def test_nothing_is_an_empty_answer_whose_notes_can_be_written(report: str) -> None:
    result = normalized(report, None)
    assert (result.recognised, "".join(result.notes).isprintable()) == (True, True)


def test_more_keyed_objects_than_can_be_tables_are_kept_as_they_came() -> None:
    objects = {f"x{number}": {"M1": {"id": 1}, "M2": {"id": 2}} for number in range(60)}
    result = normalized("commission_user", [{"userId": "U1", "commission": 5, **objects}])
    kept = [one for one in result.tables[0].columns if one.name.startswith("x5")]
    assert (result.recognised, bool(kept)) == (True, True)


@pytest.mark.parametrize("report", ["commission_user", "users", "running_commissions"])
def test_a_list_of_offices_that_hold_the_rows_is_not_taken_for_the_rows(report: str) -> None:
    name, column, answer = ANSWERS[report]
    offices = [
        {"officeName": "a", "customerId": "M1", "name": "b", "rows": numbered(answer, place)}
        for place in range(1, 3)
    ]
    result = normalized(report, offices, numbered(answer, 9))
    assert (sorted(rows(result, name, column)), result.rejected) == ([("1",), ("2",), ("9",)], ())


def test_offices_that_hold_the_rows_under_several_names_are_no_report() -> None:
    _, _, answer = ANSWERS["commission_user"]
    offices = [{"officeName": "a", key: numbered(answer, 1)} for key in ("rows", "persons")]
    assert not normalized("commission_user", offices).recognised


def test_rows_under_keys_with_more_fields_than_there_is_room_for_keep_their_key() -> None:
    fields = {f"x{number}": number for number in range(1700)}
    result = normalized("commission_user", [{"userId": "U1", "x": {"M1": fields, "M2": fields}}])
    assert rows(result, "commission_user__x", "key") == [("M1",), ("M2",)]


def test_lists_have_room_before_other_fields() -> None:
    office = {f"x{number}": number for number in range(1700)} | REFERENCES[0]
    assert rows(normalized("sold_estates", [office]), "sold_estates", "kind") == [("houses",)]


def test_a_field_that_only_has_the_name_of_a_documented_column_may_be_anything() -> None:
    sale = {**estate("E1"), "estate_number": [1]}
    result = normalized("sales", estates(sale))
    assert (rows(result, "sales_estates", "id"), result.rejected) == ([("E1",)], ())


@pytest.mark.parametrize(("contact", "expected"), [({}, "Z"), ({"contact": None}, None)])
def test_a_field_has_the_name_of_a_documented_one_only_where_its_object_is_not_there(
    contact: Json, expected: str | None
) -> None:
    one = {**lead("L1"), "contactFirstName": "Z"}
    one.pop("contact", None)
    result = normalized("tips_and_leads", {"incomingLeads": [{**one, **contact}]}, chosen=["Active"])
    assert rows(result, "incoming_leads", "contact_first_name") == [(expected,)]


def test_a_list_beside_rows_and_one_of_its_name_in_them_are_two_tables() -> None:
    person = {**PERSON, "id": "H1", "links": [{"a": 1}]}
    beside = {"users": [{**person, "id": "H2"}], "links": [{"a": 2}, {"a": 3}]}
    for documents in ([beside], [[person], beside]):
        result = normalized("users", *documents)
        tables = {(one.parent, one.frame.height) for one in result.tables if "links" in one.name}
        assert tables == {("users", len(documents)), ("", 2)}


def collapsed(value: Json) -> Json:
    """The value with every list of one element in place of that element, as JSON made from XML has it."""
    if isinstance(value, dict):
        return {key: collapsed(member) for key, member in value.items()}
    if not isinstance(value, list):
        return value
    return collapsed(value[0]) if len(value) == 1 else [collapsed(one) for one in value]


WITH_FIELDS = [one for one in ANSWERS if one not in ("trademarks", "user_budget_estate")]


@pytest.mark.parametrize("report", [*WITH_FIELDS, "sales_for_estate"])
@pytest.mark.parametrize("shape", ["as declared", "in result and report", "every list in an object"])
def test_a_list_of_one_may_come_as_its_row_in_any_document(report: str, shape: str) -> None:
    office = {**REFERENCES[0], "name": "One", "city": "Lund"}
    earned = {
        "userId": "{n}",
        "commission": 5.5,
        "soldTotalPrice": 1,
        "soldEstateParts": 1,
        "writingParts": 1,
    }
    fuller = {
        "sold_estates": ("sold_estates", "id", [office]),
        "commission_user": ("commission_user", "user_id", [earned]),
        "sales_for_estate": (
            "sales_for_estate_agents",
            "id",
            {"estates": [estate("{n}", agents=[{"id": "{n}"}])]},
        ),
    }
    name, column, answer = {**ANSWERS, **fuller}[report]
    documents = [SHAPES[shape](numbered(answer, number)) for number in range(1, 4)]
    documents[1] = collapsed(documents[1])
    result = normalized(report, *documents, asked=["H"] * 3, chosen=["Active"] * 3)
    assert (result.recognised, result.rejected) == (True, ()), result.notes
    assert sorted(rows(result, name, column)) == [("1",), ("2",), ("3",)]


@pytest.mark.parametrize("alone", LISTS_OF_LEADS)
@pytest.mark.parametrize("fewest", [0, 2])
def test_the_only_row_of_a_list_is_read_beside_other_lists_with_rows(alone: str, fewest: int) -> None:
    full = {name: [one_of(name, f"{n}") for n in range(1, 3)] for name in LISTS_OF_LEADS}
    second = {name: [one_of(name, f"{n}") for n in range(3, 3 + fewest)] for name in LISTS_OF_LEADS}
    for box in (lambda row: row, lambda row: {"lead": row}, lambda row: {"rows": row, "index": 0}):
        if alone == "tips" or box({}) != {"lead": {}}:
            page = {**second, alone: box(one_of(alone, "X"))}
            result = normalized("tips_and_leads", full, page, chosen=["Active"] * 2)
            assert ids_of_leads(result)[LISTS_OF_LEADS[alone]] == ["1", "2", "X"], result.notes
            assert (result.recognised, result.rejected) == (True, ())


@pytest.mark.parametrize("other", ["none", 3, True, {"open": 5}, {"a": [{"b": 1}]}])
def test_what_is_in_place_of_a_list_and_no_row_is_never_taken_for_none(other: Json) -> None:
    for outside in (lambda value: value, lambda value: {"data": value}, lambda value: [value]):
        answer = outside(
            {"incomingLeads": [one_of("incomingLeads", "L1")], "outgoingLeads": [], "tips": other}
        )
        assert not normalized("tips_and_leads", answer, chosen=["Active"]).recognised
    agents = normalized(
        "sales", estates(estate("E1", agents=other), estate("E2", agents=[{"id": "A"}, {"id": "B"}]))
    )
    assert [one.table for one in agents.rejected] == ["sales_agents"]
    assert len(rows(agents, "sales_agents", "id")) == 2


@pytest.mark.parametrize("nothing", [None, "", " ", 0, False, {}, [], {"rows": None, "total": 0}])
def test_nothing_in_place_of_a_list_is_no_row(nothing: Json) -> None:
    answer = {"incomingLeads": [one_of("incomingLeads", "L1")], "outgoingLeads": [], "tips": nothing}
    result = normalized("tips_and_leads", answer, chosen=["Active"])
    assert (result.recognised, ids_of_leads(result)) == (True, {"incoming_leads": ["L1"]}), result.notes
    result = normalized("sales", estates(estate("E1", agents=nothing)))
    assert (result.rejected, rows(result, "sales_agents", "id")) == ((), [])


def test_the_only_home_of_a_kind_may_come_without_a_list_and_other_objects_stay_fields() -> None:
    office = {
        "customerId": "M1",
        "director": {"id": "x"},
        "plots": [{"id": "P", "contractDay": "2026-01-03"}],
    }
    home = {"id": "H", "contractDay": "2026-01-02", "isNewHome": False, "status": None}
    result = normalized("sold_estates", [{**office, "houses": home}])
    assert sorted(rows(result, "sold_estates", "kind", "id")) == [("houses", "H"), ("plots", "P")]
