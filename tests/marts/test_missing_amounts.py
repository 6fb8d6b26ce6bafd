"""Amounts that a loaded report leaves out, or sends under another name: unknown, neither zero nor lost."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.marts.given import (
    Given,
    asked_for,
    build,
    build_for,
    built,
    earned,
    explained_again,
    explaining,
    loaded,
    warehouse,
)

OFFICE = {"office_customer_id": "M1"}
LATER = datetime(2026, 7, 1)


def amounts_gone(given: Given) -> None:
    """Offices and users had commission in January, and later answers have none."""
    asked_for(given, "M1")
    loaded(given, "commission_office", "M1", "2026-01", [earned(OFFICE, 100)])
    loaded(given, "commission_user", "M1", "2026-01", [earned({"user_id": "U1"}, 100)])
    build(given, "month_total_versions", "user_month_versions")
    without = {"commission": None}
    loaded(given, "commission_office", "M1", "2026-01", [{**earned(OFFICE, 100), **without}], at_utc=LATER)
    user = {**earned({"user_id": "U1"}, 100), **without}
    loaded(given, "commission_user", "M1", "2026-01", [user], at_utc=LATER)


@pytest.fixture
def given() -> Given:
    return warehouse(amounts_gone)


def test_an_amount_that_no_row_has_is_null(given: Given) -> None:
    marts = ("office_month", "user_month", "chain_month")
    query = " UNION ALL ".join(f"SELECT commission FROM marts.{mart}" for mart in marts)
    assert built(given, query) == [(None,)] * 3


def test_an_answer_without_amounts_is_no_change(given: Given) -> None:
    build_for(given, explaining("changes"))
    for whose in ({}, {"office": "M1"}, {"user": "U1"}):
        assert explained_again(given, "changes", "2026-01", **whose) == []
