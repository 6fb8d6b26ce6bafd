"""Of which kinds are the values of a column? Each kind becomes a series, so that none is lost in another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from pipelines.normalize.text import Number, to_json

TEXT, WHOLE, FRACTION, TRUTH = "text", "whole", "fraction", "truth"
LONG_WHOLE = "long whole"  # whole numbers that 64 bits do not hold, as digits
LONG_FRACTION = "long fraction"  # numbers of which a float does not hold all digits, as they were written
NESTED = "nested"  # lists and objects that stand where they cannot become columns or tables, as JSON

Kinds = Mapping[str, pl.Series]

STORED = {
    TEXT: pl.String,
    WHOLE: pl.Int64,
    FRACTION: pl.Float64,
    TRUTH: pl.Boolean,
    LONG_WHOLE: pl.String,
    LONG_FRACTION: pl.String,
    NESTED: pl.String,
}
_PLAIN = {str: TEXT, int: WHOLE, float: FRACTION, bool: TRUTH}
_SIXTY_THREE_BITS = 2**63


def kinds_of(values: list[Any]) -> Kinds:
    """The values by kind, each series as long as the values and null where they are of another kind."""
    types = set(map(type, values)) - {type(None)}
    if not types:
        return {}
    only = _PLAIN.get(next(iter(types))) if len(types) == 1 else None
    if only and not (only == WHOLE and _has_long(values)):
        return {only: pl.Series(values, dtype=STORED[only])}
    by_kind: dict[str, list[Any]] = {}
    for place, value in enumerate(values):
        if value is not None:
            kind, kept = _told(value)
            by_kind.setdefault(kind, [None] * len(values))[place] = kept
    return {kind: pl.Series(kept, dtype=STORED[kind]) for kind, kept in by_kind.items()}


def _has_long(values: list[Any]) -> bool:
    whole: list[int] = [value for value in values if value is not None]
    return not -_SIXTY_THREE_BITS <= min(whole) <= max(whole) < _SIXTY_THREE_BITS


def _told(value: Any) -> tuple[str, Any]:
    if isinstance(value, Number):
        return LONG_FRACTION, value.text
    if isinstance(value, list | dict):
        return NESTED, to_json(value)
    kind = _PLAIN[type(value)]
    if kind == WHOLE and not -_SIXTY_THREE_BITS <= value < _SIXTY_THREE_BITS:
        return LONG_WHOLE, str(value)
    return kind, value
