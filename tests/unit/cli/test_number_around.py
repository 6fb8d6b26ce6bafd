"""How the rows around an explained number are laid out."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from pipelines.cli.number_around import print_around, print_rows
from pipelines.diagnosis.around import Around, Basis, NumberChange, Sale
from pipelines.diagnosis.explain import Explanation
from warehouse.marts.lineage import Trace, TracedNumber

TOTAL = NumberChange(
    noted_on=date(2026, 11, 9),
    month=date(2026, 9, 1),
    kind="total",
    what=None,
    amount_before=Decimal(9000),
    amount_after=Decimal("8000.5"),
    difference=Decimal("-999.5"),
    writing_change=None,
    valuation_change=Decimal(1),
    other_month=None,
    other_office=None,
    awaited_reports=None,
    id=None,
)


def explanation(measure: str, around: Around) -> Explanation:
    number = TracedNumber("office", "M1", date(2026, 9, 1), measure)
    return Explanation(
        Trace(number, "Kalmar", "", Decimal(125), False, False, False, (), frozenset()), around
    )


def test_columns_without_a_value_are_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_rows("changed since", "a note", [TOTAL])
    said = [one.split() for one in capsys.readouterr().out.splitlines()]
    assert said[0] == "changed since a note".split()
    assert said[1] == "noted on month kind amount before amount after difference valuation change".split()
    assert said[3] == "2026-11-09 2026-09 total 9 000 8 001 -999.5 +1".split()


@pytest.mark.parametrize(
    ("measure", "words"),
    [("commission", "nothing, as far as was read"), ("tip_count", "not kept of this measure")],
)
def test_nothing_is_said_to_have_changed_only_of_what_is_remembered(
    capsys: pytest.CaptureFixture[str], measure: str, words: str
) -> None:
    print_around(explanation(measure, Around()), None)
    assert capsys.readouterr().out == f"  changed since    {words}\n"


def test_the_basis_is_named_with_the_value_that_is_printed_without_vat(
    capsys: pytest.CaptureFixture[str],
) -> None:
    year = explanation("commission", Around(basis=[Basis("with VAT", Decimal("0.25"))]))
    print_around(year, Decimal(250))
    said = capsys.readouterr().out
    assert "the basis        with VAT\n" in said
    assert "without that VAT of 25 % it is 200\n" in said


def test_more_sales_than_are_shown_are_one_row_before_what_is_in_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sales = [Sale("2026-09", f"Home {place}", commission=Decimal(10), id=f"E{place}") for place in range(14)]
    rest = Sale("2026-09", "in no listed sale", commission=Decimal(3))
    print_around(explanation("tip_count", Around(sales=[*sales, rest])), None)
    assert [one.split() for one in capsys.readouterr().out.splitlines()[-3:]] == [
        "2026-09 Home 11 10 E11".split(),
        "2026-09 2 others 20 -".split(),
        "2026-09 in no listed sale 3 -".split(),
    ]


def test_more_changes_than_are_shown_are_one_row(capsys: pytest.CaptureFixture[str]) -> None:
    print_around(explanation("commission", Around(changes=[TOTAL] * 32)), None)
    assert (
        capsys.readouterr().out.splitlines()[-1].split()
        == "2026-11-09 2026-09 others 2 others - - -1 999 -".split()
    )
