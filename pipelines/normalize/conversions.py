"""Which kinds of values may become which types? Only conversions that keep what the value says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import polars as pl

from pipelines.normalize.kinds import FRACTION, LONG_FRACTION, LONG_WHOLE, NESTED, TEXT, TRUTH, WHOLE, Kinds
from pipelines.normalize.repeating import repeated
from pipelines.normalize.times import LOCAL, local_times

DIGITS_OF_A_FLOAT = 15  # decimal digits that every float keeps
EXACT_WHOLE = 2**53  # a float holds every whole number up to here
DIGITS_OF_A_DECIMAL = 18


@dataclass(frozen=True)
class Goal:
    """What values are to become: a DuckDB type, the polars type that carries it, and where clocks hang."""

    type: str
    dtype: pl.DataType
    scale: int = 0
    zone: str = "UTC"


@dataclass(frozen=True)
class Misfit:
    """Values of one kind that do not fit the type of their column."""

    kind: str
    mask: pl.Series


Conversion = Callable[[pl.Series, Goal], pl.Series]

DTYPES: Mapping[str, pl.DataType] = {
    "VARCHAR": pl.String(),
    "JSON": pl.String(),
    "BIGINT": pl.Int64(),
    "DOUBLE": pl.Float64(),
    "BOOLEAN": pl.Boolean(),
    "TIMESTAMP": LOCAL,
    "DECIMAL(18,4)": pl.Decimal(DIGITS_OF_A_DECIMAL, 4),
    "DECIMAL(18,8)": pl.Decimal(DIGITS_OF_A_DECIMAL, 8),
}
_NUMBER = re.compile(r"-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_TRUTHS = {"true": True, "false": False}


def converted(kinds: Kinds, type_: str, zone: str, length: int) -> tuple[pl.Series, list[Misfit]]:
    """All kinds of a documented column as its type, and which values do not fit."""
    dtype = DTYPES[type_]
    goal = Goal(type_.partition("(")[0], dtype, dtype.scale if isinstance(dtype, pl.Decimal) else 0, zone)
    result = repeated(None, dtype, length)
    misfits = []
    for number, (kind, values) in enumerate(kinds.items()):
        fitting = CONVERSIONS.get((goal.type, kind), _nothing)(values, goal)
        if fitting.null_count() != values.null_count():
            misfits.append(Misfit(kind, values.is_not_null() & fitting.is_null()))
        result = result.zip_with(result.is_not_null(), fitting) if number else fitting
    return result, misfits


def discovered(kinds: Kinds) -> tuple[pl.Series, str]:
    """All kinds of an undocumented column as the narrowest type that holds them, and that type."""
    type_ = _narrowest(kinds)
    result = None
    for kind, values in kinds.items():
        fitting = _floats(kind, values) if type_ == "DOUBLE" else values
        fitting = _any_text(kind, values) if type_ == "VARCHAR" else fitting
        result = fitting if result is None else result.zip_with(result.is_not_null(), fitting)
    if result is None:
        raise ValueError("a column without a value has no type")
    return result, type_


def exact_below(scale: int) -> float:
    """The size below which a float holds every digit that a decimal of this scale keeps."""
    return float(10 ** (DIGITS_OF_A_FLOAT - scale))


def canonical(number: float) -> str:
    """A fractional number as text, as DuckDB writes it; a whole one as its digits."""
    is_whole = number.is_integer() and abs(number) < EXACT_WHOLE
    return str(int(number)) if is_whole else repr(number)


def _narrowest(kinds: Kinds) -> str:
    alone = {TRUTH: "BOOLEAN", WHOLE: "BIGINT", FRACTION: "DOUBLE", NESTED: "JSON"}
    found = list(kinds)
    if len(found) == 1 and found[0] in alone:
        return alone[found[0]]
    is_number = set(found) <= {WHOLE, FRACTION, LONG_FRACTION}
    return "DOUBLE" if is_number and _floats_hold(kinds) else "VARCHAR"


def _floats_hold(kinds: Kinds) -> bool:
    whole = kinds.get(WHOLE, pl.Series(dtype=pl.Int64))
    long = _floats(LONG_FRACTION, kinds.get(LONG_FRACTION, pl.Series(dtype=pl.String)))
    return bool(whole.is_between(-EXACT_WHOLE, EXACT_WHOLE).all() and long.is_finite().all())


def _floats(kind: str, values: pl.Series) -> pl.Series:
    if kind == LONG_FRACTION:
        return _each(values, float, Goal("DOUBLE", pl.Float64()))
    return values.cast(pl.Float64)


def _any_text(kind: str, values: pl.Series) -> pl.Series:
    """Text as DuckDB makes it of a column that was narrower until now."""
    goal = Goal("VARCHAR", pl.String())
    if kind == TRUTH:
        return _each(values, lambda value: "true" if value else "false", goal)
    if kind == LONG_FRACTION:
        return _each(values, _text_of_long, goal)
    return values if kind == NESTED else CONVERSIONS["VARCHAR", kind](values, goal)


def _each(values: pl.Series, convert: Callable[[Any], Any], goal: Goal) -> pl.Series:
    return pl.Series([None if value is None else convert(value) for value in values], dtype=goal.dtype)


def _nothing(values: pl.Series, goal: Goal) -> pl.Series:
    return repeated(None, goal.dtype, len(values))


def _unchanged(values: pl.Series, goal: Goal) -> pl.Series:  # noqa: ARG001 (every conversion is told its goal)
    return values


def _one_by_one(convert: Callable[[Any], Any]) -> Conversion:
    return lambda values, goal: _each(values, convert, goal)


def _times(values: pl.Series, goal: Goal) -> pl.Series:
    return local_times(values, goal.zone)


def _text_of_long(text: str) -> str:
    number = float(text)
    return canonical(number) if number - number == 0 else text


def _whole_of(number: float | str) -> int | None:
    text = str(number)
    exact = Decimal(text) if _NUMBER.fullmatch(text) else Decimal("NaN")
    is_whole = exact.is_finite() and abs(exact) < 2**63 and exact == int(exact)
    return int(exact) if is_whole else None


def _decimals_of_text(values: pl.Series, goal: Goal) -> pl.Series:
    return _each(values, lambda text: _decimal_of(text, goal.scale), goal)


def _decimals_of_whole(values: pl.Series, goal: Goal) -> pl.Series:
    most = 10 ** (DIGITS_OF_A_DECIMAL - goal.scale) - 1
    return values.set(~values.is_between(-most, most), None).cast(goal.dtype)


def _decimals_of_fraction(values: pl.Series, goal: Goal) -> pl.Series:
    return _rounded(values, values, goal)


def _decimals_of_long(values: pl.Series, goal: Goal) -> pl.Series:
    return _rounded(_floats(LONG_FRACTION, values), values, goal)


def _rounded(numbers: pl.Series, written: pl.Series, goal: Goal) -> pl.Series:
    """As the float rounds; where a float is too large to hold all decimals, as its text does."""
    is_small = numbers.abs() < exact_below(goal.scale)
    if is_small.all():
        return numbers.cast(goal.dtype)
    small = numbers.set(~is_small, None).cast(goal.dtype)
    large = _each(written.set(is_small, None), lambda number: _decimal_of(str(number), goal.scale), goal)
    return small.zip_with(small.is_not_null(), large)


def _decimal_of(text: str, scale: int) -> Decimal | None:
    if not _NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    if abs(number) >= 10 ** (DIGITS_OF_A_DECIMAL - scale):
        return None
    rounded = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_EVEN)
    return rounded if abs(rounded) < 10 ** (DIGITS_OF_A_DECIMAL - scale) else None


CONVERSIONS: Mapping[tuple[str, str], Conversion] = {
    ("VARCHAR", TEXT): _unchanged,
    ("VARCHAR", WHOLE): lambda values, goal: values.cast(goal.dtype),
    ("VARCHAR", LONG_WHOLE): _unchanged,
    ("VARCHAR", FRACTION): _one_by_one(canonical),
    ("VARCHAR", LONG_FRACTION): _unchanged,
    ("BIGINT", WHOLE): _unchanged,
    ("BIGINT", FRACTION): _one_by_one(_whole_of),
    ("BIGINT", LONG_FRACTION): _one_by_one(_whole_of),
    ("BIGINT", TEXT): _one_by_one(_whole_of),
    ("BOOLEAN", TRUTH): _unchanged,
    ("BOOLEAN", WHOLE): _one_by_one({0: False, 1: True}.get),
    ("BOOLEAN", TEXT): _one_by_one(lambda text: _TRUTHS.get(text.lower())),
    ("TIMESTAMP", TEXT): _times,
    ("DECIMAL", TEXT): _decimals_of_text,
    ("DECIMAL", LONG_FRACTION): _decimals_of_long,
    ("DECIMAL", WHOLE): _decimals_of_whole,
    ("DECIMAL", FRACTION): _decimals_of_fraction,
}
