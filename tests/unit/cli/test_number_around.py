"""How the rows around an explained number are laid out."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from pipelines.cli.number_around import MOST_ROWS, print_around, print_rows
from pipelines.diagnosis.explain import Around, Explanation
from warehouse.marts.lineage import Trace, TracedNumber

CHANGE: dict[str, Any] = {
    "noted_on": date(2026, 11, 9),
    "month": date(2026, 9, 1),
    "office": None,
    "amount_before": Decimal(9000),
    "amount_after": Decimal("8000.5"),
    "difference": Decimal("-999.5"),
    "valuation_change": Decimal(1),
    "commission_share": Decimal("0.25"),
    "is_open": True,
    "lacks_rows": False,
    "different_count": 0,
    "awaited_reports": ["sales", "commission_user"],
}


def explanation(measure: str, around: Around) -> Explanation:
    number = TracedNumber("office", "M1", date(2026, 9, 1), measure)
    return Explanation(
        Trace(number, "Kalmar", "", Decimal(125), False, False, False, (), frozenset()), around
    )


def test_columns_without_a_value_are_left_out_and_zero_is_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_rows("changed since", "a note", [CHANGE])
    said = [one.split() for one in capsys.readouterr().out.splitlines()]
    assert said[0] == "changed since a note".split()
    assert " ".join(said[1]) == (
        "noted on month amount before amount after difference valuation change commission share open "
        "different count awaited reports"
    )
    assert said[3] == "2026-11-09 2026-09 9 000 8 001 -999.5 +1 25.0 % yes 0 sales, commission_user".split()


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("commission", "nothing after the months were over, as far as was read"),
        ("tip_count", "not kept of this measure"),
    ],
)
def test_nothing_is_said_to_have_changed_only_of_what_is_remembered(
    capsys: pytest.CaptureFixture[str], measure: str, words: str
) -> None:
    print_around(explanation(measure, {}))
    assert capsys.readouterr().out == f"  doubts           none is known\n  changed since    {words}\n"


def test_the_mart_is_named_by_the_kind_of_the_number(capsys: pytest.CaptureFixture[str]) -> None:
    print_around(explanation("commission", {"compared": [CHANGE], "changes": [CHANGE]}))
    assert "from marts.office_month\n" in capsys.readouterr().out


def test_more_rows_than_are_shown_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows("the sales", "a note", [CHANGE] * (MOST_ROWS + 2))
    *shown, last = capsys.readouterr().out.splitlines()
    assert (len(shown), last.strip()) == (3 + MOST_ROWS, "and 2 more rows; --json has all")
