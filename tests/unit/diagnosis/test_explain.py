"""The way of a number back to the bytes it comes from, and what is noticed when they disagree."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipelines.cli.explain import print_chain, print_explanation, print_year
from pipelines.cli.main import main
from pipelines.diagnosis.explain import (
    Explanation,
    explain,
    explain_alone,
    explain_chain,
    explain_year,
)
from tests.scenarios.scenario import whole_chain
from warehouse.marts.lineage import SOURCES, SOURCES_OF_USERS, NotInTheFile
from warehouse.store.versions import Versions

SEPTEMBER = date(2026, 9, 1)
REPORTS = (
    "commission_office,commission_office_sale,commission_user,running_commissions,tips_and_leads,users,"
    "sales,budget_commission"
)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A published file of three months, with what the service is asked for sales alone; it is kept open."""
    data_dir = tmp_path_factory.mktemp("explained")
    night = whole_chain(data_dir, [REPORTS], whole=True)
    night.sync()
    assert night.publish().publication.published
    with Versions(data_dir).reading():
        yield data_dir


@pytest.fixture
def copy(published: Path, tmp_path: Path) -> Path:
    """A copy of the data directory, to be spoiled."""
    return shutil.copytree(published, tmp_path / "copy")


def ids(data_dir: Path, kind: str) -> list[str]:
    with Versions(data_dir).reading() as file:
        query = f"SELECT {kind}_id FROM marts.{kind}_month WHERE month = $1 ORDER BY ALL LIMIT 20"
        return [one for (one,) in file.execute(query, [SEPTEMBER]).fetchall()]


def explained(data_dir: Path, measure: str = "commission", **whose: Any) -> Explanation:
    whose = whose or {"office": ids(data_dir, "office")[0]}
    return explain(data_dir, month=SEPTEMBER, measure=measure, **whose)


def traced(data_dir: Path, measure: str, **whose: Any) -> Explanation:
    """The number and its stored answers, without what surrounds it."""
    return explain_alone(data_dir, month=SEPTEMBER, measure=measure, **whose)


@pytest.mark.parametrize(
    ("kind", "measure"),
    [
        (kind, measure)
        for kind, sources in (("office", SOURCES), ("user", SOURCES_OF_USERS))
        for measure, source in sources.items()
        if not source.not_recounted
    ],
)
def test_the_stored_answers_say_the_same(published: Path, kind: str, measure: str) -> None:
    found = [traced(published, measure, **{kind: id_}) for id_ in ids(published, kind)[::5]]
    assert [(one.trace.number.id, one.difference) for one in found if not one.agrees] == []
    assert [len(one.trace.rows) for one in found] == [
        one.recounted and one.recounted.objects for one in found
    ]


@pytest.mark.parametrize(("mart", "sources"), [("office_month", SOURCES), ("user_month", SOURCES_OF_USERS)])
def test_every_measure_of_the_months_can_be_explained(
    published: Path, mart: str, sources: Mapping[str, Any]
) -> None:
    with Versions(published).reading() as file:
        columns = file.execute(
            "SELECT column_name FROM duckdb_columns() WHERE schema_name = 'marts' AND table_name = $1 "
            "AND (contains(data_type, 'DECIMAL') OR data_type = 'BIGINT')",
            [mart],
        ).fetchall()
    assert {name for (name,) in columns} == set(sources)


def test_the_request_is_told_without_a_login(published: Path) -> None:
    [request] = explained(published).requests
    assert request.path.startswith("/BusinessIntelligence/CommissionOfficeReport/")
    assert request.query == {"dateFrom": "2026-09-01T00:00:00", "dateTo": "2026-09-30T23:59:59.999"}


def test_the_query_that_is_shown_finds_the_rows(published: Path) -> None:
    trace = explained(published, "incoming_lead_count").trace
    with Versions(published).reading() as file:
        assert len(file.execute(f"SELECT * {trace.answers[0].query}").fetchall()) == trace.value


def test_a_number_that_the_stored_answer_does_not_say_is_noticed(copy: Path) -> None:
    with duckdb.connect(copy / "warehouse.duckdb") as file:
        file.execute("UPDATE marts.office_month SET commission = commission + 0.01")
    explanation = explained(copy)
    assert (explanation.agrees, str(explanation.difference)) == (False, "-0.0100")


def test_a_stored_answer_that_was_touched_is_noticed(published: Path, copy: Path) -> None:
    [answer] = explained(published).trace.answers
    (copy / "landing" / str(answer.load.landing)).write_bytes(b"something else")
    explanation = explained(copy)
    assert (explanation.agrees, "is damaged" in explanation.trouble) == (False, True)


def test_a_number_that_nobody_holds_is_unknown_and_no_trouble(published: Path, tmp_path: Path) -> None:
    shutil.copy(published / "warehouse.duckdb", tmp_path)
    with duckdb.connect(tmp_path / "warehouse.duckdb") as file:
        file.execute("DELETE FROM marts.office_sources")
        file.execute("UPDATE marts.office_month SET commission = NULL")
    explanation = explained(tmp_path)
    assert (explanation.agrees, explanation.trace.answers, explanation.requests) == (True, (), [])


def test_an_unknown_office_month_or_measure_is_answered_with_what_there_is(published: Path) -> None:
    office = ids(published, "office")[0]
    with pytest.raises(NotInTheFile, match=rf"no office 'M0'; the published file has {office} "):
        explained(published, office="M0")
    with pytest.raises(NotInTheFile, match=r"has 3 months of it, 2026-09 to 2026-11"):
        explain(published, office=office, month=date(2020, 1, 1), measure="commission")
    with pytest.raises(NotInTheFile, match=r"no measure 'profit'; marts\.office_month has commission, "):
        explained(published, "profit")


def test_the_command_tells_the_whole_way(published: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert print_explanation(explained(published)) == 0
    said = capsys.readouterr().out
    assert all(part in said for part in ("bi.commission_office", "meta.loads", "GET /", "landing/", "agrees"))


def test_the_command_fails_where_the_stored_answer_is_gone(
    published: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(published / "warehouse.duckdb", tmp_path)
    assert print_explanation(explained(tmp_path)) == 1
    assert "is gone; `brokerbi sync --refresh`" in capsys.readouterr().err


def test_a_month_ahead_is_still_to_come(published: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Versions(published).reading() as file:
        [(office, ahead)] = file.execute(
            "SELECT office_id, month FROM marts.office_budget_vs_actual WHERE measure = 'commission' "
            "ORDER BY month DESC LIMIT 1"
        ).fetchall()
    asked = {"measure": "budget_commission", "office": office}
    print_explanation(explain(published, month=ahead, **asked))
    assert f"{ahead:%Y-%m}, still to come\n" in capsys.readouterr().out


@pytest.mark.parametrize("measure", ["active_agent_count", "removed_lead_count", "budget_commission"])
def test_a_measure_of_several_tables_leads_to_its_rows_and_answers_uncounted(
    published: Path, measure: str
) -> None:
    found = [traced(published, measure, office=one) for one in ids(published, "office")]
    assert {one.agrees for one in found} == {True}
    assert {one.recounted for one in found} == {None}
    assert all(one.requests for one in found if one.trace.answers)
    if not measure.startswith("budget"):
        rows = [sum(answer.row_count for answer in one.trace.answers) for one in found]
        assert rows == [one.trace.value for one in found]


def test_a_budget_that_was_taken_back_is_none_and_not_unknown(
    published: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(published / "warehouse.duckdb", tmp_path)
    with duckdb.connect(tmp_path / "warehouse.duckdb") as file:
        [(user,)] = file.execute(
            "SELECT user_id FROM marts.budgets WHERE measure = 'commission' AND amount > 1000 "
            "AND month = '2026-09-01' AND user_id IS NOT NULL LIMIT 1"
        ).fetchall()
        file.execute("DELETE FROM marts.budget_vs_actual WHERE user_id = $1 AND month = '2026-09-01'", [user])
        file.execute(
            "UPDATE marts.budgets SET valid_to_utc = '2099-01-01' "
            "WHERE (user_id, month, measure) = ($1, DATE '2026-09-01', 'commission')",
            [user],
        )
    explanation = explained(tmp_path, "budget_commission", user=user)
    assert (explanation.trace.value, print_explanation(explanation)) == (None, 0)
    assert "the mart         none in marts.user_budget_vs_actual" in capsys.readouterr().out


def test_the_year_to_date_is_its_months_each_counted_anew(
    published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    office = ids(published, "office")[0]
    november = date(2026, 11, 1)
    months = explain_year(published, month=november, measure="commission", office=office)
    assert [one.trace.number.month.month for one in months] == [9, 10, 11]
    total = sum((Decimal(one.trace.value or 0) for one in months), Decimal(0))
    assert print_year(months) == 0
    said = capsys.readouterr().out
    assert f"{total.normalize():f} over 3 of 11 months\n" in said
    with pytest.raises(NotInTheFile, match="is not added up over months"):
        explain_year(published, month=november, measure="sold_average_commission", office=office)


@pytest.mark.parametrize("measure", ["commission", "tip_count"])
def test_the_chain_is_the_sum_of_its_offices_each_counted_anew(
    published: Path, capsys: pytest.CaptureFixture[str], measure: str
) -> None:
    chain = explain_chain(published, month=SEPTEMBER, measure=measure)
    assert chain.trace.value == sum(one.trace.value or 0 for one in chain.offices)
    assert (len(chain.offices), print_chain(chain)) == (len(ids(published, "office")), 0)
    assert "offices in their stored answers: all agree\n" in capsys.readouterr().out


def test_an_office_that_its_stored_answer_contradicts_fails_the_chain(
    published: Path, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    office = ids(published, "office")[0]
    with duckdb.connect(copy / "warehouse.duckdb") as file:
        file.execute("UPDATE marts.office_month SET commission = 1 WHERE office_id = $1", [office])
    chain = explain_chain(copy, month=SEPTEMBER, measure="commission")
    assert print_chain(chain) == 1
    said = capsys.readouterr()
    assert "differs from the stored answer; explain that office" in said.err


def test_the_chain_is_explained_without_office_and_user_and_for_programs(
    published: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROKERBI_DATA_DIR", str(published))
    words = ["explain", "--month", "2026-09", "--measure"]
    assert main([*words, "commission", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["agrees"]) == ("chain", True)
    assert found["value"] == pytest.approx(sum(one["value"] for one in found["offices"]))
    assert main([*words, "year_to_date_commission"]) == 0
    assert "commission of the chain, 2026-01 to 2026-09\n" in capsys.readouterr().out
    assert main([*words, "sold_average_commission"]) == 2


OF_OFFICE = "office_id = $office AND month = DATE '2026-09-01'"


def change(copy: Path, office: str, statement: str) -> None:
    """Do this to the published file."""
    with duckdb.connect(copy / "warehouse.duckdb") as file:
        file.execute(statement, {"office": office} if "$office" in statement else None)


def test_a_file_of_the_year_tells_what_changed_in_each_of_its_months(
    published: Path, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    office = ids(published, "office")[0]
    change(
        copy,
        office,
        "INSERT INTO marts.month_changes BY NAME SELECT $office AS office_id, m AS month, "
        "'commission' AS measure, TIMESTAMP '2026-12-09' AS noted_at_utc, 9 AS amount_before, "
        "5 AS amount_after, -4 AS difference "
        "FROM (SELECT unnest([DATE '2026-09-01', DATE '2026-10-01', DATE '2025-09-01']) AS m)",
    )
    months = explain_year(copy, month=date(2026, 11, 1), measure="commission", office=office)
    around = months[-1].around
    assert [(one["month"].month, one["difference"]) for one in around["changes"]] == [
        (9, Decimal(-4)),
        (10, Decimal(-4)),
    ]
    assert {one["contract_on"].month for one in around["sales"]} == {9, 10, 11}
    print_year(months)
    assert "changed since" in capsys.readouterr().out


def test_a_merged_file_names_the_shard_that_counts_the_number_anew(
    published: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copyfile((published / "warehouse.duckdb").resolve(), tmp_path / "warehouse.duckdb")
    office = ids(published, "office")[0]
    with duckdb.connect(tmp_path / "warehouse.duckdb") as file:
        file.execute(
            "INSERT INTO meta.shards (shard, customers) SELECT 'north', list(customer) FROM meta.customers"
        )
    assert print_explanation(explained(tmp_path, office=office)) == 0
    asked = f"`brokerbi explain --office {office} --month 2026-09 --measure commission`"
    assert f"in shard north; ask there: {asked}" in capsys.readouterr().out
    assert print_chain(explain_chain(tmp_path, month=SEPTEMBER, measure="commission")) == 0
    assert "not counted anew" in capsys.readouterr().out


def test_an_office_or_user_is_found_by_a_name_that_nobody_else_has(published: Path, copy: Path) -> None:
    one, two = ids(published, "user")[:2]
    with duckdb.connect(copy / "warehouse.duckdb") as file:
        for user, name in ((one, "Åsa Zorn"), (two, "Åsa Zornberg")):
            file.execute("UPDATE marts.user_month SET user_name = $1 WHERE user_id = $2", [name, user])
    found = [explained(copy, user=name).trace for name in ("ÅSA ZORN", "zornB", one.lower(), "zorn")]
    assert [(trace.number.id, trace.name) for trace in found] == [
        *((one, "Åsa Zorn"), (two, "Åsa Zornberg"), (one, "Åsa Zorn"), (one, "Åsa Zorn"))
    ]
    with pytest.raises(NotInTheFile, match=rf"2 users; give the id: {one} \(Åsa Zorn\)"):
        explained(copy, user="åsa z")


def test_a_user_is_found_by_a_former_name_and_the_id_is_said(
    published: Path, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = ids(published, "user")[:2]
    with duckdb.connect(copy / "warehouse.duckdb") as file:
        file.execute("UPDATE marts.user_month SET user_name = 'Åsa Zornberg' WHERE user_id = $1", [two])
        file.execute("UPDATE marts.sale_shares SET user_name = 'Åsa Zorn' WHERE user_id = $1", [one])
    found = explained(copy, user="åsa zorn")
    print_explanation(found)
    assert found.trace.number.id == one
    assert f"'åsa zorn', another name that the service gave {one}\n" in capsys.readouterr().out


def test_a_file_of_an_earlier_version_is_not_explained_in_part(published: Path, tmp_path: Path) -> None:
    shutil.copyfile((published / "warehouse.duckdb").resolve(), tmp_path / "warehouse.duckdb")
    with duckdb.connect(tmp_path / "warehouse.duckdb") as file:
        file.execute("DROP TABLE marts.month_changes")
    with pytest.raises(NotInTheFile, match=r"earlier version.*`brokerbi publish`"):
        explain_chain(tmp_path, month=SEPTEMBER, measure="commission")


def test_a_file_that_does_not_keep_its_time_zone_says_how_to_make_one(
    published: Path, tmp_path: Path
) -> None:
    shutil.copyfile((published / "warehouse.duckdb").resolve(), tmp_path / "warehouse.duckdb")
    with duckdb.connect(tmp_path / "warehouse.duckdb") as file:
        [(office,)] = file.execute("SELECT any_value(office_id) FROM marts.office_month").fetchall()
        file.execute("DROP TABLE meta.clock")
    with pytest.raises(NotInTheFile, match=r"time zone.*`brokerbi publish`"):
        explained(tmp_path, office=office)
