"""Which type holds the values of two? The lattice of undocumented columns, and how values move up in it."""

from __future__ import annotations

from functools import reduce

NOTHING = "NULL"
"""The type of a column of which nothing but null has come; it rests as VARCHAR."""

EXACT = 2**53
"""Beyond this a DOUBLE no longer holds every whole number."""


def joined(types: list[str], *, digits_at_risk: bool) -> str:
    """The narrowest type that loses nothing: null < BOOLEAN | BIGINT < DOUBLE < VARCHAR.

    `digits_at_risk` says that a whole number is too large for DOUBLE; numbers then meet as text.
    """
    known = sorted(set(types) - {NOTHING})
    if digits_at_risk and known == ["BIGINT", "DOUBLE"]:
        return "VARCHAR"
    return reduce(_wider, known, NOTHING)


def _wider(one: str, other: str) -> str:
    if one == NOTHING:
        return other
    if {one, other} == {"BIGINT", "DOUBLE"}:
        return "DOUBLE"
    return "VARCHAR"


def resting(type_: str) -> str:
    """The type a column has in the file."""
    return "VARCHAR" if type_ == NOTHING else type_


def converted(value: str, source: str, target: str) -> str:
    """SQL that turns a value of one type into another.

    A number becomes the same text whichever way it came: whole numbers are written without a point, so
    that BIGINT -> DOUBLE -> VARCHAR and BIGINT -> VARCHAR agree. A time is written as JSON writes it.
    """
    if source == target:
        return value
    if target == "VARCHAR" and source == "DOUBLE":
        whole = f"{value} = trunc({value}) AND abs({value}) <= {EXACT}"
        exactly = f"CAST(CAST({value} AS BIGINT) AS VARCHAR)"
        return f"CASE WHEN {whole} THEN {exactly} ELSE CAST({value} AS VARCHAR) END"
    if target == "VARCHAR" and source == "TIMESTAMP":
        return f"replace(CAST({value} AS VARCHAR), ' ', 'T')"
    return f"CAST({value} AS {resting(target)})"
