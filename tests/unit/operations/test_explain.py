"""The way of a number back to the bytes it comes from, and what is noticed when they disagree."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipelines.cli.explain import print_explanation
from pipelines.operations.explain import Explanation, explain
from tests.scenarios.scenario import whole_chain
from warehouse.lineage import SOURCES, SOURCES_OF_USERS, NotInTheFile

SEPTEMBER = date(2026, 9, 1)
REPORTS = "commission_office,commission_office_sale,commission_user,running_commissions,tips_and_leads,users"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published file of three months, with what the service is asked for sales alone."""
    data_dir = tmp_path_factory.mktemp("explained")
    night = whole_chain(data_dir, [REPORTS])
    night.sync()
    assert night.publish().publication.published
    return data_dir


def ids(data_dir: Path, kind: str) -> list[str]:
    with duckdb.connect(data_dir / "warehouse.duckdb", read_only=True) as file:
        query = f"SELECT {kind}_id FROM marts.{kind}_month WHERE month = $1 ORDER BY ALL LIMIT 40"
        return [one for (one,) in file.execute(query, [SEPTEMBER]).fetchall()]


def explained(data_dir: Path, measure: str = "commission", **whose: str) -> Explanation:
    whose = whose or {"office": ids(data_dir, "office")[0]}
    return explain(data_dir, month=SEPTEMBER, measure=measure, timezone="Europe/Stockholm", **whose)


@pytest.mark.parametrize(
    ("kind", "measure"),
    [*(("office", measure) for measure in SOURCES), *(("user", measure) for measure in SOURCES_OF_USERS)],
)
def test_the_stored_answers_say_the_same(published: Path, kind: str, measure: str) -> None:
    found = [explained(published, measure, **{kind: id_}) for id_ in ids(published, kind)[::5]]
    assert [(one.trace.number.id, one.difference) for one in found if not one.agrees] == []
    assert [len(one.trace.rows) for one in found] == [
        one.recounted and one.recounted.objects for one in found
    ]


OF_SEVERAL_TABLES = {"removed_lead_count", "active_agent_count", "commission_per_active_agent"}
"""Measures that no table alone holds; who is active needs a user's other months."""


@pytest.mark.parametrize(("mart", "sources"), [("office_month", SOURCES), ("user_month", SOURCES_OF_USERS)])
def test_every_measure_of_the_months_can_be_explained(
    published: Path, mart: str, sources: Mapping[str, Any]
) -> None:
    with duckdb.connect(published / "warehouse.duckdb", read_only=True) as file:
        columns = file.execute(
            "SELECT column_name FROM duckdb_columns() WHERE schema_name = 'marts' AND table_name = $1 "
            "AND (contains(data_type, 'DECIMAL') OR data_type = 'BIGINT')",
            [mart],
        ).fetchall()
    assert {name for (name,) in columns} - OF_SEVERAL_TABLES == set(sources)


def test_the_request_is_told_without_a_login(published: Path) -> None:
    [request] = explained(published).requests
    assert request.path.startswith("/BusinessIntelligence/CommissionOfficeReport/")
    assert request.query == {"dateFrom": "2026-09-01T00:00:00", "dateTo": "2026-09-30T23:59:59.999"}


def test_the_query_that_is_shown_finds_the_rows(published: Path) -> None:
    trace = explained(published, "incoming_lead_count").trace
    with duckdb.connect(published / "warehouse.duckdb", read_only=True) as file:
        assert len(file.execute(f"SELECT * {trace.answers[0].query}").fetchall()) == trace.value


def test_a_number_that_the_stored_answer_does_not_say_is_noticed(published: Path, tmp_path: Path) -> None:
    changed = shutil.copytree(published, tmp_path / "changed")
    with duckdb.connect(changed / "warehouse.duckdb") as file:
        file.execute("UPDATE marts.office_month SET commission = commission + 0.01")
    explanation = explained(changed)
    assert (explanation.agrees, str(explanation.difference)) == (False, "-0.0100")


def test_a_stored_answer_that_was_touched_is_noticed(published: Path, tmp_path: Path) -> None:
    touched = shutil.copytree(published, tmp_path / "touched")
    [answer] = explained(touched).trace.answers
    (touched / "landing" / str(answer.load.landing)).write_bytes(b"something else")
    explanation = explained(touched)
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
    with pytest.raises(NotInTheFile, match=rf"no office 'M0'; the published file has {office}, "):
        explained(published, office="M0")
    with pytest.raises(NotInTheFile, match=r"has 3 months of it, 2026-09 to 2026-11"):
        explain(published, office=office, month=date(2020, 1, 1), measure="commission", timezone="UTC")
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
    assert "is gone; `brokerbi sync --refresh` asks the service for it again" in capsys.readouterr().err
