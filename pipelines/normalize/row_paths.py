"""The lists of rows that the catalogue declares for a report, as a tree of paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pipelines.catalogue.model import Column, Report, Table, columns_of_level
from pipelines.normalize.columns.tables import joined, name_of
from pipelines.normalize.document import OURS, ROOT, Keys
from pipelines.normalize.envelopes import simplified

ListPath = tuple[Keys, ...]  # the way from the document to a list, through the lists in between
ANY = f"{OURS}*"  # the key of every list of objects, whatever its own key


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
        """The simplified keys that the objects of this list are documented to have."""
        return self.names | {simplified(path.keys[0]) for path in self.inner if path.keys != (ANY,)}

    @property
    def names(self) -> set[str]:
        """Those of them that are no lists of rows."""
        return {simplified(keys[0]) for keys in self.columns}

    @property
    def certain(self) -> set[str]:
        """The simplified keys that every row has to have: its documented id, and its date."""
        if self.table is None:
            return set()
        names = (*self.table.key, self.table.dated_by)
        return {simplified(keys[0]) for keys, column in self.columns.items() if column.name in names}

    @property
    def holds_only_rows(self) -> bool:
        """Whether every element has to be an object; of an undocumented list nobody knows."""
        if self.table is None:
            return bool(self.inner)
        return bool(self.table.columns) or self.keys == (ROOT,)

    def first_with_table(self) -> RowPath:
        """The path that holds rows of a table: this one, or the first below."""
        return self if self.table else self.inner[0].first_with_table()

    @property
    def first_table(self) -> Table:
        """The table of this path, or of the first below."""
        return self.table or self.inner[0].first_table


UNDECLARED = RowPath((), (), None, "", {})


def row_paths(report: Report) -> tuple[RowPath, ...]:
    """The lists of the document itself, with all lists in them."""
    ours = {"": (ROOT,), "*": (ANY,)}
    branches = []
    for table in report.tables:
        in_root = f"[].{table.rows}" if table.rows.startswith("*[]") else table.rows
        steps = [part.lstrip(".") for part in in_root.split("[]")[:-1]]
        way = tuple(ours.get(step) or tuple(step.split(".")) for step in steps)
        branches.append((way or ((),), table))
    return tuple(_row_paths(branches, ""))


def _row_paths(branches: Sequence[tuple[ListPath, Table]], above: str) -> Iterator[RowPath]:
    for step in dict.fromkeys(way[0] for way, _ in branches):
        below = [(way[1:], table) for way, table in branches if way[0] == step]
        path = f"{above}.{as_written(step)}".removeprefix(".")
        table = next((table for way, table in below if not way), None)
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


def as_written(*way: Keys) -> str:
    """A way through lists as the catalogue writes it."""
    return ".".join(f"{joined(keys)}[]" for keys in way)


def paths_as_found(ways: Sequence[tuple[ListPath, RowPath]]) -> Iterator[RowPath]:
    """The declared lists where they were found, lists on the way being levels of their own."""
    for first in dict.fromkeys(way[0] for way, _ in ways):
        here = next((path for way, path in ways if way == (first,)), None)
        below = tuple(paths_as_found([(way[1:], path) for way, path in ways if way[0] == first and way[1:]]))
        if here:
            yield replace(here, keys=first, inner=(*here.inner, *below))
        else:
            yield RowPath(first, first, None, "" if first == (ROOT,) else name_of(first), {}, below)


def moved(path: RowPath, way: ListPath, written: str) -> RowPath:
    """A path with its table moved further down, as the catalogue writes the place of its rows."""
    if not way:
        return path
    below = replace(path, keys=way[0], declared_keys=way[0])
    inner = moved(below, way[1:], f"{written}.{as_written(way[0])}")
    prefix = path.first_table.levels.get(written, name_of(path.declared_keys))
    return RowPath(path.keys, path.declared_keys, None, prefix, {}, (inner,))


def expected_of(paths: Sequence[RowPath]) -> set[str]:
    """The simplified keys that rows at these paths, and below them, are documented to have."""
    return {key for path in paths for key in path.expected | expected_of(path.inner)}


def names_of(paths: Sequence[RowPath]) -> frozenset[str]:
    """The simplified keys of all declared lists."""
    own = {simplified(key) for path in paths for key in path.keys if not key.startswith(OURS)}
    return frozenset(own.union(*(names_of(path.inner) for path in paths)))
