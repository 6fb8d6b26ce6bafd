"""The kinds of JSON values in a column, and their conversion to column types without a change of value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cache
from typing import Any

import polars as pl

from pipelines.normalize.document import Json, Number, to_json
from pipelines.normalize.times import LOCAL, local_times

TEXT, WHOLE, FRACTION, TRUTH = "text", "whole", "fraction", "truth"
LONG_WHOLE = "long whole"  # whole numbers that 64 bits do not hold, as digits
LONG_FRACTION = "long fraction"  # numbers of which a float does not hold all digits, as they were written
NESTED = "nested"  # lists and objects that cannot become columns or tables, as JSON

Kinds = Mapping[str, pl.Series]  # the values of a column by kind, null where they are of another kind

KIND_IN_WORDS = {
    TEXT: "a text",
    WHOLE: "a whole number",
    FRACTION: "a fractional number",
    TRUTH: "true or false",
    LONG_WHOLE: "a whole number too long for 64 bits",
    LONG_FRACTION: "a number too long for a float",
    NESTED: "an object or a list",
}
DIGITS_OF_A_FLOAT = 15  # decimal digits that every float keeps
EXACT_WHOLE = 2**53  # a float holds every whole number up to here
DIGITS_OF_A_DECIMAL = 18
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
_KIND_OF: Mapping[type, tuple[str, pl.DataType]] = {
    str: (TEXT, pl.String()),
    int: (WHOLE, pl.Int64()),
    float: (FRACTION, pl.Float64()),
    bool: (TRUTH, pl.Boolean()),
}
_JSON_TYPES_ALONE = {TRUTH: "BOOLEAN", WHOLE: "BIGINT", FRACTION: "DOUBLE", NESTED: "JSON"}
_NUMBER = re.compile(r"-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_TRUTHS = {"true": True, "false": False}
_LONG = 2**63


@dataclass(frozen=True)
class Misfit:
    """Values of one kind that do not fit the type of their column."""

    kind: str
    mask: pl.Series


def constant(value: object, dtype: pl.DataType, length: int) -> pl.Series:
    """So many rows of one value, which may be null."""
    one = _null(dtype) if value is None else pl.Series([value], dtype=dtype)
    return one.new_from_index(0, length)


@cache
def _null(dtype: pl.DataType) -> pl.Series:
    return pl.Series([None], dtype=dtype)


def kinds_of(values: list[Json]) -> Kinds:
    """The values by kind, decided by the set of their Python types."""
    types = set(map(type, values))
    types.discard(type(None))
    kinds: dict[str, pl.Series] = {}
    for type_, (kind, dtype) in _KIND_OF.items():
        if type_ in types:
            own: list[Any] = (
                values if len(types) == 1 else [one if type(one) is type_ else None for one in values]
            )
            if type_ is int:
                kinds |= _whole_numbers(own)
            else:
                kinds[kind] = pl.Series(own, dtype=dtype)
    if Number in types:
        texts = [one.text if type(one) is Number else None for one in values]
        kinds[LONG_FRACTION] = pl.Series(texts, dtype=pl.String)
    if list in types or dict in types:
        texts = [to_json(one) if isinstance(one, list | dict) else None for one in values]
        kinds[NESTED] = pl.Series(texts, dtype=pl.String)
    return kinds


def _whole_numbers(values: list[int | None]) -> Kinds:
    try:
        return {WHOLE: pl.Series(values, dtype=pl.Int64)}
    except (TypeError, OverflowError):
        is_short = [one is not None and -_LONG <= one < _LONG for one in values]
        short = [one if is_one else None for one, is_one in zip(values, is_short, strict=True)]
        long = [
            None if one is None or is_one else str(one) for one, is_one in zip(values, is_short, strict=True)
        ]
        kinds = {WHOLE: pl.Series(short, dtype=pl.Int64)} if any(is_short) else {}
        return {**kinds, LONG_WHOLE: pl.Series(long, dtype=pl.String)}


def may_lack_digits(kinds: Kinds, type_: str | None) -> bool:
    """Whether values that were read as floats may have had digits that their type, if any, would keep."""
    if NESTED in kinds or FRACTION not in kinds:
        return NESTED in kinds
    dtype = DTYPES[type_] if type_ else pl.Float64()
    if isinstance(dtype, pl.Float64):
        return bool(
            (kinds[FRACTION].abs() >= _LONG).any()
        )  # a whole number that is too long is read as a float
    return not isinstance(dtype, pl.Decimal) or bool(
        (kinds[FRACTION].abs() >= exact_below(dtype.scale)).any()
    )


def converted(kinds: Kinds, type_: str, zone: str, length: int) -> tuple[pl.Series, list[Misfit]]:
    """All kinds of a documented column as its type, and which values do not fit."""
    dtype = DTYPES[type_]
    goal = _Goal(type_.partition("(")[0], dtype, dtype.scale if isinstance(dtype, pl.Decimal) else 0, zone)
    result = None
    misfits = []
    for kind, values in kinds.items():
        convert = _CONVERSIONS.get((goal.type, kind))
        fitting = convert(values, goal) if convert else constant(None, dtype, length)
        if fitting.null_count() != values.null_count():
            misfits.append(Misfit(kind, values.is_not_null() & fitting.is_null()))
        result = fitting if result is None else result.zip_with(result.is_not_null(), fitting)
    return constant(None, dtype, length) if result is None else result, misfits


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


@dataclass(frozen=True)
class _Goal:
    """What values are to become: a DuckDB type, the polars type that carries it, and the time zone."""

    type: str
    dtype: pl.DataType
    scale: int = 0
    zone: str = "UTC"


_Conversion = Callable[[pl.Series, _Goal], pl.Series]


def _narrowest(kinds: Kinds) -> str:
    found = list(kinds)
    if len(found) == 1 and found[0] in _JSON_TYPES_ALONE:
        return _JSON_TYPES_ALONE[found[0]]
    is_number = set(found) <= {WHOLE, FRACTION, LONG_FRACTION}
    return "DOUBLE" if is_number and _floats_hold(kinds) else "VARCHAR"


def _floats_hold(kinds: Kinds) -> bool:
    whole = kinds.get(WHOLE, pl.Series(dtype=pl.Int64))
    long = _floats(LONG_FRACTION, kinds.get(LONG_FRACTION, pl.Series(dtype=pl.String)))
    return bool(whole.is_between(-EXACT_WHOLE, EXACT_WHOLE).all() and long.is_finite().all())


def _floats(kind: str, values: pl.Series) -> pl.Series:
    return _each(values, float, pl.Float64()) if kind == LONG_FRACTION else values.cast(pl.Float64)


def _any_text(kind: str, values: pl.Series) -> pl.Series:
    """Text as DuckDB makes it of a column that was narrower until now."""
    if kind == TRUTH:
        return _each(values, lambda value: "true" if value else "false", pl.String())
    if kind == LONG_FRACTION:
        return _each(values, _text_of_long, pl.String())
    return values if kind == NESTED else _CONVERSIONS["VARCHAR", kind](values, _Goal("VARCHAR", pl.String()))


def _each(values: pl.Series, convert: Callable[[Any], Any], dtype: pl.DataType) -> pl.Series:
    converted_values: Sequence[Any] = [None if value is None else convert(value) for value in values]
    return pl.Series(converted_values, dtype=dtype)


def _singly(convert: Callable[[Any], Any]) -> _Conversion:
    return lambda values, goal: _each(values, convert, goal.dtype)


def _unchanged(values: pl.Series, goal: _Goal) -> pl.Series:  # noqa: ARG001 (every conversion is given its goal)
    return values


def _text_of_long(text: str) -> str:
    number = float(text)
    return canonical(number) if number - number == 0 else text


def _whole_of(number: float | str) -> int | None:
    text = str(number)
    exact = Decimal(text) if _NUMBER.fullmatch(text) else Decimal("NaN")
    is_whole = exact.is_finite() and abs(exact) < _LONG and exact == int(exact)
    return int(exact) if is_whole else None


def _decimals_of_whole(values: pl.Series, goal: _Goal) -> pl.Series:
    most = 10 ** (DIGITS_OF_A_DECIMAL - goal.scale) - 1
    return values.set(~values.is_between(-most, most), None).cast(goal.dtype)


def _decimals_of_numbers(values: pl.Series, goal: _Goal) -> pl.Series:
    """As the float rounds; where a float is too large to hold all decimals, as its text does."""
    numbers = _floats(LONG_FRACTION, values) if values.dtype == pl.String else values
    is_small = numbers.abs() < exact_below(goal.scale)
    if is_small.all():
        return numbers.cast(goal.dtype)
    small = numbers.set(~is_small, None).cast(goal.dtype)
    large = _each(values.set(is_small, None), lambda one: _decimal_of(str(one), goal.scale), goal.dtype)
    return small.zip_with(small.is_not_null(), large)


def _decimal_of(text: str, scale: int) -> Decimal | None:
    number = Decimal(text) if _NUMBER.fullmatch(text) else Decimal("NaN")
    most = 10 ** (DIGITS_OF_A_DECIMAL - scale)
    if not number.is_finite() or abs(number) >= most:
        return None
    rounded = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_EVEN)
    return rounded if abs(rounded) < most else None


_CONVERSIONS: Mapping[tuple[str, str], _Conversion] = {
    ("VARCHAR", TEXT): _unchanged,
    ("VARCHAR", WHOLE): lambda values, goal: values.cast(goal.dtype),
    ("VARCHAR", LONG_WHOLE): _unchanged,
    ("VARCHAR", FRACTION): _singly(canonical),
    ("VARCHAR", LONG_FRACTION): _unchanged,
    ("BIGINT", WHOLE): _unchanged,
    ("BIGINT", FRACTION): _singly(_whole_of),
    ("BIGINT", LONG_FRACTION): _singly(_whole_of),
    ("BIGINT", TEXT): _singly(_whole_of),
    ("BOOLEAN", TRUTH): _unchanged,
    ("BOOLEAN", WHOLE): _singly({0: False, 1: True}.get),
    ("BOOLEAN", TEXT): _singly(lambda text: _TRUTHS.get(text.lower())),
    ("TIMESTAMP", TEXT): lambda values, goal: local_times(values, goal.zone),
    ("DECIMAL", TEXT): lambda values, goal: _each(
        values, lambda text: _decimal_of(text, goal.scale), goal.dtype
    ),
    ("DECIMAL", WHOLE): _decimals_of_whole,
    ("DECIMAL", FRACTION): _decimals_of_numbers,
    ("DECIMAL", LONG_FRACTION): _decimals_of_numbers,
}
