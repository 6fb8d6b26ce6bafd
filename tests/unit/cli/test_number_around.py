"""What an explanation prints of other months: those before somebody began are not called unknown."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from pipelines.cli.explain import print_year
from pipelines.cli.number_around import print_around
from pipelines.cli.number_lines import counted
from pipelines.operations.explain import QUERIES, Explanation
from warehouse.marts.lineage import Trace, TracedNumber

MARCH = date(2026, 3, 1)


def printed(capsys: pytest.CaptureFixture[str], first_seen: date | None, *held: date) -> list[str]:
    """The lines about other months of a user's March, with ten leads in every month that is held."""
    months: list[dict[str, Any]] = [
        {
            "month": one,
            "number": Decimal(10) if first_seen is None or one >= first_seen else Decimal(0),
            "is_open": False,
            "is_commission_complete": True,
            "first_seen_month": first_seen,
        }
        for one in held
    ]
    number = TracedNumber("user", "U1", MARCH, "incoming_lead_count")
    trace = Trace(number, "Åsa", "", Decimal(10), False, False, False, (), frozenset())
    print_around(Explanation(trace, {**dict.fromkeys(QUERIES, ()), "months": months}))
    return [" ".join(one.split()) for one in capsys.readouterr().out.splitlines()]


EQUAL = ("2026-02 10: 0, +0.0 % since", "2025-03 10: 0, +0.0 % since")
TWO_YEARS = [date(year, month, 1) for year in (2025, 2026) for month in (1, 2, 3)]


@pytest.mark.parametrize(
    ("first_seen", "held", "said"),
    [
        (None, TWO_YEARS, [*EQUAL, "30; the year before 30 (+0.0 %)"]),
        (None, [MARCH], ["2026-02 not held", "2025-03 not held", "not every month is held"]),
        (
            date(2026, 3, 1),
            TWO_YEARS,
            [
                "2026-02 not there yet, first seen in 2026-03",
                "2025-03 not there yet, first seen in 2026-03",
                "10; not there yet the year before, first seen in 2026-03",
            ],
        ),
        (
            date(2025, 3, 1),
            TWO_YEARS,
            [*EQUAL, "30; the year before 10, first seen in 2025-03"],
        ),
    ],
    ids=["always there", "not held", "new", "began in the year before"],
)
def test_a_month_before_somebody_was_first_seen_is_not_called_not_held(
    capsys: pytest.CaptureFixture[str], first_seen: date | None, held: list[date], said: list[str]
) -> None:
    assert printed(capsys, first_seen, *held) == [*said[:2], f"year to date {said[2]}"]


def test_the_year_to_date_of_somebody_who_began_in_it_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    number = TracedNumber("user", "U1", MARCH, "commission")
    trace = Trace(number, "Åsa", "", Decimal(10), False, False, False, (), frozenset())
    known = {"is_open": False, "is_commission_complete": True, "first_seen_month": MARCH}
    months = [{**known, "month": one, "number": Decimal(0)} for one in TWO_YEARS]
    print_year([Explanation(trace, {**dict.fromkeys(QUERIES, ()), "months": months})])
    said = capsys.readouterr().out
    assert (
        "over 1 month that is held\n                   first seen in 2026-03, so the year to date is whole"
        in said
    )


def test_one_thing_is_no_plural() -> None:
    assert [counted(1, "row"), counted(Decimal("1.00"), "home"), counted(Decimal("1.5"), "home")] == [
        "1 row",
        "1 home",
        "1.5 homes",
    ]
