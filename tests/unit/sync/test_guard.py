"""The guard of what is held: rows that are lost, what comes empty, amounts that jump."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal

import polars as pl
import pytest

from pipelines.catalogue.model import money, parts, text
from pipelines.normalize.columns.tables import NormalizedTable
from pipelines.sync.guard import (
    ASK,
    Comparison,
    compared_months,
    factor_of_other_rows,
    factor_of_same_rows,
    is_no_accident,
    months_emptied,
    reason,
    remedy,
    rows_lost,
    shrink_warning,
)
from warehouse.ledger.window_result import Doubt, DoubtKind, WindowResult
from warehouse.load.profile import HeldTable

DECEMBER, JANUARY, FEBRUARY = date(2025, 12, 1), date(2026, 1, 1), date(2026, 2, 1)
AMOUNTS = [100.0 + 7 * number for number in range(40)]


def fetched(*now: dict[date | None, int]) -> list[WindowResult]:
    return [WindowResult("sales", "M1", rows_by_month=one) for one in now]


def lost(held: dict[date | None, int], *now: dict[date | None, int]) -> bool:
    return rows_lost(held, fetched(*now)) is not None


@pytest.mark.parametrize(
    ("held", "now", "is_held_back"),
    [
        ({JANUARY: 60, FEBRUARY: 40}, {JANUARY: 0, FEBRUARY: 0}, True),
        ({JANUARY: 60, FEBRUARY: 40}, {JANUARY: 60, FEBRUARY: 0}, False),
        ({JANUARY: 60, FEBRUARY: 40}, {JANUARY: 0, FEBRUARY: 50}, False),
        ({JANUARY: 60, FEBRUARY: 40}, {JANUARY: 9, FEBRUARY: 40}, True),
        ({JANUARY: 5, FEBRUARY: 4}, {JANUARY: 0, FEBRUARY: 0}, False),
        ({JANUARY: 60, date(2025, 12, 1): 940}, {JANUARY: 0}, False),
        ({None: 3}, {None: 0}, True),
        ({None: 3}, {None: 1}, False),
        ({None: 0}, {None: 0}, False),
    ],
)
def test_only_the_loss_of_more_than_half_of_many_rows_or_of_all_without_months_is_held_back(
    held: dict[date | None, int], now: dict[date | None, int], *, is_held_back: bool
) -> None:
    assert lost(held, now) is is_held_back


YEARS: dict[date | None, int] = {date(year, month, 1): 40 for year in (2023, 2024) for month in range(1, 13)}


@pytest.mark.parametrize(
    ("held", "now", "rows"),
    [
        ({DECEMBER: 1, JANUARY: 1, FEBRUARY: 1, **YEARS}, {DECEMBER: 0, JANUARY: 0, FEBRUARY: 0}, 3),
        ({DECEMBER: 9, JANUARY: 5, FEBRUARY: 2}, {DECEMBER: 0, JANUARY: 0, FEBRUARY: 0}, 16),
        ({DECEMBER: 9, JANUARY: 5, **YEARS}, {DECEMBER: 0, JANUARY: 0, FEBRUARY: 0}, None),
        ({DECEMBER: 9, JANUARY: 5, FEBRUARY: 2}, {DECEMBER: 0, JANUARY: 0, FEBRUARY: 1}, None),
        ({DECEMBER: 0, JANUARY: 0, FEBRUARY: 0, **YEARS}, {DECEMBER: 0, JANUARY: 0, FEBRUARY: 0}, None),
        ({}, {DECEMBER: 0, JANUARY: 0, FEBRUARY: 0}, None),
        ({None: 3}, {None: 0}, None),
    ],
)
def test_the_loss_of_all_rows_of_several_months_at_once_is_held_back_however_many_others_are_held(
    held: dict[date | None, int], now: dict[date | None, int], rows: int | None
) -> None:
    for windows in ([now], [{month: count} for month, count in now.items()]):
        found = months_emptied(held, fetched(*windows))
        assert found == (rows and Doubt(DoubtKind.MONTHS_EMPTIED, rows, sum(held.values()), months=3))
        assert not found or reason([found]) == (
            f"all {rows} held rows of 3 months would go at once; the old rows stay."
        )


def test_the_loss_of_more_than_half_of_the_months_that_were_asked_is_a_warning() -> None:
    held: dict[date | None, int] = {date(2025, 12, 1): 940, JANUARY: 60, FEBRUARY: 40}
    assert shrink_warning(held, fetched({JANUARY: 30, FEBRUARY: 20})) == ""
    assert shrink_warning(held, fetched({JANUARY: 20, FEBRUARY: 20})) == (
        "60 of the 100 rows that were held of these months are gone, more than half"
    )


def test_windows_that_share_a_month_are_added_up() -> None:
    assert not lost({JANUARY: 60, FEBRUARY: 40}, {JANUARY: 30}, {JANUARY: 30, FEBRUARY: 0})


@pytest.mark.parametrize(
    ("asked", "held", "compared"),
    [
        ([JANUARY, FEBRUARY], {DECEMBER: 90, JANUARY: 1}, (JANUARY,)),
        ([FEBRUARY], {DECEMBER: 90, JANUARY: 20}, (JANUARY,)),
        ([FEBRUARY], {DECEMBER: 90, JANUARY: 2}, (DECEMBER,)),
        ([DECEMBER], {JANUARY: 90, FEBRUARY: 90}, ()),
        ([None], {None: 3}, (None,)),
        ([None], {}, ()),
    ],
)
def test_months_are_compared_with_what_they_replace_or_else_with_the_latest_before_them(
    asked: list[date | None], held: dict[date | None, int], compared: tuple[date | None, ...]
) -> None:
    assert compared_months(asked, held) == compared


@pytest.mark.parametrize(
    ("filled", "held", "came", "is_sure"),
    [
        (100, 100, 100, True),
        (6, 6, 6, True),
        (5, 5, 5, False),
        (100, 100, 2, False),
        (10, 100, 100, True),
        (3, 100, 100, False),
        (1, 1000, 1_000_000, False),
        (0, 100, 100, False),
    ],
)
def test_only_what_can_hardly_be_an_accident_is_found_missing(
    filled: int, held: int, came: int, *, is_sure: bool
) -> None:
    assert is_no_accident(filled, held, came) is is_sure


@pytest.mark.parametrize("factor", [100.0, 0.01, 1.25, 0.8, -1.0])
def test_amounts_that_all_become_others_by_one_factor_have_it(factor: float) -> None:
    now = [(amount, round(factor * amount, 2)) for amount in AMOUNTS]
    found = factor_of_same_rows([*now, (5.0, 6.0), (7.0, 7.0)])
    assert found is not None
    assert (round(found[0], 3), *found[1:]) == (factor, 40, 41)


@pytest.mark.parametrize(
    "pairs",
    [
        [(amount, amount) for amount in AMOUNTS],
        [(amount, amount + 50) for amount in AMOUNTS],
        [(2.0, 2.0), *((amount, 100 * amount) for amount in AMOUNTS[:9])],
        [(amount, 100 * amount) for amount in AMOUNTS[:2]],
        [(amount, 100 * amount if place % 5 else amount + 1) for place, amount in enumerate(AMOUNTS)],
        [(amount, 1.03 * amount) for amount in AMOUNTS],
        [(2500.0, 5000.0)] * 40,
    ],
    ids=["same", "growth", "few", "two", "four fifths", "rate of exchange", "equal fees"],
)
def test_growth_a_rate_of_exchange_and_equal_fees_are_no_factor(pairs: list[tuple[float, float]]) -> None:
    assert factor_of_same_rows(pairs) is None


def test_three_amounts_have_a_factor_if_no_other_amount_came_again() -> None:
    now = [(amount, 100 * amount) for amount in AMOUNTS[:3]]
    assert factor_of_same_rows(now) == (100, 3, 3)


def test_amounts_of_a_new_month_are_doubted_when_small_and_large_ones_are_all_far_from_those_held() -> None:
    assert factor_of_other_rows(AMOUNTS, [100 * amount for amount in AMOUNTS]) == (100, 40, 40)
    assert factor_of_other_rows(AMOUNTS, [3 * amount for amount in AMOUNTS]) is None
    assert factor_of_other_rows(AMOUNTS, [100 * amount for amount in AMOUNTS[:19]]) is None
    mixed, other = [*AMOUNTS, *(5_000.0 for _ in range(30))], [*AMOUNTS, *(5_000.0 for _ in range(60))]
    assert factor_of_other_rows(mixed, other) is None


SOLD = (text("id", "id"), text("note", "note"), money("price", "price"), parts("share", "share"))


def sold(rows: int, *, factor: int = 1, note: str | None = "x", month: date = JANUARY) -> NormalizedTable:
    """So many sales of a month, no two of one price."""
    values = [(number, month, f"{number}", note, Decimal(factor * (number + 1))) for number in range(rows)]
    types = {"_row": pl.Int64(), "_month": pl.Date(), "id": pl.String(), "note": pl.String()}
    frame = pl.DataFrame(values, {**types, "price": pl.Decimal(38, 4)}, orient="row")
    return NormalizedTable("sold", SOLD, frame.with_columns(share=pl.lit(None, pl.Decimal(38, 8))), ("id",))


def agents(rows: int) -> NormalizedTable:
    frame = pl.DataFrame({"_row": range(rows), "_month": [JANUARY] * rows})
    return NormalizedTable("agents", (), frame, (), "sold")


def compared(*windows: list[NormalizedTable]) -> list[tuple[DoubtKind, str, str]]:
    """What is doubted of these windows of January, of which twenty sales and thirty agents are held."""
    sample = pl.DataFrame([(JANUARY, f"{n}", n + 1.0, None) for n in range(20)], HELD, orient="row")
    filled = {"id": 20, "note": 20, "price": 20, "share": 0}
    held = {
        "sold": HeldTable(20, filled, {"price": 20, "share": 0}, ("id",), sample),
        "agents": HeldTable(30, {"id": 30}),
    }
    comparison = Comparison({JANUARY: 50}, held)
    for tables in windows:
        comparison.add([JANUARY, FEBRUARY], tables)
    return [(one.kind, one.table, one.column) for one in comparison.doubts([])]


HELD = {"_month": pl.Date(), "id": pl.String(), "price": pl.Float64(), "share": pl.Float64()}


def test_what_comes_as_it_is_held_is_not_doubted() -> None:
    assert compared([sold(25), agents(30)]) == []


def test_a_table_without_rows_and_a_column_without_values_are_doubted_by_name() -> None:
    assert compared([sold(20, note=None), agents(0)]) == [
        (DoubtKind.COLUMN_EMPTIED, "sold", "note"),
        (DoubtKind.TABLE_EMPTIED, "agents", ""),
    ]


def test_what_is_empty_in_one_window_may_be_filled_in_another() -> None:
    assert compared([sold(20, note=None), agents(0)], [sold(1, month=FEBRUARY), agents(1)]) == []


def test_amounts_that_are_all_zero_are_doubted_although_they_are_there() -> None:
    assert compared([sold(20, factor=0), agents(30)]) == [(DoubtKind.AMOUNTS_ZERO, "sold", "price")]


def test_amounts_are_compared_by_row_or_else_with_those_of_other_months() -> None:
    jump = [(DoubtKind.AMOUNTS_MULTIPLIED, "sold", "price")]
    assert compared([sold(20, factor=100), agents(30)]) == jump
    assert compared([sold(20, factor=100, month=FEBRUARY), agents(30)]) == jump
    assert compared([sold(20, factor=5, month=FEBRUARY), agents(30)]) == []


OFFICE_ID = "office_customer_id"
EARNED = (text(OFFICE_ID, OFFICE_ID), *(money(name, name) for name in ("commission", "price", "homes")))
TYPES = {"_month": pl.Date(), OFFICE_ID: pl.String()} | {column.name: pl.Float64() for column in EARNED[1:]}
Earned = Mapping[tuple[date, str], float | None]


def earned(amounts: Earned) -> pl.DataFrame:
    """What offices earned in some months: three amounts that are alike."""
    rows = [(month, office, amount, amount, amount) for (month, office), amount in amounts.items()]
    return pl.DataFrame(rows, TYPES, orient="row")


def doubted(held: Earned, came: Earned) -> list[tuple[DoubtKind, int, int]]:
    """What is doubted of a window of months of which what offices earned is held."""
    frame, columns = earned(held), ["commission", "price", "homes"]
    filled = dict(zip(columns, frame.select(pl.col(columns).count()).row(0), strict=True))
    nonzero = {name: frame.filter(pl.col(name) != 0).height for name in columns}
    sample = frame.filter(pl.col("homes") != 0)
    table = HeldTable(frame.height, filled, nonzero, (OFFICE_ID,), sample)
    comparison = Comparison({DECEMBER: 3, JANUARY: 3, FEBRUARY: 3}, {"office": table})
    now = earned(came).with_columns(pl.col(columns).cast(pl.Decimal(38, 4)))
    comparison.add([DECEMBER, JANUARY, FEBRUARY], [NormalizedTable("office", EARNED, now, (OFFICE_ID,))])
    return [(one.kind, one.part, one.whole) for one in comparison.doubts([])]


OFFICE = {(DECEMBER, "M1"): 5.0, (JANUARY, "M1"): 7.0, (FEBRUARY, "M1"): 8.0}
CHAIN = {
    (month, office): amount + 10 * place
    for (month, _), amount in OFFICE.items()
    for place, office in enumerate(("M1", "M2", "M3"))
}
NO_JANUARY = dict.fromkeys([(JANUARY, "M1"), (JANUARY, "M2"), (JANUARY, "M3")])


def changed(held: Earned, now: Earned) -> Earned:
    """What is held, with something else in some rows."""
    return {**held, **now}


def test_one_row_that_comes_without_the_amounts_it_had_is_doubted_among_others_and_alone() -> None:
    one: Earned = {(JANUARY, "M1"): None}
    assert doubted(OFFICE, changed(OFFICE, one)) == [(DoubtKind.ROWS_NULL, 1, 3)]
    assert doubted(CHAIN, changed(CHAIN, one)) == [(DoubtKind.ROWS_NULL, 1, 9)]
    assert doubted(CHAIN, changed(CHAIN, NO_JANUARY)) == [(DoubtKind.ROWS_NULL, 3, 9)]


def test_a_row_may_come_without_amounts_where_these_are_null_for_0() -> None:
    assert doubted(changed(OFFICE, {(DECEMBER, "M1"): None}), changed(OFFICE, {(JANUARY, "M1"): None})) == []


def test_a_month_or_two_of_an_office_may_become_0_and_not_all_of_several() -> None:
    zero: Earned = dict.fromkeys(OFFICE, 0.0)
    assert doubted(OFFICE, zero) == [(DoubtKind.ROWS_ZERO, 3, 3)]
    assert doubted(OFFICE, changed(zero, {(JANUARY, "M1"): 7.0})) == []
    assert doubted(OFFICE, changed(zero, {(JANUARY, "M9"): 7.0})) == []
    assert doubted(changed(OFFICE, {(JANUARY, "M1"): 0.0}), zero) == []


def test_a_month_may_become_0_for_two_of_three_offices_and_not_for_all() -> None:
    assert doubted(CHAIN, changed(CHAIN, dict.fromkeys(NO_JANUARY, 0.0))) == [(DoubtKind.ROWS_ZERO, 3, 9)]
    assert doubted(CHAIN, changed(CHAIN, {(JANUARY, "M1"): 0.0, (JANUARY, "M2"): 0.0})) == []


NO_OFFICE = {(month, "M1"): 0.0 for month in (DECEMBER, JANUARY, FEBRUARY)}


def test_all_months_of_one_office_do_not_become_0_while_the_others_stay_as_they_were() -> None:
    assert doubted(CHAIN, changed(CHAIN, NO_OFFICE)) == [(DoubtKind.ROWS_ZERO, 3, 9)]
    assert doubted(CHAIN, changed(CHAIN, {**NO_OFFICE, (JANUARY, "M1"): 1.0})) == []


@pytest.mark.parametrize("other", ["M2", "M9"])
def test_an_office_may_become_0_where_another_one_gains_what_it_had(other: str) -> None:
    gained = {(month, other): CHAIN.get((month, other), 0) + CHAIN[month, "M1"] for month, _ in NO_OFFICE}
    assert doubted(CHAIN, changed(CHAIN, {**NO_OFFICE, **gained})) == []


def test_few_rows_with_all_amounts_of_a_column_times_one_factor_are_doubted() -> None:
    times = {place: 100 * amount for place, amount in OFFICE.items()}
    assert doubted(OFFICE, times) == [(DoubtKind.AMOUNTS_MULTIPLIED, 3, 3)] * 3
    assert doubted(OFFICE, changed(times, {(JANUARY, "M1"): 7.0})) == []


@pytest.mark.parametrize(
    ("columns", "rows", "month", "is_doubted"),
    [
        (("fel", "kod"), 1, JANUARY, True),
        (("fel", "Points"), 1, JANUARY, False),
        (("fel", "kod"), 9, JANUARY, False),
        (("fel", "kod"), 1, FEBRUARY, False),
        ((), 1, JANUARY, False),
    ],
    ids=["strange", "one is known", "more than held", "nothing to replace", "nothing said"],
)
def test_rows_of_which_nothing_is_documented_are_not_replaced_by_others_without_a_column_of_theirs(
    columns: tuple[str, ...], rows: int, month: date, *, is_doubted: bool
) -> None:
    held = HeldTable(8, {"user_id": 8, "points": 8, "note": 0}, is_documented=False)
    frame = pl.DataFrame(
        {"_month": [month] * rows, "note": [None] * rows, **dict.fromkeys(columns, ["x"] * rows)}
    )
    comparison = Comparison({JANUARY: 8}, {"live": held})
    comparison.add([month], [NormalizedTable("live", (), frame, ())])
    assert [one.kind for one in comparison.doubts([])] == [DoubtKind.COLUMNS_REPLACED] * is_doubted


def test_amounts_of_a_new_month_are_compared_with_nothing_where_none_are_held() -> None:
    comparison = Comparison({JANUARY: 20}, {"sold": HeldTable(20, {"price": 20}, {"price": 0}, ("id",))})
    comparison.add([FEBRUARY], [sold(40, month=FEBRUARY)])
    assert comparison.doubts([]) == ()


def test_the_reason_names_table_and_column_and_the_remedy_that_it_may_be_renamed() -> None:
    found = [
        Doubt(DoubtKind.AMOUNTS_MULTIPLIED, 9, 10, "sold", "price", 1.25),
        Doubt(DoubtKind.TABLE_EMPTIED, 30, 30, "agents"),
        Doubt(DoubtKind.ROWS_NULL, 3, 9, "earned"),
    ]
    assert reason(found) == (
        "sold.price is 1.25 times what it was, in 9 of 10 amounts that changed, and agents has no row any "
        "more and had 30, and 3 of 9 rows of earned that had amounts have come without any; the old rows "
        "stay."
    )
    assert remedy(found) == f"If the service has renamed what is empty, adapt the report's block. {ASK}"
    assert remedy(found[:1]) == ASK
