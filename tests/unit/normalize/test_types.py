"""Tests of types: values become what is documented without a change, others the narrowest type."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.normalize.types import AMBIGUOUS, convert_values, float_as_text, infer_type, kinds_of

NOTHING = None
MONEY = "DECIMAL(18,4)"
NO_MONEY = [True, "1,5.5", "5 kr", "\u22125", "abc", 10**14, 1e300, Decimal("1e400"), 10**30, [1], {}]


def as_type(type_: str, *values: Any, decimal: str = "") -> list[Any]:
    kinds = kinds_of(list(values))
    return convert_values(kinds, type_, "Europe/Stockholm", len(values), decimal=decimal)[0].to_list()


def misfits(type_: str, *values: Any) -> dict[str, int]:
    found = convert_values(kinds_of(list(values)), type_, "Europe/Stockholm", len(values))[1]
    return {kind: int(mask.sum()) for kind, mask in found.items()}


@pytest.mark.parametrize(
    ("type_", "value", "fitting"),
    [
        (MONEY, 1250, Decimal(1250)),
        (MONEY, 0.1, Decimal("0.1")),
        (MONEY, 33333.333333333336, Decimal("33333.3333")),
        (MONEY, -0.0, Decimal(0)),
        (MONEY, "", None),
        (MONEY, 12345678901234.5, Decimal("12345678901234.5")),
        (MONEY, Decimal("12345678901234.5678"), Decimal("12345678901234.5678")),
        ("VARCHAR", "text", "text"),
        ("VARCHAR", 12, "12"),
        ("VARCHAR", 12.0, "12"),
        ("VARCHAR", 10**20, "1" + "0" * 20),
        ("BIGINT", 12.0, 12),
        ("TIMESTAMP", " ", None),
        ("VARCHAR", "", ""),
        ("BOOLEAN", True, True),
        ("BOOLEAN", "False", False),
    ],
)
def test_a_lossless_conversion_is_made(type_: str, value: Any, fitting: Any) -> None:
    assert as_type(type_, value) == [fitting]
    assert misfits(type_, value) == {}


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        *((MONEY, value) for value in NO_MONEY),
        ("VARCHAR", True),
        ("VARCHAR", ["a"]),
        ("BIGINT", 12.5),
        ("BIGINT", True),
        ("BIGINT", 2**63),
        ("BIGINT", "twelve"),
        ("BOOLEAN", 2),
        ("BOOLEAN", "yes"),
        ("TIMESTAMP", 1767225600),
        ("TIMESTAMP", True),
    ],
)
def test_a_conversion_that_would_guess_is_not_made(type_: str, value: Any) -> None:
    assert as_type(type_, value) == [NOTHING]
    assert sum(misfits(type_, value).values()) == 1


@pytest.mark.parametrize(
    ("texts", "decimal", "numbers"),
    [
        (["524 321,51"], "", ["524321.51"]),
        (["-1\u00a0234\u00a0567"], "", ["-1234567"]),
        (["363.000", "1.250.000", "x"], ".", ["363000", "1250000", None]),
        (["363.000", "0.500"], ",", ["363", "0.5"]),
        (["363.000", " 7 ", "", None], "", [None, "7", None, None]),
        (["363.000"], ".", ["363"]),
        (["363.000"], ",", ["363000"]),
        (["1,234,567.5"], ",", ["1234567.5"]),
        (["1.5", "1,5", "363,000"], "", ["1.5", None, None]),
    ],
)
def test_numbers_in_texts_have_the_decimal_mark_that_fits_all_or_else_the_declared_one(
    texts: list[Any], decimal: str, numbers: list[str | None]
) -> None:
    expected = [None if number is None else Decimal(number) for number in numbers]
    assert as_type(MONEY, *texts, decimal=decimal) == expected
    assert misfits(MONEY, "363.000", "7", "x") == {"a text": 1, AMBIGUOUS: 1}


def test_ids_and_names_are_stripped_and_in_composed_form() -> None:
    assert as_type("VARCHAR", " M1 ", "Ga\u0308vle", "Gävle\u00a0") == ["M1", "Gävle", "Gävle"]
    assert infer_type(kinds_of(["Ga\u0308vle "]))[0].to_list() == ["Gävle"]


@pytest.mark.parametrize("unset", ["0001-01-01", "0001-01-01T00:00:00", "0001-01-01T00:00:00.0000000"])
@pytest.mark.parametrize("offset", ["", "Z", "+00:00", "+02:00", "-05:00"])
def test_the_first_time_of_the_calendar_is_an_unset_date(unset: str, offset: str) -> None:
    text = unset + offset if "T" in unset else unset
    for unset_text in (text, "0001-01-01T01:12:12", "0000-12-31T23:00:00Z"):
        assert as_type("TIMESTAMP", unset_text, "0001-01-02") == [None, datetime(1, 1, 2)]
        assert misfits("TIMESTAMP", unset_text) == {}
    assert as_type("VARCHAR", text) == [text]


@pytest.mark.parametrize("type_", [MONEY, "DECIMAL(18,8)", "BIGINT"])
@pytest.mark.parametrize("none", ["NaN", "Infinity", "-Infinity", float("nan"), float("-inf")])
def test_the_result_of_a_division_by_zero_is_null_but_fits(type_: str, none: Any) -> None:
    assert as_type(type_, none, 2.0) == [None, 2]
    assert misfits(type_, none, 2.0) == {}
    assert misfits(type_, none, "x") == {"a text": 1}
    assert as_type("VARCHAR", "NaN") == ["NaN"]


def test_a_column_of_many_kinds_keeps_every_value_that_fits() -> None:
    assert as_type(MONEY, 1, None, 2.5, "3", True, "x") == [
        Decimal(1), NOTHING, Decimal("2.5"), Decimal(3), NOTHING, NOTHING,
    ]  # fmt: skip
    assert misfits(MONEY, 1, None, 2.5, "3", True, "x") == {"a text": 1, "true or false": 1}


@given(st.decimals(min_value=-(10**10), max_value=10**10, places=4, allow_nan=False))
def test_an_amount_of_four_decimals_is_stored_to_the_last_one(amount: Decimal) -> None:
    assert as_type(MONEY, float(amount), str(amount)) == [amount, amount]


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([True, None], "BOOLEAN"),
        ([1, 2], "BIGINT"),
        ([1, 2.5], "DOUBLE"),
        ([Decimal("0.12345678901234567890")], "DOUBLE"),
        (["2026-01-01T00:00:00"], "VARCHAR"),
        ([1, "a"], "VARCHAR"),
        ([1, True], "VARCHAR"),
        ([2**63], "VARCHAR"),
        ([2**60, 0.5], "VARCHAR"),
        ([Decimal("1e400")], "VARCHAR"),
        ([[1, 2]], "JSON"),
    ],
)
def test_an_undocumented_column_has_the_narrowest_type_that_fits(values: list[Any], type_: str) -> None:
    assert infer_type(kinds_of(values))[1] == type_


def test_mixed_kinds_become_the_same_values_as_text() -> None:
    values = [1, 2.0, 2.5, True, "x", 10**20, [1], None, Decimal("1E+400")]
    text = ["1", "2", "2.5", "true", "x", "1" + "0" * 20, "[1]", None, "1E+400"]
    assert infer_type(kinds_of(values))[0].to_list() == text


def test_a_fraction_as_text_is_written_as_by_duckdb() -> None:
    numbers = [number / 7 * 10.0**power for power in range(-300, 300, 7) for number in (-1, 1, 3, 10, 1e7)]
    cast = duckdb.connect().execute("select unnest($1::double[])::varchar", [numbers]).fetchall()
    assert [(float_as_text(number),) for number in numbers if not number.is_integer()] == [
        text for text, number in zip(cast, numbers, strict=True) if not number.is_integer()
    ]


def test_a_whole_float_as_text_has_no_decimal_point_if_it_is_exact() -> None:
    assert [float_as_text(number) for number in (2.0, -0.0, 2.0**53 - 1, 2.0**53, 1e16)] == [
        "2", "0", "9007199254740991", "9007199254740992.0", "1e+16",
    ]  # fmt: skip
