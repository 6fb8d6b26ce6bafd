"""The star for BI tools: days, offices and agents around the months of agents."""

from __future__ import annotations

from datetime import date

import pytest

from tests.marts.given import Given, build, earned, loaded, warehouse


def three_months(given: Given) -> None:
    """November 2025 to January 2026 of an office with one agent, of which January is not over."""
    for month in ("2025-11", "2025-12", "2026-01"):
        office, user = ({"office_customer_id": "M1"}, {"user_id": "U1"})
        is_open = month == "2026-01"
        loaded(given, "commission_office", "M1", month, [earned(office, 100)], is_open=is_open)
        loaded(given, "commission_user", "M1", month, [earned(user, 100)], is_open=is_open)
    build(given, "calendar", "dim_office", "dim_agent", "agent_month")


@pytest.fixture
def given() -> Given:
    return warehouse(three_months)


def test_the_calendar_has_every_day_of_the_loaded_years(given: Given) -> None:
    found = given.execute("SELECT min(day), max(day), count(*) FROM marts.calendar").fetchall()
    assert found == [(date(2025, 11, 1), date(2026, 12, 31), 30 + 31 + 365)]


def test_a_day_knows_its_month_quarter_and_week(given: Given) -> None:
    found = given.execute("SELECT * EXCLUDE (day) FROM marts.calendar WHERE day = '2025-12-29'").fetchall()
    december, october = date(2025, 12, 1), date(2025, 10, 1)
    assert found == [(december, 12, "2025-12", october, 4, 2025, 2026, 1, 1, True)]


def test_every_month_of_an_agent_finds_its_day_its_office_and_its_agent(given: Given) -> None:
    found = given.execute(
        "SELECT count(*), count(calendar.day), count(offices.office_id), count(agents.user_id) "
        "FROM marts.agent_month AS facts LEFT JOIN marts.calendar AS calendar ON calendar.day = facts.month "
        "LEFT JOIN marts.dim_office AS offices USING (office_id) "
        "LEFT JOIN marts.dim_agent AS agents USING (user_id)"
    ).fetchall()
    assert found == [(3, 3, 3, 3)]
