"""The kinds of JSON values in a column, and their conversion to column types."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_EVEN, Decimal
from functools import reduce
from math import isfinite
from typing import Any

import polars as pl

from pipelines.foreign_text import tidy
from pipelines.normalize.document import Json, to_json
from pipelines.normalize.times import LOCAL, local_days, local_times, null_if_unset

# The kinds of JSON values. These words also appear in the reasons for rejected rows.
TEXT = "a text"
AMBIGUOUS = "a number in two ways (set decimal in shapes.toml)"  # see `plain_numbers`
WHOLE = "a whole number"
FRACTION = "a fractional number"
BOOLEAN = "true or false"
LONG_WHOLE = "a whole number too long for 64 bits"  # stored as a string of digits
LONG_FRACTION = "a number too long for a float"  # stored as a string
NESTED = "an object or a list"  # stored as JSON text, if it cannot become columns or tables

Kinds = Mapping[str, pl.Series]  # a column's values by kind; null where a value is of another kind

DIGITS_OF_A_FLOAT = 15  # decimal digits that a float always preserves
EXACT_WHOLE = 2**53  # a float can represent every whole number up to here
DIGITS_OF_A_DECIMAL = 18
NON_NUMBERS = ("NaN", "Infinity", "-Infinity")  # how .NET writes results of divisions by zero
UNSET_ID = r"^\s*(?:0+(?:\.0+)?|0{8}-0{4}-0{4}-0{4}-0{12})?\s*$"  # how .NET writes an unset id
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
    bool: (BOOLEAN, pl.Boolean()),
}
_TYPE_OF_KIND = {BOOLEAN: "BOOLEAN", WHOLE: "BIGINT", FRACTION: "DOUBLE", NESTED: "JSON"}
_NUMBER = re.compile(r"-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_WRITTEN_NUMBER = (
    r"^-?(?:\d+|[1-9]\d{{0,2}}(?:[ \x{{a0}}\x{{202f}}{1}]\d{{3}})+)(?:[{0}]\d+)?(?:[eE][+-]?\d{{1,3}})?$"
)
"""The pattern of a number in a text: {0} is the decimal mark, and {1} may separate thousands."""
_BOOLEANS = {"true": True, "false": False}
_LONG = 2**63  # a whole number from here on is too long for 64 bits


def constant(value: object, dtype: pl.DataType, length: int) -> pl.Series:
    """A series that repeats one value, which may be null."""
    return pl.Series([value], dtype=dtype).new_from_index(0, length)


def kinds_of(values: list[Json]) -> Kinds:
    """The values by kind: a series for each kind, null where a value is of another kind."""
    types = set(map(type, values)) - {type(None)}
    kinds: dict[str, pl.Series] = {}
    for type_, (kind, dtype) in _KIND_OF.items():
        if type_ in types:
            typed: list[Any] = (
                values if len(types) == 1 else [value if type(value) is type_ else None for value in values]
            )
            if type_ is str:
                typed = [text and tidy(text) for text in typed]
            try:
                kinds[kind] = pl.Series(typed, dtype=dtype)
            except (TypeError, OverflowError):  # some whole numbers are too long for 64 bits
                short = [value if value is not None and -_LONG <= value < _LONG else None for value in typed]
                if any(value is not None for value in short):
                    kinds[WHOLE] = pl.Series(short, dtype=dtype)
                long = [None if value is None or -_LONG <= value < _LONG else str(value) for value in typed]
                kinds[LONG_WHOLE] = pl.Series(long, dtype=pl.String)
    if Decimal in types:
        texts = [str(value) if type(value) is Decimal else None for value in values]
        kinds[LONG_FRACTION] = pl.Series(texts, dtype=pl.String)
    if list in types or dict in types:
        texts = [to_json(value) if isinstance(value, list | dict) else None for value in values]
        kinds[NESTED] = pl.Series(texts, dtype=pl.String)
    return kinds


def convert_values(
    kinds: Kinds, type_: str, zone: str, length: int, *, is_day: bool = False, decimal: str = ""
) -> tuple[pl.Series, dict[str, pl.Series]]:
    """Convert values to a column's type; misfits become null. Returns also a mask of the misfits by kind."""
    parts = []
    misfits = {}
    if TEXT in kinds and DTYPES[type_].is_numeric():
        kinds = {**kinds, **plain_numbers(kinds[TEXT], decimal)}
    for kind, kind_values in kinds.items():
        is_time = (type_, kind) == ("TIMESTAMP", TEXT)
        values = null_if_unset(kind_values) if is_time else kind_values
        fitting = _as_type(kind, values, type_, zone)
        if is_time and is_day:
            fitting = local_days(values, fitting, zone)
        if fitting.null_count() != values.null_count():
            is_misfit = values.is_not_null() & fitting.is_null() & ~_is_unset(kind, values, type_)
            if is_misfit.any():
                misfits[kind] = is_misfit
        parts.append(fitting)
    return _combine_parts(parts) if parts else constant(None, DTYPES[type_], length), misfits


def plain_numbers(texts: pl.Series, decimal: str) -> Kinds:
    """Rewrite numbers in texts as JSON writes them: `1 234,5` and `1.234,5` become `1234.5`.

    All texts are read with the same decimal mark: the only one (of point and comma) that fits all numbers, or
    else `decimal`. If that is empty, `1.250` is ambiguous, and other numbers have a point. The other mark, or
    a blank, may separate thousands. A number that does not fit gets a '?' appended, so that it is rejected.
    """
    texts = texts.str.strip_chars()
    others = {".": ",", ",": "."}
    fitting = {mark: texts.str.contains(_WRITTEN_NUMBER.format(mark, others[mark])) for mark in others}
    is_number = fitting["."] | fitting[","]
    marks = [mark for mark, fit in fitting.items() if (fit | ~is_number).all()]
    mark = marks[0] if len(marks) == 1 else decimal or "."
    plain = texts.str.replace_many([" ", "\xa0", "\u202f", others[mark], mark], ["", "", "", "", "."])
    plain = plain.zip_with(fitting[mark], texts.zip_with(~is_number, texts + "?"))
    if len(marks) == 1 or decimal:
        return {TEXT: plain}
    is_ambiguous = fitting["."] & fitting[","] & texts.str.contains("[.,]")
    return {TEXT: plain.set(is_ambiguous, None), AMBIGUOUS: texts.set(~is_ambiguous, None)}


def infer_type(kinds: Kinds) -> tuple[pl.Series, str]:
    """The values of an undeclared column in the narrowest type that fits them all, and that type."""
    if len(kinds) == 1 and (kind := next(iter(kinds))) in _TYPE_OF_KIND:
        return kinds[kind], _TYPE_OF_KIND[kind]
    if kinds.keys() <= {WHOLE, FRACTION, LONG_FRACTION}:
        is_exact = WHOLE not in kinds or kinds[WHOLE].is_between(-EXACT_WHOLE, EXACT_WHOLE).all()
        floats = _combine_parts([_floats(values) for values in kinds.values()])
        if is_exact and (LONG_FRACTION not in kinds or floats.is_finite().all()):
            return floats, "DOUBLE"
    texts = [
        _map(values, _AS_TEXT[kind], pl.String()) if kind in _AS_TEXT else values
        for kind, values in kinds.items()
    ]
    return _combine_parts(texts), "VARCHAR"


def float_as_text(number: float) -> str:
    """A float as text: as DuckDB writes it, but an exact whole number without a decimal point."""
    return str(int(number)) if number.is_integer() and abs(number) < EXACT_WHOLE else repr(number)


def _combine_parts(parts: list[pl.Series]) -> pl.Series:
    return reduce(lambda first, second: first.zip_with(first.is_not_null(), second), parts)


def _map(values: pl.Series, convert: Callable[[Any], Any], dtype: pl.DataType) -> pl.Series:
    return pl.Series([None if value is None else convert(value) for value in values], dtype=dtype)


def _floats(values: pl.Series) -> pl.Series:
    return _map(values, float, pl.Float64()) if values.dtype == pl.String else values.cast(pl.Float64)


def _is_unset(kind: str, values: pl.Series, type_: str) -> pl.Series:
    """A mask of the values that mean null: blank texts and, in numeric columns, NaN and infinity."""
    if kind == TEXT:
        is_blank = values.str.strip_chars() == ""
        return is_blank | values.is_in(NON_NUMBERS) if DTYPES[type_].is_numeric() else is_blank
    if DTYPES[type_].is_numeric() and kind == FRACTION:
        return ~values.is_finite()
    return constant(False, pl.Boolean(), len(values))


def _as_type(kind: str, values: pl.Series, type_: str, zone: str) -> pl.Series:
    """Values of one kind in the type of a declared column; null if a value does not fit."""
    dtype = DTYPES[type_]
    if values.dtype == dtype and kind != NESTED:
        return values
    if isinstance(dtype, pl.Decimal) and kind in {WHOLE, FRACTION, LONG_FRACTION, TEXT}:
        return _decimals(kind, values, dtype)
    if (type_, kind) == ("TIMESTAMP", TEXT):
        return local_times(values, zone)
    convert = _CONVERSIONS.get((type_, kind))
    return _map(values, convert, dtype) if convert else constant(None, dtype, len(values))


def _decimals(kind: str, values: pl.Series, dtype: pl.Decimal) -> pl.Series:
    if kind == WHOLE:
        bound = 10 ** (DIGITS_OF_A_DECIMAL - dtype.scale) - 1
        return values.set(~values.is_between(-bound, bound), None).cast(dtype)
    if kind == TEXT:
        return _map(values, lambda text: _to_decimal(text, dtype.scale), dtype)
    numbers = _floats(values)
    is_small = numbers.abs() < 10.0 ** (DIGITS_OF_A_FLOAT - dtype.scale)  # a cast could change larger numbers
    if is_small.all():
        return numbers.cast(dtype)
    small = numbers.set(~is_small, None).cast(dtype)
    large = _map(values.set(is_small, None), lambda number: _to_decimal(str(number), dtype.scale), dtype)
    return _combine_parts([small, large])


def parse_number(text: str) -> Decimal:
    """Read a number that is written as in JSON; leading zeros are also allowed.

    Returns NaN for any other text, and for a number with more than 40 digits before or after its point.
    """
    return Decimal(text) if _NUMBER.fullmatch(text.strip()) else Decimal("NaN")


def _to_decimal(text: str, scale: int) -> Decimal | None:
    number = parse_number(text)
    bound = 10 ** (DIGITS_OF_A_DECIMAL - scale)
    if not number.is_finite() or abs(number) >= bound:
        return None
    rounded = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_EVEN)
    return rounded if abs(rounded) < bound else None


def _to_whole(number: float | str) -> int | None:
    exact = parse_number(str(number))
    return int(exact) if exact.is_finite() and abs(exact) < _LONG and exact == int(exact) else None


def _long_as_text(text: str) -> str:
    number = float(text)
    return float_as_text(number) if isfinite(number) else text


_CONVERSIONS: Mapping[tuple[str, str], Callable[[Any], Any]] = {
    ("VARCHAR", WHOLE): str,
    ("VARCHAR", FRACTION): float_as_text,
    ("BIGINT", FRACTION): _to_whole,
    ("BIGINT", LONG_FRACTION): _to_whole,
    ("BIGINT", TEXT): _to_whole,
    ("BOOLEAN", WHOLE): {0: False, 1: True}.get,
    ("BOOLEAN", TEXT): lambda text: _BOOLEANS.get(text.lower()),
}
# How a value becomes text, by kind. When the warehouse widens a column to VARCHAR, it makes the same texts.
_AS_TEXT: Mapping[str, Callable[[Any], str]] = {
    WHOLE: str,
    FRACTION: float_as_text,
    BOOLEAN: lambda value: "true" if value else "false",
    LONG_FRACTION: _long_as_text,
}
