"""The lists of rows as the catalogue declares them, as a tree, and the names of undocumented columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pipelines.catalogue.model import Column, Report, Table, columns_of_level, snake_case

Keys = tuple[str, ...]  # the keys that lead from an object to a value in it, through objects only
ListPath = tuple[Keys, ...]  # the way from the document to a list, through the lists in between


class Sign(str):
    """A key that no document has: it equals nothing but itself."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)


ROOT = Sign("")  # the key of the list that a document itself is
ANY = Sign("*")  # every list of objects, whatever its key

LONGEST_NAME = 120  # characters of a name; a key can be of any length
OUR_COLUMNS = (
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


@dataclass(frozen=True)
class RowPath:
    """A list that holds rows of a table, or (without a table) a level above them.

    `keys` lead to the list from the object that holds it; no keys mean the document itself.
    `declared_keys` are those of the catalogue, wherever the list was found. `columns` are the documented
    values of its objects by the keys that lead to them.
    """

    keys: Keys
    declared_keys: Keys
    table: Table | None
    prefix: str
    columns: Mapping[Keys, Column]
    inner: tuple[RowPath, ...] = ()

    @property
    def expected(self) -> set[str]:
        """The keys that the objects of this list are documented to have."""
        inner = {path.keys[0] for path in self.inner if path.keys != (ANY,)}
        return {keys[0] for keys in self.columns} | inner

    @property
    def holds_only_rows(self) -> bool:
        """Whether every element has to be an object; of an undocumented list nobody knows."""
        return self.table is None or bool(self.table.columns) or self.keys == (ROOT,)

    def first_with_table(self) -> RowPath:
        """The path that holds rows of a table: this one, or the first below."""
        return self if self.table else self.inner[0].first_with_table()

    def first_table(self) -> Table:
        """The table of this path, or of the first below."""
        return self.table or self.inner[0].first_table()


def row_paths(report: Report) -> tuple[RowPath, ...]:
    """The lists of the document itself, with all lists in them."""
    return tuple(_row_paths([(_steps(table), table) for table in report.tables], ""))


def as_written(keys: Keys) -> str:
    """A step as the catalogue writes it; the list that a document itself is has no name."""
    return f"{'.'.join(key for key in keys if key is not ROOT)}[]"


def name_of(keys: Sequence[str]) -> str:
    """The column of a value under these keys: letters and digits of any script, joined by `_`."""
    return "_".join(_word(key) for key in keys)[:LONGEST_NAME]


@lru_cache(maxsize=10_000)
def simplified(key: str) -> str:
    """A key without case and separators, so that `TotalRowCount` and `total_row_count` are one."""
    return re.sub(r"[\W_]+", "", key).lower()


def unique_names(names: Iterable[str], taken: Iterable[str] = OUR_COLUMNS) -> list[str]:
    """The names in their order, a repeated or taken one with `_2`, `_3`; SQL ignores case."""
    used = {name.lower() for name in taken}
    unique = []
    for name in names:
        free, number = name, 2
        while free.lower() in used:
            free, number = f"{name}_{number}", number + 1
        used.add(free.lower())
        unique.append(free)
    return unique


@lru_cache(maxsize=10_000)
def _word(key: str) -> str:
    word = _NOT_OF_A_WORD.sub("_", snake_case(key[:LONGEST_NAME]))
    return word.strip("_") or "unnamed"


def _steps(table: Table) -> ListPath:
    steps = [tuple(part.lstrip(".").split(".")) for part in table.rows.split("[]")[:-1]]
    signs: dict[Keys, Keys] = {("",): (ROOT,), ("*",): (ANY,)}
    return tuple(signs.get(step, step) for step in steps) or ((),)


def _row_paths(branches: list[tuple[ListPath, Table]], above: str) -> Iterator[RowPath]:
    for step in dict.fromkeys(steps[0] for steps, _ in branches):
        below = [(steps[1:], table) for steps, table in branches if steps[0] == step]
        path = f"{above}.{as_written(step)}".removeprefix(".")
        table = next((table for steps, table in below if not steps), None)
        prefixes = (one.levels[path] for _, one in below if path in one.levels)
        levels = (columns_of_level(one, path) for _, one in below if path in one.level_columns)
        columns, source = (table.columns, "") if table else (next(levels, ()), f"{path}.")
        yield RowPath(
            keys=step,
            declared_keys=step,
            table=table,
            prefix="" if table else next(prefixes, "" if step == (ROOT,) else name_of(step)),
            columns={tuple(one.source.removeprefix(source).split(".")): one for one in columns},
            inner=tuple(_row_paths([branch for branch in below if branch[0]], path)),
        )
