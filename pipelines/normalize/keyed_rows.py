"""Rows in a JSON value: the elements of a list, one in an envelope too, or what an object keeps by ids."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import chain

from pipelines.normalize.document import OURS, ROOT, Document, Json, Object, to_json
from pipelines.normalize.envelopes import (
    ENVELOPES,
    is_of_pages,
    keys_of_envelopes,
    says_nothing,
    simplified,
    unwrapped,
    wrapped_list,
)

KEY = f"{OURS}key"  # the key of a row that says under which key it was kept
MOST_BOXES = 4  # objects that an only row may be in
KEPT_BY = {"years": "year", "months": "month"}
_ID = re.compile(r"[^a-z]*\d[^a-z]*|.*\d.*\d.*\d.*", re.DOTALL)  # `M1`, `2024` or a GUID; never `address2`


def rows_in(value: Json, names: Collection[str] | None = None, called: str = "") -> list[Json] | None:
    """The rows that a value holds, None where it holds none; a row that was kept by a key has it in KEY.

    What is `called` years or months keeps its rows by year or month, which then is what the key is called;
    an object that says its own year or month is the only row.

    An envelope with a list and nothing else is that list, and so is a list of such envelopes.

    An object keeps rows by key when all its members are objects of one shape, or all are lists, under keys
    that look like ids or stand in the row as well. With `names`, the simplified keys that are declared, the
    keys may be of any kind where members of equal keys hold lists or objects themselves, as envelopes by
    office do.
    """
    if type(value) is list:
        return _rows_of_pages(value, names)
    if type(value) is not dict or not value or ROOT in value:
        return None
    if (rows := _rows_in_envelope(value, names)) is not None:
        return rows
    name = KEPT_BY.get(simplified(called), KEY)
    if name != KEY and any(simplified(key) == name for key in value):
        return [value]
    if not keeps_rows(value, names):
        return None
    return list(chain.from_iterable(_with_key(name, key, member) for key, member in value.items()))


def only_row(
    value: Json, expected: Collection[str], certain: Collection[str], boxes: int = MOST_BOXES
) -> Object | None:
    """The only row of a list in whose place an object is, as in JSON made from XML; None where it is no row.

    It has a documented field (`expected`, by simplified names), and at least as many as objects in lists in
    it, or what every row has (`certain`). It may be in an envelope, or alone in an object. Where nothing is
    documented it says anything but how many rows there are.
    """
    if type(value) is not dict or not boxes or says_nothing(value):
        return None
    named = [key for key in keys_of_envelopes(tuple(value)) if simplified(key) not in expected]
    if named := [key for key in named if isinstance(value[key], dict | list)]:
        inner = value[named[0]]
        return only_row(inner, expected, certain, boxes - 1) if says_nothing(value, beside=inner) else None
    if not expected:
        says_more = (
            simplified(key) in KEPT_BY
            if isinstance(one, dict | list)
            else one is not None and not is_of_pages(key)
            for key, one in value.items()
        )
        return value if any(says_more) else None
    fields = names_in(value, expected)
    if not fields:
        (inner, *others) = value.values()
        return None if others else only_row(inner, expected, certain, boxes - 1)
    inside = [one[0] for one in value.values() if type(one) is list and one and type(one[0]) is dict]
    is_row = bool(certain) and fields.issuperset(certain)
    return value if is_row or all(len(names_in(one, expected)) <= len(fields) for one in inside) else None


def names_in(value: Object, expected: Collection[str]) -> set[str]:
    """The simplified keys of an object that are among these."""
    return {simplified(key) for key in value}.intersection(expected)


def may_hold_envelopes(lists: Sequence[Json]) -> bool:
    """Whether any of these lists may be one of envelopes, judged by the keys of their first elements."""
    firsts = (one[0] for one in lists if type(one) is list and one and type(one[0]) is dict)
    return any(simplified(key) in ENVELOPES for key in set().union(*firsts))


def raw_row(document: Document, steps: Sequence[str | int], names: Collection[str]) -> str:
    """The row at the end of these keys and places, as JSON, its numbers as they were written."""
    value, opened = document.as_written, document.opened
    for step in steps:
        if isinstance(step, int) and id(value) not in opened:
            opened[id(value)] = rows_in(value, names) or [value]  # an object may be the only row
        if isinstance(step, str) and type(value) is dict and step not in value:
            value = unwrapped(value)
        value = opened[id(value)][step] if isinstance(step, int) else value[step]
    return to_json({key: one for key, one in value.items() if key != KEY} if type(value) is dict else value)


def _rows_of_pages(value: list[Json], names: Collection[str] | None) -> list[Json]:
    """The rows of a list; where each of its elements is an envelope of a list, those of all lists."""
    first = value[0] if value else None
    if type(first) is not dict or not first or _rows_in_envelope(first, names) is None:
        return value
    pages = [_rows_in_envelope(one, names) if type(one) is dict and one else None for one in value]
    return value if None in pages else list(chain.from_iterable(page for page in pages if page))


def _rows_in_envelope(value: Object, names: Collection[str] | None) -> list[Json] | None:
    key = wrapped_list(value)
    if key is None or (names and simplified(key) in names):
        return None
    inner = value[key]
    if inner is None or inner == []:
        return []
    rows = rows_in(inner, names)
    return rows if rows is not None and set(map(type, rows)) <= {dict, type(None)} else None


def _with_key(name: str, key: str, member: Json) -> list[Json]:
    if type(member) is list:
        return [{name: key, **one} if type(one) is dict else one for one in member]
    return [{name: key, **member}] if member else []


def keeps_rows(value: Json, names: Collection[str] | None) -> bool:
    """Whether a value is an object that keeps rows by key."""
    if type(value) is not dict or not value or ROOT in value:
        return False
    members = [member for member in value.values() if member]
    kinds = set(map(type, members))
    if kinds == {dict}:
        are_rows = _are_alike(members)
    else:
        are_rows = kinds == {list} and all(set(map(type, member)) == {dict} for member in members)
    if not are_rows:
        return False
    if all(
        _ID.fullmatch(key)
        or (type(one) is dict and any(type(inner) is str and inner == key for inner in one.values()))
        for key, one in value.items()
    ):
        return True
    if names is None or len(members) < 2 or kinds != {dict}:
        return False
    taken = ENVELOPES.union(names)
    return not any(simplified(key) in taken for key in value) and all(
        one.keys() == members[0].keys() and any(isinstance(inner, dict | list) for inner in one.values())
        for one in members
    )


def _are_alike(members: list[Object]) -> bool:
    """Whether all members share at least half of their keys with the first."""
    first = members[0].keys()
    return all(2 * len(first & one.keys()) >= min(len(first), len(one)) for one in members)
