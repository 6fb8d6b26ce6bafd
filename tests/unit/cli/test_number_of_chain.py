"""What an explanation prints of the chain: tables of offices that add up."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal

import pytest

from pipelines.cli.number_of_chain import print_office_budgets_changed, print_offices, print_offices_changed
from warehouse.marts.lineage import TracedNumber

AUGUST = date(2026, 8, 1)
NUMBER = TracedNumber("chain", "", AUGUST, "commission")
NOTED = {"month": AUGUST, "noted_on": date(2026, 11, 9), "office_name": "Kalmar"}


def test_offices_and_what_is_in_none_of_them_add_up_to_the_change_of_the_chain(
    capsys: pytest.CaptureFixture[str],
) -> None:
    kalmar = {"office_name": "Kalmar", "number": Decimal(40), "year_before": Decimal(100), "remark": None}
    new = {"office_name": "Ny", "number": Decimal(7), "year_before": None, "remark": "first held in 2026-06"}
    homes = {"homes": Decimal(1), "homes_year_before": None}
    wholes = {"number": Decimal(50), "year_before": Decimal(110), "month_before": None}
    print_offices(NUMBER, [{**kalmar, **homes}, {**new, **homes}], wholes, False)
    said = [re.split(r"  +", one.strip()) for one in capsys.readouterr().out.splitlines()[3:]]
    assert said == [
        ["Kalmar", "40", "100", "-60", "1", "-"],
        ["Ny", "7", "-", "+7", "1", "-", "first held in 2026-06"],
        ["in no office", "3", "10", "-7"],
        ["in all", "50", "110", "-60"],
    ]


def test_what_changed_in_the_offices_is_summed(capsys: pytest.CaptureFixture[str]) -> None:
    amounts = {
        "amount_before": Decimal(9),
        "amount_after": Decimal(5),
        "amount_change": Decimal(-4),
    }
    print_offices_changed(
        NUMBER, [{**NOTED, **amounts}, {**NOTED, **amounts, "office_name": "Nyköping"}], False
    )
    assert re.search(r"Kalmar +9 +5 +-4\n.* Nyköping +9 +5 +-4\n +in all +-8\n", capsys.readouterr().out)


def test_changed_budgets_are_told_by_office(capsys: pytest.CaptureFixture[str]) -> None:
    changes = [{**NOTED, "amount_change": Decimal(amount)} for amount in (-30, 10)]
    print_office_budgets_changed(changes, Decimal(100), False)
    said = capsys.readouterr().out
    assert re.search(r"2026-11-09  Kalmar  2 budgets +-20\n +in all  from 120 to 100 +-20\n", said)
