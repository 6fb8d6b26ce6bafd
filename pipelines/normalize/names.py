"""What are undocumented columns and tables called? As the service calls them, in snake_case, told apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from pipelines.catalogue.model import snake_case

LONGEST = 120  # characters of a name; a key can be of any length
OURS = (
    "_customer",
    "_month",
    "_load_id",
    "_fetched_at_utc",
    "_row",
    "_parent_row",
    "valid_from_utc",
    "valid_to_utc",
)
_NOT_OF_A_WORD = re.compile(r"\W+")


def name_of(keys: Sequence[str]) -> str:
    """The column of a value under these keys: letters and digits of any script, joined by `_`."""
    return "_".join(_word(key) for key in keys)[:LONGEST]


def simplified(key: str) -> str:
    """A key without case and separators, so that `TotalRowCount` and `total_row_count` are one."""
    return re.sub(r"[\W_]+", "", key).lower()


def told_apart(names: Iterable[str], taken: Iterable[str] = OURS) -> list[str]:
    """The names in their order, a repeated or taken one with `_2`, `_3`; SQL does not tell cases apart."""
    used = {name.lower() for name in taken}
    apart = []
    for name in names:
        free, number = name, 2
        while free.lower() in used:
            free, number = f"{name}_{number}", number + 1
        used.add(free.lower())
        apart.append(free)
    return apart


@lru_cache(maxsize=10_000)
def _word(key: str) -> str:
    word = _NOT_OF_A_WORD.sub("_", snake_case(key[:LONGEST]))
    return word.strip("_") or "unnamed"
