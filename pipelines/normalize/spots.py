"""Where do the rows of a report stand, as the catalogue declares it? A tree of lists in lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pipelines.catalogue.model import Column, Report, Table, level_columns, row_columns
from pipelines.normalize.names import name_of
from pipelines.normalize.shredding import Keys


class _Sign(str):
    """A key that no document has: it equals nothing but itself."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)


ROOT = _Sign("")  # the key of the list that a document itself is
ANY = _Sign("*")  # every list of objects, whatever its key

Branch = tuple[tuple[Keys, ...], Table]


@dataclass(frozen=True)
class Spot:
    """A list that holds rows of a table, or (without a table) a level above them.

    `keys` lead to the list from the object that it stands in; no keys mean the document itself.
    `step` are the keys that the catalogue gives it, wherever it was found.
    `columns` are the documented values of its objects by the keys that lead to them.
    """

    keys: Keys
    step: Keys
    table: Table | None
    prefix: str
    columns: Mapping[Keys, Column]
    inner: tuple[Spot, ...] = ()

    @property
    def expected(self) -> set[str]:
        """The keys that the objects of this list are documented to have."""
        return {keys[0] for keys in self.columns} | {
            spot.keys[0] for spot in self.inner if spot.keys != (ANY,)
        }

    @property
    def must_hold_rows(self) -> bool:
        """Whether every element has to be an object; of an undocumented list nobody knows."""
        return self.table is None or self.table.model is not None or self.keys == (ROOT,)

    def first_with_table(self) -> Spot:
        """The spot that holds rows of a table: this one, or the first below."""
        return self if self.table else self.inner[0].first_with_table()

    def first_table(self) -> Table:
        """The table whose rows stand here, or first below."""
        return self.table or self.inner[0].first_table()


def spots(report: Report) -> tuple[Spot, ...]:
    """The lists that stand in the document itself, with all that stands in them."""
    return tuple(_spots([(_steps(table), table) for table in report.tables], ""))


def written(keys: Keys) -> str:
    """A step as the catalogue writes it; the list that a document itself is has no name."""
    return f"{'.'.join(key for key in keys if key is not ROOT)}[]"


def _steps(table: Table) -> tuple[Keys, ...]:
    steps = [tuple(part.lstrip(".").split(".")) for part in table.rows.split("[]")[:-1]]
    signs: dict[Keys, Keys] = {("",): (ROOT,), ("*",): (ANY,)}
    return tuple(signs.get(step, step) for step in steps) or ((),)


def _spots(branches: list[Branch], above: str) -> Iterator[Spot]:
    for step in dict.fromkeys(steps[0] for steps, _ in branches):
        below = [(steps[1:], table) for steps, table in branches if steps[0] == step]
        path = f"{above}.{written(step)}".removeprefix(".")
        table = next((table for steps, table in below if not steps), None)
        yield Spot(
            keys=step,
            step=step,
            table=table,
            prefix="" if table else _prefix(path, step, below),
            columns=_by_keys(row_columns(table), "") if table else _levels(path, below),
            inner=tuple(_spots([branch for branch in below if branch[0]], path)),
        )


def _prefix(path: str, step: Keys, below: list[Branch]) -> str:
    declared = (table.levels[path] for _, table in below if path in table.levels)
    return next(declared, "" if step == (ROOT,) else name_of(step))


def _levels(path: str, below: list[Branch]) -> Mapping[Keys, Column]:
    columns = (level_columns(table, path) for _, table in below if path in table.level_models)
    return _by_keys(next(columns, ()), f"{path}.")


def _by_keys(columns: tuple[Column, ...], above: str) -> Mapping[Keys, Column]:
    return {tuple(column.source.removeprefix(above).split(".")): column for column in columns}
