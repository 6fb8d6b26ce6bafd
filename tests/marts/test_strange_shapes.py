"""What if undocumented reports look like nothing we know? Nothing breaks, and it is said."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.catalogue.reports import REPORTS
from tests.marts.strange import answered
from tests.unit.normalize.answers import event

OFFICE = {"customerId": "M1", "name": "One", "city": "Uppsala"}
UNDOCUMENTED = [
    name for name in REPORTS if "budget" in name or name.startswith("live") or name.endswith("by_month")
]
AMOUNTS = "SELECT user_id, amount FROM marts.budgets WHERE measure = 'commission' ORDER BY user_id"


def reported(*users: object) -> list[dict[str, Any]]:
    """A budget report of one office, with these users."""
    return [{**OFFICE, "users": list(users)}]


def user(id_: str, *months: object) -> dict[str, Any]:
    """A user as assumed, with these months."""
    return {"userId": id_, "months": list(months)}


@pytest.mark.parametrize(
    "answer",
    [
        reported({"id": "U1", "goal": 5}),  # other names
        reported({"userId": "U1", "months": {"1": {"commission": 5}, "2": {"commission": 6}}}),
        reported({"userId": "U1", "months": [5, 6, 7]}),  # a list of numbers
        reported({"userId": "U1", "months": [{"commission": {"planned": 5, "stretch": 9}}]}),
        reported({"userId": "U1", "months": None}),
        [{**OFFICE, "months": [{"month": 1, "commission": 5}]}],  # of the office alone
        {"offices": [{"id": "M1", "budget": [{"user": "U1", "amount": 5}]}]},
        [{"wholly": {"else": [1, {"than": "this"}]}}],
        [],
    ],
)
def test_a_budget_of_another_shape_is_no_budget_and_breaks_nothing(tmp_path: Path, answer: object) -> None:
    built = answered(tmp_path, {"budget_commission": answer, "running_commissions": [event()]})
    assert (built.rows(AMOUNTS), built.unable) == ([], [])
    fits = (
        "SELECT count(*) FROM meta.assumptions WHERE query = 'staging.budget_commission' AND state = 'fits'"
    )
    assert built.rows(fits) == [(0,)]


def test_what_was_expected_and_what_arrived_is_named(tmp_path: Path) -> None:
    built = answered(tmp_path, {"office_budget_crm": [{"officeId": "M1", "goal": 5}]})
    [found] = built.complaints["assumptions_hold"]
    assert found["expected_columns"] == ["customer_id", "user_id", "total", "own_booked"]
    assert found["arrived_columns"] == ["office_id", "goal"]
    assert found["message"] == (
        "office_budget_crm.sql expects bi.office_budget_crm_history.customer_id, "
        "bi.office_budget_crm_history.user_id, bi.office_budget_crm_history.total, "
        "bi.office_budget_crm_history.own_booked"
    )


def test_amounts_written_as_text_are_understood_and_what_is_no_number_is_named(tmp_path: Path) -> None:
    users = [
        user(name, {"year": "2026", "month": "01", "commission": text})
        for name, text in (("U1", "1200.50"), ("U2", "a lot"), ("U3", None), ("U4", [1, 2]))
    ]
    built = answered(tmp_path, {"budget_commission": reported(*users)})
    assert built.rows(AMOUNTS) == [("U1", Decimal("1200.5")), ("U2", None), ("U3", None), ("U4", None)]
    assert built.complaints["budgets_are_understood"] == [
        {
            "report": "budget_commission",
            "measure": "commission",
            "trouble": "no amount, or none that is a number",
            "row_count": 3,
        }
    ]


def test_a_year_that_is_answered_for_every_month_counts_in_its_own_month(tmp_path: Path) -> None:
    year = [{"year": 2026, "month": number, "commission": 100 * number} for number in range(1, 13)]
    built = answered(tmp_path, {"budget_commission": reported(user("U1", *year))})
    assert built.rows(AMOUNTS) == [("U1", Decimal(100))]


def test_several_amounts_for_one_month_are_named(tmp_path: Path) -> None:
    built = answered(
        tmp_path, {"budget_commission": reported(user("U1", {"commission": 5}, {"commission": 6}))}
    )
    [found] = built.complaints["budgets_are_understood"]
    assert found["trouble"] == "several amounts at once for one office, user and month"


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


@settings(max_examples=max(2, settings().max_examples // 25))  # every example builds all marts
@given(st.dictionaries(st.sampled_from(UNDOCUMENTED), LISTS, min_size=4))
def test_whatever_undocumented_reports_hold_marts_are_built_and_checks_run(
    answers: dict[str, list[dict[str, Any]]],
) -> None:
    with TemporaryDirectory() as folder:
        assert answered(Path(folder), answers).unable == []
