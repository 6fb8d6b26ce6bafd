"""What an explanation prints of changes: amounts that add up, and sales by their homes."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from pipelines.cli.number_changes import print_budget_changes, print_changes, print_kinds
from warehouse.marts.lineage import TracedNumber

SEPTEMBER = date(2026, 9, 1)
NUMBER = TracedNumber("office", "M1", SEPTEMBER, "commission")
NOTED = {"month": SEPTEMBER, "noted_on": date(2026, 11, 9)}


def total(before: int, after: int) -> dict[str, Any]:
    amounts = {"amount_before": Decimal(before), "amount_after": Decimal(after)}
    return {**NOTED, **amounts, "amount_change": Decimal(after - before), "estate_id": None}


def sale(change: str, before: int, **known: object) -> dict[str, Any]:
    nothing = dict.fromkeys(
        ("estate_number", "street_address", "contract_on", "price_before", "other_month", "other_office")
    )
    amounts = {"amount_before": Decimal(before), "amount_after": None}
    described = {**NOTED, **nothing, **amounts, "estate_id": "E1", "agents": "Åsa Berg", "change": change}
    return {**described, "amount_change": Decimal(-before), "share": Decimal("0.5"), **known}


def unsold(amount: int) -> dict[str, Any]:
    changes = {"amount_change": Decimal(amount), "unsold_change": Decimal(amount)}
    counts = {"writing_change": None, "valuation_change": Decimal(-1)}
    return {**NOTED, **changes, **counts, "user_label": "Åsa Berg"}


def test_parts_of_a_change_and_the_remainder_add_up_to_it(capsys: pytest.CaptureFixture[str]) -> None:
    print_changes(NUMBER, [total(9000, 2000), sale("vanished", 8000)], [unsold(-1000)], False)
    said = capsys.readouterr().out
    assert re.search(r"sale E1 vanished +4 000 +- +-4 000  Åsa Berg  E1\n", said)
    assert re.search(r"not from sales, 1 valuation fewer +-1 000  Åsa Berg\n", said)
    assert re.search(r"no changed sale shows +-2 000\n", said)
    assert re.search(r"in all +-7 000 +-7 000\n", said)
    assert "by agent         2026-09: Åsa Berg -1 000, nobody can be named for -6 000\n" in said


@pytest.mark.parametrize(("kind", "is_known"), [("office", False), ("user", True)])
def test_changes_of_a_measure_that_is_not_remembered_are_not_known(
    capsys: pytest.CaptureFixture[str], kind: str, is_known: bool
) -> None:
    print_changes(TracedNumber(kind, "M1", SEPTEMBER, "sold_commission"), [], [], False)
    words = "nothing, as far" if is_known else "not known: earlier totals of sold_commission"
    assert f"changed since    {words}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"street_address": "Storgatan 3"}, "sale Storgatan 3 (no. 2609-010, contract 2026-09-21) vanished "),
        ({"price_before": 4225000}, "sale no. 2609-010, contract 2026-09-21, price 4 225 000 vanished "),
        (
            {
                "street_address": "Storgatan 3",
                "change": "moved here",
                "other_month": date(2026, 8, 1),
                "other_office": "Uppsala",
            },
            "sale Storgatan 3 moved here from 2026-08, Uppsala ",
        ),
    ],
    ids=["its street is kept", "nothing but the number is", "moved"],
)
def test_a_sale_is_told_by_what_is_known_of_it(
    capsys: pytest.CaptureFixture[str], known: dict[str, object], words: str
) -> None:
    one = sale("vanished", 10, estate_number="2609-010", contract_on=date(2026, 9, 21))
    print_changes(NUMBER, [total(10, 5), {**one, **known}], [], True)
    assert words in capsys.readouterr().out


def test_a_budget_that_was_taken_back_adds_up_to_that_of_the_office(
    capsys: pytest.CaptureFixture[str],
) -> None:
    change = {"amount_before": Decimal(97000), "amount_after": None, "amount_change": Decimal(-97000)}
    print_budget_changes([{**NOTED, **change, "user_label": "Axel"}], Decimal(460500), False)
    said = capsys.readouterr().out
    assert re.search(r"Axel +97 000  taken back  -97 000\n +in all +557 500 +460 500  -97 000\n", said)


def kind(period: str, year: int, homes: int, sold: int, commission: int) -> dict[str, Any]:
    month = date(year, 1, 1)
    work = {"sold_estate_parts": homes, "sold_commission": sold, "writing_parts": 0, "valuation_parts": 1}
    amounts = {name: Decimal(amount) for name, amount in {**work, "commission": commission}.items()}
    known = {"is_held": True, "is_open": period == "now", "is_commission_complete": True}
    return {"period": period, "first_month": month, "month": month, **known, **amounts}


@pytest.mark.parametrize(
    ("now", "reasons"),
    [
        (kind("now", 2026, 0, 0, 1678), ["-560 000", "0", "-322", "-560 322"]),
        (kind("now", 2026, 5, 500000, 504000), ["-160 000", "+100 000", "+2 000", "-58 000"]),
    ],
    ids=["nothing sold", "fewer homes that bring more"],
)
def test_a_change_is_divided_into_homes_what_they_bring_and_other_work(
    capsys: pytest.CaptureFixture[str], now: dict[str, Any], reasons: list[str]
) -> None:
    print_kinds(NUMBER, [now, kind("year before", 2025, 7, 560000, 562000)])
    said = capsys.readouterr().out.partition("the reasons")[2]
    assert "of the change since; this month is not over\n" in said
    assert [row.split("  ")[-1].strip() for row in said.splitlines()[3:]] == reasons


def test_what_is_not_held_a_year_before_is_compared_with_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_kinds(
        NUMBER,
        [
            kind("now", 2026, 1, 5, 5),
            {**kind("year before", 2025, 7, 560000, 562000), "is_held": False},
        ],
    )
    said = capsys.readouterr().out
    assert "2026-01" in said
    assert "2025" not in said
