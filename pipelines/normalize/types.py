"""The kinds of JSON values in a column, and their conversion to column types without a change of value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_HALF_EVEN, Decimal
from functools import reduce
from typing import Any
from unicodedata import normalize

import polars as pl

from pipelines.normalize.document import Json, to_json
from pipelines.normalize.times import LOCAL, local_days, local_times, without_unset

# Kinds of values, as reasons of rejected rows name them.
TEXT = "a text"
WHOLE = "a whole number"
FRACTION = "a fractional number"
TRUTH = "true or false"
LONG_WHOLE = "a whole number too long for 64 bits"  # as digits
LONG_FRACTION = "a number too long for a float"  # as it was written
NESTED = "an object or a list"  # as JSON: those that cannot become columns or tables

Kinds = Mapping[str, pl.Series]  # the values of a column by kind, null where they are of another kind

DIGITS_OF_A_FLOAT = 15  # decimal digits that every float keeps
EXACT_WHOLE = 2**53  # a float holds every whole number up to here
DIGITS_OF_A_DECIMAL = 18
NO_NUMBERS = ("NaN", "Infinity", "-Infinity")  # how .NET writes what divisions by zero give
NO_ID = r"^\s*(?:0+(?:\.0+)?|0{8}-0{4}-0{4}-0{4}-0{12})?\s*$"  # .NET writes so what is not set
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
_TYPE_OF_KIND = {TRUTH: "BOOLEAN", WHOLE: "BIGINT", FRACTION: "DOUBLE", NESTED: "JSON"}
_NUMBER = re.compile(r"-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_WRITTEN_NUMBER = (
    r"^-?(?:\d+|\d{{1,3}}(?:[ \x{{a0}}\x{{202f}}{1}]\d{{3}})+)(?:[{0}]\d+)?(?:[eE][+-]?\d{{1,3}})?$"
)
"""A number with this before its fraction, and that between thousands."""
_NO_NUMBER = "?"
_TRUTHS = {"true": True, "false": False}
_LONG = 2**63


def constant(value: object, dtype: pl.DataType, length: int) -> pl.Series:
    """So many rows of one value, which may be null."""
    return pl.Series([value], dtype=dtype).new_from_index(0, length)


def kinds_of(values: list[Json]) -> Kinds:
    """The values by kind, decided by the set of their Python types."""
    types = set(map(type, values)) - {type(None)}
    kinds: dict[str, pl.Series] = {}
    for type_, (kind, dtype) in _KIND_OF.items():
        if type_ in types:
            own: list[Any] = (
                values if len(types) == 1 else [value if type(value) is type_ else None for value in values]
            )
            if type_ is str:
                own = tidied(own)
            try:
                kinds[kind] = pl.Series(own, dtype=dtype)
            except (TypeError, OverflowError):  # whole numbers that 64 bits do not hold
                short = [value if value is not None and -_LONG <= value < _LONG else None for value in own]
                if any(value is not None for value in short):
                    kinds[WHOLE] = pl.Series(short, dtype=dtype)
                long = [None if value is None or -_LONG <= value < _LONG else str(value) for value in own]
                kinds[LONG_WHOLE] = pl.Series(long, dtype=pl.String)
    if Decimal in types:
        texts = [str(value) if type(value) is Decimal else None for value in values]
        kinds[LONG_FRACTION] = pl.Series(texts, dtype=pl.String)
    if list in types or dict in types:
        texts = [to_json(value) if isinstance(value, list | dict) else None for value in values]
        kinds[NESTED] = pl.Series(texts, dtype=pl.String)
    return kinds


def converted(
    kinds: Kinds, type_: str, zone: str, length: int, *, is_day: bool = False, decimal: str = "."
) -> tuple[pl.Series, dict[str, pl.Series]]:
    """All kinds of a declared column as its type; and by kind, which values do not fit."""
    parts = []
    misfits = {}
    for kind, all_values in kinds.items():
        if kind == TEXT and DTYPES[type_].is_numeric():
            all_values = plain_numbers(all_values, decimal)
        is_time = (type_, kind) == ("TIMESTAMP", TEXT)
        values = without_unset(all_values) if is_time else all_values
        fitting = _fitting(kind, values, type_, zone)
        if is_time and is_day:
            fitting = local_days(values, fitting, zone)
        if fitting.null_count() != values.null_count():
            is_misfit = values.is_not_null() & fitting.is_null() & ~_is_nothing(kind, values, type_)
            if is_misfit.any():
                misfits[kind] = is_misfit
        parts.append(fitting)
    return _together(parts) if parts else constant(None, DTYPES[type_], length), misfits


def plain_numbers(texts: pl.Series, decimal: str) -> pl.Series:
    """Texts of numbers as JSON writes numbers, all of a column read in one way.

    A decimal point or a decimal comma: what all texts allow, else `decimal`. The other one, or a blank, may
    stand between thousands. A text that is read in neither way stays no number.
    """
    texts = texts.str.strip_chars()
    is_nothing = texts.is_null() | (texts == "") | texts.is_in(NO_NUMBERS)
    between = {".": ",", ",": "."}
    fitting = {
        mark: texts.str.contains(_WRITTEN_NUMBER.format(mark, between[mark]))
        for mark in (decimal, between[decimal])
    }
    mark = next((mark for mark, fit in fitting.items() if (fit | is_nothing).all()), decimal)
    plain = texts.str.replace_many([" ", "\xa0", "\u202f", between[mark], mark], ["", "", "", "", "."])
    return plain.zip_with(fitting[mark], texts.zip_with(is_nothing, texts + _NO_NUMBER))


def tidied(texts: Iterable[str | None]) -> list[str | None]:
    """Texts trimmed and composed (NFC), so that each id or name has one spelling."""
    return [text and normalize("NFC", text.strip()) for text in texts]


def discovered(kinds: Kinds) -> tuple[pl.Series, str]:
    """All kinds of an undocumented column as the narrowest type that holds them, and that type."""
    if len(kinds) == 1 and (alone := next(iter(kinds))) in _TYPE_OF_KIND:
        return kinds[alone], _TYPE_OF_KIND[alone]
    if kinds.keys() <= {WHOLE, FRACTION, LONG_FRACTION}:
        is_exact = WHOLE not in kinds or kinds[WHOLE].is_between(-EXACT_WHOLE, EXACT_WHOLE).all()
        floats = _together([_floats(values) for values in kinds.values()])
        if is_exact and (LONG_FRACTION not in kinds or floats.is_finite().all()):
            return floats, "DOUBLE"
    texts = [
        _each(values, _AS_TEXT[kind], pl.String()) if kind in _AS_TEXT else values
        for kind, values in kinds.items()
    ]
    return _together(texts), "VARCHAR"


def canonical(number: float) -> str:
    """A fractional number as text, as DuckDB writes it; a whole one as its digits."""
    is_whole = number.is_integer() and abs(number) < EXACT_WHOLE
    return str(int(number)) if is_whole else repr(number)


def _together(parts: list[pl.Series]) -> pl.Series:
    return reduce(lambda first, second: first.zip_with(first.is_not_null(), second), parts)


def _each(values: pl.Series, convert: Callable[[Any], Any], dtype: pl.DataType) -> pl.Series:
    return pl.Series([None if value is None else convert(value) for value in values], dtype=dtype)


def _floats(values: pl.Series) -> pl.Series:
    return _each(values, float, pl.Float64()) if values.dtype == pl.String else values.cast(pl.Float64)


def _is_nothing(kind: str, values: pl.Series, type_: str) -> pl.Series:
    """Which values are empty texts where no text is documented, or what a division by zero gives."""
    if kind == TEXT:
        is_blank = values.str.strip_chars() == ""
        return is_blank | values.is_in(NO_NUMBERS) if DTYPES[type_].is_numeric() else is_blank
    if DTYPES[type_].is_numeric() and kind == FRACTION:
        return ~values.is_finite()
    return constant(False, pl.Boolean(), len(values))


def _fitting(kind: str, values: pl.Series, type_: str, zone: str) -> pl.Series:
    """Values of one kind as a documented type, null where they do not fit it."""
    dtype = DTYPES[type_]
    if values.dtype == dtype and kind != NESTED:
        return values
    if isinstance(dtype, pl.Decimal) and kind in {WHOLE, FRACTION, LONG_FRACTION, TEXT}:
        return _decimals(kind, values, dtype)
    if (type_, kind) == ("TIMESTAMP", TEXT):
        return local_times(values, zone)
    convert = _SINGLY.get((type_, kind))
    return _each(values, convert, dtype) if convert else constant(None, dtype, len(values))


def _decimals(kind: str, values: pl.Series, dtype: pl.Decimal) -> pl.Series:
    """As a float rounds; a text, or a float too large to hold all decimals, as it is written."""
    if kind == WHOLE:
        most = 10 ** (DIGITS_OF_A_DECIMAL - dtype.scale) - 1
        return values.set(~values.is_between(-most, most), None).cast(dtype)
    if kind == TEXT:
        return _each(values, lambda text: _decimal_of(text, dtype.scale), dtype)
    numbers = _floats(values)
    is_small = numbers.abs() < 10.0 ** (DIGITS_OF_A_FLOAT - dtype.scale)
    if is_small.all():
        return numbers.cast(dtype)
    small = numbers.set(~is_small, None).cast(dtype)
    large = _each(values.set(is_small, None), lambda number: _decimal_of(str(number), dtype.scale), dtype)
    return _together([small, large])


def number_of(text: str) -> Decimal:
    """The number that a text is, as JSON writes one; no number else."""
    return Decimal(text) if _NUMBER.fullmatch(text.strip()) else Decimal("NaN")


def _decimal_of(text: str, scale: int) -> Decimal | None:
    number = number_of(text)
    most = 10 ** (DIGITS_OF_A_DECIMAL - scale)
    if not number.is_finite() or abs(number) >= most:
        return None
    rounded = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_EVEN)
    return rounded if abs(rounded) < most else None


def _whole_of(number: float | str) -> int | None:
    text = str(number)
    exact = number_of(text)
    is_whole = exact.is_finite() and abs(exact) < _LONG and exact == int(exact)
    return int(exact) if is_whole else None


def _text_of_long(text: str) -> str:
    number = float(text)
    return canonical(number) if number - number == 0 else text


_SINGLY: Mapping[tuple[str, str], Callable[[Any], Any]] = {
    ("VARCHAR", WHOLE): str,
    ("VARCHAR", FRACTION): canonical,
    ("BIGINT", FRACTION): _whole_of,
    ("BIGINT", LONG_FRACTION): _whole_of,
    ("BIGINT", TEXT): _whole_of,
    ("BOOLEAN", WHOLE): {0: False, 1: True}.get,
    ("BOOLEAN", TEXT): lambda text: _TRUTHS.get(text.lower()),
}
# Text as DuckDB makes it of a column that was narrower until now.
_AS_TEXT: Mapping[str, Callable[[Any], str]] = {
    WHOLE: str,
    FRACTION: canonical,
    TRUTH: lambda value: "true" if value else "false",
    LONG_FRACTION: _text_of_long,
}
