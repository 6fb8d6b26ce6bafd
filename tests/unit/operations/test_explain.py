"""The way of a number back to the bytes it comes from, and what is noticed when they disagree."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import duckdb
import pytest

from pipelines.cli.explain import print_explanation
from pipelines.months import Month
from pipelines.operations.explain import Explanation, explain
from tests.scenarios.rehearsal import rehearsal
from warehouse.lineage import SOURCES, SOURCES_OF_USERS, NotInTheFile

SEPTEMBER = date(2026, 9, 1)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published file of three months, with what the service is asked for sales alone."""
    room = tmp_path_factory.mktemp("explained")
    night = rehearsal(room, start=Month(2026, 9), BROKERBI_REPORTS=",".join(REPORTS))
    night.sync()
    assert night.publish().publication.published
    return room


REPORTS = (
    "commission_office", "commission_office_sale", "commission_user", "running_commissions",
    "tips_and_leads", "users",
)  # fmt: skip


def _offices(data_dir: Path) -> Sequence[str]:
    with duckdb.connect(data_dir / "warehouse.duckdb", read_only=True) as file:
        return [one for (one,) in file.execute("SELECT office_id FROM marts.offices ORDER BY ALL").fetchall()]


def _explained(data_dir: Path, measure: str = "commission", office: str | None = None) -> Explanation:
    office = office or _offices(data_dir)[0]
    return explain(data_dir, office=office, month=SEPTEMBER, measure=measure, timezone="Europe/Stockholm")


@pytest.mark.parametrize("measure", SOURCES)
def test_the_stored_answers_say_the_same(published: Path, measure: str) -> None:
    told = [_explained(published, measure, office) for office in _offices(published)[::4]]
    assert [(one.trace.number.id, one.difference) for one in told if not one.agrees] == []
    assert [len(one.trace.rows) for one in told] == [one.recounted and one.recounted.objects for one in told]


@pytest.mark.parametrize("measure", SOURCES_OF_USERS)
def test_the_stored_answers_say_the_same_of_users(published: Path, measure: str) -> None:
    with duckdb.connect(published / "warehouse.duckdb", read_only=True) as file:
        users = file.execute(
            "SELECT user_id FROM marts.user_month WHERE month = $1 ORDER BY user_id LIMIT 40", [SEPTEMBER]
        ).fetchall()
    told = [
        explain(published, user=user, month=SEPTEMBER, measure=measure, timezone="Europe/Stockholm")
        for (user,) in users[::8]
    ]
    assert [(one.trace.number.id, one.difference) for one in told if not one.agrees] == []
    assert [len(one.trace.rows) for one in told] == [one.recounted and one.recounted.objects for one in told]


@pytest.mark.parametrize(("mart", "sources"), [("office_month", SOURCES), ("user_month", SOURCES_OF_USERS)])
def test_every_measure_of_the_months_can_be_explained(
    published: Path, mart: str, sources: Mapping[str, object]
) -> None:
    with duckdb.connect(published / "warehouse.duckdb", read_only=True) as file:
        columns = file.execute(
            "SELECT column_name FROM duckdb_columns() WHERE schema_name = 'marts' AND table_name = $1 "
            "AND (contains(data_type, 'DECIMAL') OR data_type = 'BIGINT')",
            [mart],
        ).fetchall()
    assert {name for (name,) in columns} == set(sources)


def test_the_request_is_told_without_a_login(published: Path) -> None:
    [asked] = _explained(published).requests
    assert asked.path.startswith("/BusinessIntelligence/CommissionOfficeReport/")
    assert asked.query == {"dateFrom": "2026-09-01T00:00:00", "dateTo": "2026-09-30T23:59:59"}


def test_the_query_that_is_shown_finds_the_rows(published: Path) -> None:
    told = _explained(published, "incoming_lead_count")
    with duckdb.connect(published / "warehouse.duckdb", read_only=True) as file:
        assert len(file.execute(f"SELECT * {told.trace.answers[0].query}").fetchall()) == told.trace.value


def test_a_number_that_the_stored_answer_does_not_say_is_noticed(published: Path, tmp_path: Path) -> None:
    changed = shutil.copytree(published, tmp_path / "changed")
    with duckdb.connect(changed / "warehouse.duckdb") as file:
        file.execute("UPDATE marts.office_month SET commission = commission + 0.01")
    told = _explained(changed)
    assert (told.agrees, str(told.difference)) == (False, "-0.0100")


def test_a_stored_answer_that_was_touched_is_noticed(published: Path, tmp_path: Path) -> None:
    touched = shutil.copytree(published, tmp_path / "touched")
    [answer] = _explained(touched).trace.answers
    (touched / "landing" / str(answer.load.landing)).write_bytes(b"something else")
    told = _explained(touched)
    assert (told.agrees, "is damaged" in told.trouble) == (False, True)


def test_a_stored_answer_that_is_gone_is_named(published: Path, tmp_path: Path) -> None:
    shutil.copy(published / "warehouse.duckdb", tmp_path)
    assert "is gone" in _explained(tmp_path).trouble


def test_a_number_that_nobody_holds_is_unknown_and_no_trouble(published: Path, tmp_path: Path) -> None:
    shutil.copy(published / "warehouse.duckdb", tmp_path)
    with duckdb.connect(tmp_path / "warehouse.duckdb") as file:
        file.execute("DELETE FROM marts.office_sources")
        file.execute("UPDATE marts.office_month SET commission = NULL")
    told = _explained(tmp_path)
    assert (told.agrees, told.trace.answers, told.requests) == (True, (), [])


def test_an_unknown_office_month_or_measure_is_answered_with_what_there_is(published: Path) -> None:
    office = _offices(published)[0]
    with pytest.raises(NotInTheFile, match=rf"no office 'M0'; the published file has {office}, "):
        _explained(published, office="M0")
    with pytest.raises(NotInTheFile, match=r"has 3 months of it, 2026-09 to 2026-11"):
        explain(published, office=office, month=date(2020, 1, 1), measure="commission", timezone="UTC")
    with pytest.raises(NotInTheFile, match=r"no measure 'profit'; marts\.office_month has commission, "):
        _explained(published, "profit")


def test_every_publication_brings_its_page(published: Path) -> None:
    assert "How the chain is doing" in (published / "report.html").read_text("utf-8")


def test_the_command_tells_the_whole_way(published: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = print_explanation(_explained(published))
    told = capsys.readouterr().out
    assert code == 0
    assert all(part in told for part in ("bi.commission_office", "meta.loads", "GET /", "landing/", "agrees"))


def test_the_command_fails_where_the_stored_answer_is_gone(
    published: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(published / "warehouse.duckdb", tmp_path)
    assert print_explanation(_explained(tmp_path)) == 1
    assert "`brokerbi sync --refresh` asks the service for it again" in capsys.readouterr().err
