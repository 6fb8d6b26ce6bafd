"""The trace of a number to its stored answers, and the related rows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipelines.cli.main import main
from pipelines.cli.questions import print_explanation
from pipelines.diagnosis.explain import Explanation, explain
from tests.scenarios.scenario import whole_chain
from warehouse.marts.lineage import SOURCES, SOURCES_OF_USERS, NotInTheFile
from warehouse.store.versions import Versions

SEPTEMBER = date(2026, 9, 1)
REPORTS = (
    "commission_office,commission_office_sale,commission_user,running_commissions,tips_and_leads,users,"
    "sales,budget_commission"
)


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal in which nothing wraps."""
    monkeypatch.setenv("COLUMNS", "300")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A published file of three months, with what the service is asked for sales alone; it is kept open."""
    data_dir = tmp_path_factory.mktemp("explained")
    night = whole_chain(data_dir, [REPORTS], customers="G1", whole=True)
    night.sync()
    assert night.publish().publication.has_new_file
    with Versions(data_dir).reading():
        yield data_dir


@pytest.fixture
def copy(published: Path, tmp_path: Path) -> Path:
    """A copy of the data directory, to be spoiled."""
    return shutil.copytree(published, tmp_path / "copy")


def change(copy: Path, statement: str, *values: object) -> None:
    with duckdb.connect(copy / "warehouse.duckdb") as file:
        file.execute(statement, list(values))


def ids(data_dir: Path, kind: str) -> list[str]:
    with Versions(data_dir).reading() as file:
        query = f"SELECT {kind}_id FROM marts.{kind}_month WHERE month = $1 ORDER BY ALL LIMIT 20"
        return [row[0] for row in file.execute(query, [SEPTEMBER]).fetchall()]


def explained(data_dir: Path, measure: str = "commission", **whose: str) -> Explanation:
    whose = whose or {"office": ids(data_dir, "office")[0]}
    return explain(data_dir, month=SEPTEMBER, measure=measure, **whose)


@pytest.mark.parametrize(("mart", "sources"), [("office_month", SOURCES), ("user_month", SOURCES_OF_USERS)])
def test_every_measure_can_be_explained(published: Path, mart: str, sources: Mapping[str, Any]) -> None:
    with Versions(published).reading() as file:
        columns = file.execute(
            "SELECT column_name FROM duckdb_columns() WHERE schema_name = 'marts' AND table_name = $1 "
            "AND (contains(data_type, 'DECIMAL') OR data_type = 'BIGINT')",
            [mart],
        ).fetchall()
    assert {name for (name,) in columns} == set(sources)


def test_the_shown_query_finds_the_rows(published: Path) -> None:
    found = explained(published, "incoming_lead_count").trace
    with Versions(published).reading() as file:
        assert len(file.execute(f"SELECT * {found.rows}").fetchall()) == found.value


def test_a_number_that_is_not_loaded_is_unknown(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(copy, "DELETE FROM marts.office_sources")
    change(copy, "UPDATE marts.office_month SET commission = NULL")
    explanation = explained(copy)
    print_explanation(explanation)
    assert (explanation.damage, explanation.requests) == ("", [])
    assert "commission_office is not loaded for this month" in capsys.readouterr().out


def test_an_unknown_office_month_or_measure_is_answered_with_the_existing_ones(published: Path) -> None:
    office = ids(published, "office")[0]
    with pytest.raises(NotInTheFile, match=rf"no office 'M0' in marts.office_month; it has {office} "):
        explained(published, office="M0")
    with pytest.raises(NotInTheFile, match=r"has 3 months of it, 2026-09 to 2026-11"):
        explain(published, office=office, month=date(2020, 1, 1), measure="commission")
    with pytest.raises(NotInTheFile, match=r"no measure 'profit'; choose one of commission, "):
        explained(published, "profit")


def test_the_command_shows_the_whole_path(published: Path, capsys: pytest.CaptureFixture[str]) -> None:
    print_explanation(explained(published))
    output = capsys.readouterr().out
    parts = ("1 row", "bi.commission_office", "meta.loads", "GET /", "landing/", "as they were stored")
    assert [part for part in parts if part not in output] == []


def test_the_command_reports_a_missing_stored_answer(
    published: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(published / "warehouse.duckdb", tmp_path)
    print_explanation(explained(tmp_path))
    assert "run `brokerbi sync --refresh` with its --report" in capsys.readouterr().err


def test_the_rows_around_a_number_are_of_its_month(published: Path, copy: Path) -> None:
    office = ids(published, "office")[0]
    change(
        copy,
        "INSERT INTO marts.month_changes BY NAME SELECT $1 AS office_id, m AS month, "
        "'commission' AS measure, TIMESTAMP '2026-12-09' AS noted_at_utc, 9 AS amount_before, "
        "5 AS amount_after, -4 AS difference "
        "FROM (SELECT unnest([DATE '2026-09-01', DATE '2026-10-01', DATE '2025-09-01']) AS m)",
        office,
    )
    around = explain(copy, month=date(2026, 10, 1), measure="commission", office=office).around
    assert [row["month"].month for row in around["changes"]] == [10]
    assert {row["contract_on"].month for row in around["sales"]} == {10}


def test_the_chain_is_explained_without_office_and_user_also_as_json(
    published: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROKERBI_DATA_DIR", str(published))
    words = ["explain", "--month", "2026-09", "--measure"]
    assert main([*words, "commission", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["trace"]["number"]["kind"], found["damage"]) == ("chain", "")
    assert found["trace"]["value"] == pytest.approx(
        sum(office["number"] for office in found["around"]["parts"])
    )
    assert main([*words, "sold_average_commission"]) == 2


def test_an_office_or_user_is_found_by_a_unique_name(published: Path, copy: Path) -> None:
    zorn, zornberg = ids(published, "user")[:2]
    for user, name in ((zorn, "Åsa Zorn"), (zornberg, "Åsa Zornberg")):
        change(copy, "UPDATE marts.user_month SET user_name = $1 WHERE user_id = $2", name, user)
    traces = [explained(copy, user=name).trace for name in ("ÅSA ZORN", "zornB")]
    assert [found.number.id for found in traces] == [zorn, zornberg]
    with pytest.raises(NotInTheFile, match=rf"2 users; give the id: {zorn} \(Åsa Zorn\)"):
        explained(copy, user="åsa z")


@pytest.mark.parametrize("table", ["marts.month_changes", "meta.clock"])
def test_a_file_of_an_earlier_version_is_not_explained_in_part(copy: Path, table: str) -> None:
    change(copy, f"DROP TABLE {table}")
    with pytest.raises(NotInTheFile, match=r"older brokerbi.*`brokerbi publish`"):
        explained(copy)
