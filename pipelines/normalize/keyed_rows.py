"""Rows in a JSON value: the elements of a list, or the members of an object that keeps rows by their ids."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import chain

from pipelines.normalize.document import OURS, ROOT, Json, Object
from pipelines.normalize.envelopes import ENVELOPES, simplified

KEY = f"{OURS}key"  # the key of a row that says under which key it was kept
_ID = re.compile(r"[^a-z]*\d[^a-z]*|.*\d.*\d.*\d.*", re.DOTALL)  # `M1`, `2024` or a GUID; never `address2`


def rows_in(value: Json, names: Collection[str] | None = None) -> list[Json] | None:
    """The rows that a value holds, None where it holds none; a row that was kept by a key has it in KEY.

    An object keeps rows by key when all its members are objects of one shape, or all are lists, under keys
    that look like ids or stand in the row as well. With `names`, the simplified keys that are declared, the
    keys may be of any kind where members of equal keys hold lists or objects themselves, as envelopes by
    office do.
    """
    if type(value) is list:
        return value
    if not _keeps_rows(value, names):
        return None
    return list(chain.from_iterable(_with_key(key, member) for key, member in value.items()))


def _with_key(key: str, member: Json) -> list[Json]:
    if type(member) is list:
        return [{KEY: key, **one} if type(one) is dict else one for one in member]
    return [{KEY: key, **member}] if member else []


def _keeps_rows(value: Json, names: Collection[str] | None) -> bool:
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
    if all(_ID.fullmatch(key) or _stands_in(key, value[key]) for key in value):
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


def _stands_in(key: str, member: Json) -> bool:
    return type(member) is dict and any(type(one) is str and one == key for one in member.values())
