"""Reports that nobody documented, in any shape: marts are empty rather than broken, and it is said why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from tests.marts.given import arrived, build, built, rows, warehouse
from tests.unit.normalize.answers import event, normalized
from tests.working_file import give_working_file
from warehouse.ledger.window_result import WindowResult
from warehouse.load.write_session import WriteSession
from warehouse.marts.build import build_marts
from warehouse.marts.checks import CheckResult, run_checks
from warehouse.marts.queries import SQL, queries
from warehouse.store.database import Store

JANUARY = Month(2026, 1)
READ = datetime(2026, 2, 1, tzinfo=UTC)
OFFICE = {"customerId": "M1", "name": "One", "city": "Uppsala"}
UNDOCUMENTED = [
    name
    for name, one in REPORTS.items()
    if not one.is_by_id and not all(table.columns for table in one.tables)
]
TABLE = "office_budget_commission_history"
AMOUNTS = "SELECT user_id, amount FROM marts.budgets WHERE measure = 'commission' ORDER BY user_id"
STATE = "SELECT state, missing_columns FROM meta.assumptions WHERE query = 'staging.office_budget_commission'"


@dataclass(frozen=True)
class Built:
    """A store with its marts built from some answers, and what the checks say of it."""

    store: Store
    checks: tuple[CheckResult, ...]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self.store.reading() as connection:
            return connection.execute(query).fetchall()

    @property
    def complaints(self) -> dict[str, list[Mapping[str, object]]]:
        """What the checks found, by name."""
        return {one.name: list(one.sample) for one in self.checks if one.rows}

    @property
    def unable(self) -> list[str]:
        """The checks that could not run."""
        return [one.finding for one in self.checks if one.message]


def stored(folder: Path, answers: Mapping[str, object]) -> Store:
    """M1's answers for January, by the name of their report: normalized and loaded."""
    give_working_file(folder)
    store = Store(folder)
    with WriteSession(store) as session:
        session.load([result_of(name, value) for name, value in answers.items()])
    return store


def answered(folder: Path, answers: Mapping[str, object]) -> Built:
    """The same with all marts built, and checked."""
    store = stored(folder, answers)
    with store.writing() as connection:
        build_marts(connection)
    with store.reading() as connection:
        return Built(store, tuple(run_checks(connection)))


def result_of(name: str, value: object) -> WindowResult:
    report = REPORTS[name]
    result = normalized(name, value, months=[JANUARY], asked=["U1" if report.endpoint.each else None])
    months: tuple[date, ...] = (JANUARY.first_day,) if report.has_months else ()
    return WindowResult(
        load_id=f"L-{name}", run_id="R", report=name, customer="M1", window_start=JANUARY.first_day,
        window_end=JANUARY.last_day, months=months, open_months=frozenset(),
        history=report.stored_as == "history", asked=None, tables=result.tables, rejected=(),
        requests=1, bytes=1, sha256="", seconds=0.1, fetched_at_utc=READ, landing="",
    )  # fmt: skip


def reported(*users: object) -> list[dict[str, Any]]:
    return [{**OFFICE, "users": list(users)}]


def user(id_: str, *months: object) -> dict[str, Any]:
    return {"userId": id_, "months": list(months)}


def test_budgets_that_are_kept_under_the_numbers_of_their_months_are_of_these(tmp_path: Path) -> None:
    months = {"1": {"commission": 5}, "2": {"commission": 6}}
    store = stored(tmp_path, {"budget_commission": reported({"userId": "U1", "months": months})})
    with duckdb.connect(store.path) as connection:
        assert built(connection, AMOUNTS) == [("U1", 5)]


@pytest.mark.parametrize(
    "answer",
    [
        reported({"id": "U1", "planned": 5, "stretch": 6}),  # which of them?
        reported({"userId": "U1", "months": [5, 6, 7]}),  # a list of numbers
        reported({"userId": "U1", "months": [{"commission": {"planned": 5, "stretch": 9}}]}),
        reported({"userId": "U1", "months": None}),
        {"offices": [{"id": "M1", "budget": [{"user": "U1", "amount": 5}]}]},
        [{"wholly": {"else": [1, {"than": "this"}]}}],
        [],
    ],
)
def test_a_budget_of_another_shape_is_no_budget(tmp_path: Path, answer: object) -> None:
    store = stored(tmp_path, {"budget_commission": answer, "running_commissions": [event()]})
    with duckdb.connect(store.path) as connection:
        assert built(connection, AMOUNTS) == []
        fits = f"{STATE.replace('office_', '')} AND state = 'fits'"
        assert connection.execute(fits).fetchall() == []


JANUARY_AND_FEBRUARY = ({"year": 2026, "month": 1}, 5), ({"year": 2026, "month": 2}, 6)
WRITTEN = ({"month": "2026-01"}, 5), ({"month": "2026-02-01"}, 6)


@pytest.mark.parametrize(
    ("called", "months"),
    [("perioder", JANUARY_AND_FEBRUARY), ("perioder", WRITTEN), ("month", WRITTEN)],
    ids=["numbers", "texts", "a list called month"],
)
@pytest.mark.parametrize("name", ["commission", "belopp"])
@pytest.mark.parametrize("report", ["budget_commission", "budget_sold_estates"])
def test_a_list_of_months_counts_under_any_name(
    tmp_path: Path, report: str, name: str, called: str, months: list[tuple[dict[str, Any], int]]
) -> None:
    name = {"budget_sold_estates": "sold"}.get(report, name) if name == "commission" else name
    of_user = {"userId": "U1", called: [{**month, name: amount} for month, amount in months]}
    store = stored(tmp_path, {report: reported({"userId": "U0"}, of_user)})
    with duckdb.connect(store.path) as connection:
        assert built(connection, "SELECT user_id, amount::INT FROM marts.budgets") == [("U1", 5)]


@pytest.mark.parametrize(
    "months",
    [JANUARY_AND_FEBRUARY, WRITTEN, [({"period": "2026-01-01T00:00:00"}, 5), ({"period": "2026-02-01"}, 6)]],
    ids=["numbers", "texts", "periods"],
)
def test_rows_of_users_that_are_each_of_a_month_count(
    tmp_path: Path, months: list[tuple[dict[str, Any], int]]
) -> None:
    users = [{"id": "U1", **month, "budget": {"commission": amount}} for month, amount in months]
    store = stored(tmp_path, {"budget_commission": reported(*users)})
    with duckdb.connect(store.path) as connection:
        assert built(connection, AMOUNTS) == [("U1", 5)]


MONTH = {"year": 2026, "month": 1}
JANUARY_OF_YEAR = [{"month": 1, "budget": 5}]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (reported({"userId": "U1", "goal": 5}), ("U1", 5)),
        ([{**OFFICE, **MONTH, "users": [{"userId": "U1", "budget": 5}]}], ("U1", 5)),
        (reported({"userId": "U1", "period": MONTH, "mål": 5}), ("U1", 5)),
        (reported({"userId": "U1", "years": [{"year": 2026, "months": JANUARY_OF_YEAR}]}), ("U1", 5)),
        ([{**OFFICE, "months": [{**MONTH, "users": [{"id": "U1", "budget": 5}]}]}], ("U1", 5)),
        ([{**OFFICE, "users": {"U1": {"budget": 5}, "U2": {"budget": None}}}], ("U1", 5)),
        (reported({"userId": "U1", "budget": 60, "months": [{**MONTH, "budget": 5}]}), ("U1", 5)),
        ([{**OFFICE, "months": [{**MONTH, "commission": 5}]}], (None, 5)),
        ([{**OFFICE, "commission": 5, "users": []}], (None, 5)),
    ],
    ids=[
        "asked",
        "of offices",
        "object",
        "years",
        "around users",
        "by id",
        "beside a sum",
        "office's",
        "office",
    ],
)
def test_budgets_count_in_whichever_rows_say_whose_they_are(
    tmp_path: Path, answer: object, found: tuple[object, ...]
) -> None:
    store = stored(tmp_path, {"budget_commission": answer})
    with duckdb.connect(store.path) as connection:
        assert built(connection, f"SELECT * FROM ({AMOUNTS}) WHERE amount IS NOT NULL") == [found]
        assert connection.execute("SELECT DISTINCT office_id FROM marts.budgets").fetchall() == [("M1",)]


def test_a_budget_beside_other_numbers_of_months_may_be_their_sum(tmp_path: Path) -> None:
    of_user = {"userId": "U1", "budget": 60, "months": [{**MONTH, "utfall": 5}]}
    store = stored(tmp_path, {"budget_commission": reported(of_user)})
    with duckdb.connect(store.path) as connection:
        assert built(connection, AMOUNTS) == []
        assert connection.execute(STATE.replace("office_", "")).fetchall()[0][0] == "differs"


def test_weeks_of_a_user_are_no_months(tmp_path: Path) -> None:
    weeks = [{"week": week, "commission": 5} for week in (1, 2)]
    found = answered(tmp_path, {"budget_commission": reported({"userId": "U1", "weeks": weeks})})
    assert found.rows(AMOUNTS) == []
    [one] = found.complaints["assumptions_hold"]
    assert one["missing_columns"] == ["month or period"]


def test_meetings_count_in_rows_of_a_month_each(tmp_path: Path) -> None:
    of_user = {"id": "U1", "period": "2026-01-01T00:00:00", "budget": {"total": 3, "ownBooked": 2}}
    store = stored(tmp_path, {"budget_crm": reported(of_user), "budget_commission": reported()})
    with duckdb.connect(store.path) as connection:
        found = built(connection, "SELECT user_id, measure, amount::INT FROM marts.budgets ORDER BY measure")
    assert found == [("U1", "meetings", 3), ("U1", "own booked meetings", 2)]


def test_a_list_of_months_that_is_not_understood_is_named_with_what_arrived(tmp_path: Path) -> None:
    months = [{"month": 1, "planned": 5, "stretch": 6}]
    found = answered(tmp_path, {"budget_commission": reported({"userId": "U1", "perioder": months})})
    named = {one["source"]: one["arrived_columns"] for one in found.complaints["assumptions_hold"]}
    assert named["bi.budget_commission__users__perioder_history"] == ["month", "planned", "stretch"]


@pytest.mark.parametrize(
    ("report", "counts", "measures"),
    [
        (
            "office_budget_estate",
            {"estates": {"sold": 2, "registered": 3}},
            ["registered estates", "sold estates"],
        ),
        (
            "office_budget_crm",
            {"saleMeetings": {"total": "3,00", "ownBooked": 2}},
            ["meetings", "own booked meetings"],
        ),
    ],
)
def test_counts_under_the_name_of_the_documented_budget_are_read(
    tmp_path: Path, report: str, counts: dict[str, object], measures: list[str]
) -> None:
    row = {"customerId": "M1", "user": {"id": "U1"}, **counts}
    store = stored(tmp_path, {report: [row], "budget_commission": reported()})
    with duckdb.connect(store.path) as connection:
        found = built(connection, "SELECT measure, amount::INT FROM marts.budgets ORDER BY measure")
    assert found == [(measures[0], 3), (measures[1], 2)]


@pytest.mark.parametrize(
    ("answer", "office"),
    [
        ({"offices": [{"customerId": "M1", "users": [{"userId": "U1", "calls": 7}]}]}, "M1"),
        ({"users": {"U1": {"customerId": "M1", "calls": 7}, "U2": {"customerId": "M1"}}}, "M1"),
        ({"summary": {"users": [{"id": "U1", "office": {"customerId": "M1"}, "calls": 7}]}}, "M1"),
        ({"rows": [{"userId": "U1", "calls": 7}], "totals": {"calls": 7}}, None),
    ],
    ids=["below offices", "kept by their ids", "in an object", "without an office"],
)
def test_users_count_in_a_list_of_any_place(tmp_path: Path, answer: object, office: str | None) -> None:
    store = stored(tmp_path, {"live_activity": answer})
    with duckdb.connect(store.path) as connection:
        query = "SELECT office_id, user_id, measure, amount::INT FROM marts.activity"
        assert built(connection, query) == [(office, "U1", "calls", 7)]


@pytest.mark.parametrize(
    "answer",
    [
        {"summary": {"persons": [{"person": "Bo", "calls": 7}]}},
        {"users": [{"userId": "U1", "activities": [{"name": "calls", "count": 7}]}]},
        {"users": [{"userId": "U1", "calls": 7}], "best": [{"userId": "U1", "calls": 7}]},
    ],
    ids=["nobody", "by name", "in two lists"],
)
def test_activity_that_is_not_understood_differs(tmp_path: Path, answer: object) -> None:
    store = stored(tmp_path, {"live_activity": answer})
    with duckdb.connect(store.path) as connection:
        assert built(connection, "FROM marts.activity") == []
        found = connection.execute(
            "SELECT DISTINCT state FROM meta.assumptions WHERE query = 'staging.live_activity_users'"
        )
        assert found.fetchall() == [("differs",)]


EARNED = {"commission": 5.5, "soldTotalPrice": 100, "soldEstateParts": 1}


@pytest.mark.parametrize(
    "answer",
    [
        {
            "commissionOffices": [
                {"customerId": "M1", "years": [{"year": 2026, "months": [{"month": 1, **EARNED}]}]}
            ]
        },
        {"commissionOffices": [{"customerId": "M1", "rows": [{"yearMonth": "2026-01", **EARNED}]}]},
        {"months": [{**MONTH, "commissionOffices": [{"customerId": "M1", **EARNED}]}]},
        {"rows": [{"officeId": "M1", "month": "202601", **EARNED}]},
    ],
    ids=["years", "months of an office", "offices of a month", "rows"],
)
def test_the_by_month_report_is_held_against_the_others_in_whichever_rows_it_has(
    tmp_path: Path, answer: object
) -> None:
    office = {"office": {"customerId": "M1"}, **EARNED, "commission": 7}
    store = stored(tmp_path, {"commission_office_by_month": answer, "commission_office": [office]})
    with duckdb.connect(store.path) as connection:
        query = "SELECT office_id, difference::DOUBLE FROM marts.reconciliation WHERE NOT is_reconciled"
        assert built(connection, query) == [("M1", -1.5)]


TEXTS = {"U1": "1200.50", "U2": "a lot", "U3": None, "U4": [1, 2]}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Budgets in texts, budgets of a whole year, two at once, and a report with columns of its own."""
    january = {"year": "2026", "month": "01"}
    year = [{"year": "2026", "month": f"{number:02}", "commission": 100 * number} for number in range(1, 13)]
    users = [user(name, {**january, "commission": text}) for name, text in TEXTS.items()]
    twice = user("U6", {**january, "commission": 5}, {**january, "commission": 6})
    answers = {
        "budget_commission": reported(*users, user("U5", *year), twice),
        "office_budget_crm": [{"officeId": "M1", "goal": 5}],
    }
    return answered(tmp_path_factory.mktemp("found"), answers)


def test_what_was_expected_and_what_arrived_is_named(found: Built) -> None:
    [one] = found.complaints["assumptions_hold"]
    assert one["arrived_columns"] == ["office_id", "goal"]
    columns = ("total or sale_meetings_total", "own_booked or sale_meetings_own_booked")
    named = ", ".join(f"bi.office_budget_crm_history.{column}" for column in columns)
    assert one["message"] == f"office_budget_crm.sql expects {named}"


def test_amounts_in_texts_are_understood_and_months_of_a_whole_year_count_in_their_own(found: Built) -> None:
    amounts = found.rows(AMOUNTS)
    assert amounts[:4] == [("U1", Decimal("1200.5")), ("U2", None), ("U3", None), ("U4", None)]
    assert sorted(amounts[4:]) == [("U5", Decimal(100)), ("U6", Decimal(5)), ("U6", Decimal(6))]


def test_amounts_that_are_no_numbers_or_several_at_once_are_named(found: Built) -> None:
    told = {one["trouble"]: one["row_count"] for one in found.complaints["budgets_are_understood"]}
    assert told == {
        "no amount, or none that is a number": 3,
        "several amounts at once for one office, user and month": 1,
    }


NAMES = st.sampled_from(
    "customerId userId commission sold registered total ownBooked months users year month office years "
    "soldTotalPrice soldEstateParts commissionOffices userReports name id amount".split()
)
SCALARS = st.sampled_from(["M1", "U1", "12,5", "1200.50", "", None, 0, -5, 1.5, 10**18, True, "2026-01-01"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)
LISTS = st.lists(st.dictionaries(NAMES, VALUES, min_size=1, max_size=8), min_size=1, max_size=3)


@settings(max_examples=max(2, settings().max_examples // 50))  # every example builds all marts
@examples(st.dictionaries(st.sampled_from(UNDOCUMENTED), LISTS, min_size=4))
def test_whatever_undocumented_reports_hold_marts_are_built_and_checks_run(
    answers: dict[str, list[dict[str, Any]]],
) -> None:
    with TemporaryDirectory() as folder:
        assert answered(Path(folder), answers).unable == []


COMMISSION = "commission or budget_commission or budget or goal or amount or value"


@pytest.mark.parametrize(
    ("columns", "state"),
    [
        ({}, ("nothing has arrived", [COMMISSION])),
        ({"customer_id": "VARCHAR", "user_id": "VARCHAR", "commission": "BIGINT"}, ("fits", [])),
        ({"customer_id": "VARCHAR", "budget": "BIGINT"}, ("fits", [])),
        ({"customer_id": "VARCHAR", "aim": "BIGINT"}, ("differs", [COMMISSION])),
    ],
)
def test_it_is_said_whether_what_arrived_fits(columns: Mapping[str, str], state: tuple[object, ...]) -> None:
    given = warehouse()
    if columns:
        arrived(given, TABLE, **columns)
        rows(given, TABLE, "G1", "2026-01", [{"customer_id": "M1"}])
    assert built(given, "SELECT count(*) FROM marts.budgets") == [(0,)]
    assert given.execute(STATE).fetchall() == [state]


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({}, "nothing has arrived"),
        ({"plan": 7, "stretch": 8}, "differs"),
        ({"perioder": [{"month": "01", "planned": 5, "stretch": 6}]}, "differs"),
        ({"perioder": [{"week": "01", "commission": 5}]}, "differs"),
        ({"perioder": [100, 200]}, "differs"),
    ],
    ids=["no budgets", "a number", "two amounts", "no months", "a list of numbers"],
)
def test_users_without_a_month_have_no_budgets_unless_something_else_may_be_one(
    tmp_path: Path, more: Mapping[str, Any], state: str
) -> None:
    answers = {"budget_commission": reported({**user("U1"), **more}), "office_budget_crm": []}
    store = stored(tmp_path, answers)
    with duckdb.connect(store.path) as connection:
        build(connection, "budgets")
        found = connection.execute(
            "SELECT DISTINCT state FROM meta.assumptions WHERE query = 'staging.budget_commission'"
        )
        assert found.fetchall() == [(state,)]


@pytest.mark.parametrize(
    ("offices", "states", "brands"),
    [
        ({"offices": [{"customerId": "M1"}]}, ["fits", "fits"], [("M1", "Ek")]),
        ({"offices": [{"id": "M1", "name": "One"}]}, ["fits", "fits"], [("M1", "Ek")]),
        ({"kontor": [{"customerId": "M1"}]}, ["fits", "fits"], [("M1", "Ek")]),
        ({"offices": ["M1"]}, ["fits", "nothing has arrived"], [("M1", "Ek")]),
        ({"kontor": ["M1"]}, ["fits", "nothing has arrived"], [("M1", "Ek")]),
        ({"kontor": {"M1": {"name": "One"}}}, ["fits", "fits"], [("M1", "Ek")]),
        ({"kontor": [{"nr": "M1"}]}, ["fits", "differs"], [("M1", "Alm")]),
    ],
    ids=[
        "by customer id",
        "by id",
        "under another name",
        "ids alone",
        "ids under another name",
        "by their ids",
        "nobody knows how",
    ],
)
def test_offices_below_a_trademark_are_read_or_it_is_said_that_they_are_not(
    tmp_path: Path, offices: dict[str, object], states: list[str], brands: list[tuple[str, str | None]]
) -> None:
    of_another = json.loads(json.dumps(offices).replace("M1", "M9"))
    marks = [{"trademark": "Ek", **offices}, {"trademark": "Alm", **of_another}]
    store = stored(tmp_path, {"trademarks": marks, "budget_commission": reported()})
    with duckdb.connect(store.path) as connection:
        assert built(connection, "SELECT office_id, brand FROM marts.offices") == brands
        query = "SELECT state FROM marts.assumptions WHERE contains(lower(assumption), 'trademark')"
        assert [state for (state,) in built(connection, f"{query} ORDER BY assumption")] == states


def test_the_empty_mart_keeps_its_columns_and_their_types() -> None:
    given = warehouse()
    build(given, "budgets")
    query = "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'budgets'"
    types = dict(given.execute(query).fetchall())
    expected = {"amount": "DECIMAL(18,4)", "valid_from_utc": "TIMESTAMP", "month": "DATE"}
    assert types.items() >= expected.items()


def test_a_query_that_does_not_run_on_what_arrived_differs_with_the_reason() -> None:
    given = warehouse()
    arrived(given, "budget_commission__users_history", user_id="VARCHAR")
    arrived(given, "budget_commission__users__months_history", commission="BIGINT")
    build(given, "budgets")
    found = given.execute(
        "SELECT DISTINCT state, contains(message, 'does not run on what arrived') FROM meta.assumptions "
        "WHERE query = 'staging.budget_commission'"
    )
    assert found.fetchall() == [("differs", True)]


def test_every_query_that_expects_something_carries_the_word_assumed_and_the_types_of_its_columns() -> None:
    found = [query for query in queries(SQL / "staging", "staging") if query.expects]
    assert [query.name for query in found if "assumed" not in query.path.read_text()] == []
    assert [query.name for query in found if not query.types or "" in query.types.values()] == []
