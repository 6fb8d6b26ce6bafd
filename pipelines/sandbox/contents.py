"""How can the content of an answer go wrong? Unknown fields, wrong types, new shapes, nothing at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from pipelines.sandbox.faults import Fault

Row = dict[str, object]

NAMING = frozenset({"id", "year", "month", "customerId", "count", "index", "totalRowCount"})
WRONG: dict[str, object] = {
    "commission": "enligt avtal",
    "amount": "tolv kronor",
    "finalPrice": "såld",
    "contractDay": "i går",
    "createdAt": "måndag",
    "obtainedAt": "2026-13-45T00:00:00",
    "soldEstateParts": {"parts": 1},
    "percentageOfTotal": "hälften",
    "isNewHome": "kanske",
    "changedAt": "nyss",
}


def rows(tree: object) -> Iterator[Row]:
    """Every object that stands in a list, outer ones first."""
    if isinstance(tree, list):
        for item in tree:
            if isinstance(item, dict):
                yield item
            yield from rows(item)
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from rows(value)


def unknown_fields(tree: object, fault: Fault, chance: Random) -> object:
    """Some rows have fields nobody has heard of."""
    for row in list(rows(tree)):
        if chance.random() < fault.share:
            row["sandboxNote"] = chance.choice(("ny", "äldre", "östlig"))
            row["sandboxWeight"] = round(chance.uniform(0, 10), 3)
            row["sandboxDetail"] = {"level": chance.randint(1, 3), "codes": [chance.randint(1, 9), 5]}
    return tree


def wrong_types(tree: object, fault: Fault, chance: Random) -> object:
    """A documented field of some rows holds what it never should."""
    for row in list(rows(tree)):
        fit = [name for name in WRONG if isinstance(row.get(name), str | int | float)]
        if fit and chance.random() < fault.share:
            name = chance.choice(fit)
            row[name] = WRONG[name]
    return tree


def wrong_rows(tree: object, fault: Fault, chance: Random) -> object:
    """Some rows are no objects at all."""
    if isinstance(tree, list):
        return [
            chance.choice((None, 17, "rad"))
            if isinstance(item, dict) and chance.random() < fault.share
            else wrong_rows(item, fault, chance)
            for item in tree
        ]
    if isinstance(tree, dict):
        return {name: wrong_rows(value, fault, chance) for name, value in tree.items()}
    return tree


def nested_list(tree: object, _: Fault, chance: Random) -> object:
    """Every row grows a list of objects."""
    for row in list(rows(tree)):
        row["channels"] = [{"name": name, "count": chance.randint(0, 9)} for name in ("telefon", "e-post")]
    return tree


def fractional(tree: object, _: Fault, __: Random) -> object:
    """What was whole is whole no longer."""
    return _renumbered(tree, lambda number: number + 0.5)


def text(tree: object, _: Fault, __: Random) -> object:
    """What was a number is text."""
    return _renumbered(tree, lambda number: f"{number} st")


def empty_report(tree: object, _: Fault, __: Random) -> object:
    """The same envelope with nothing in it."""
    if isinstance(tree, list):
        return []
    if isinstance(tree, dict):
        return {
            name: empty_report(value, _, __)
            if isinstance(value, list | dict)
            else (0 if isinstance(value, int) and not isinstance(value, bool) else value)
            for name, value in tree.items()
        }
    return tree


def _renumbered(tree: object, change: Callable[[float], object]) -> object:
    for row in list(rows(tree)):
        _renumber(row, change)
    return tree


def _renumber(row: Row, change: Callable[[float], object]) -> None:
    for name, value in row.items():
        if isinstance(value, dict):
            _renumber(value, change)
        elif name not in NAMING and isinstance(value, int | float) and not isinstance(value, bool):
            row[name] = change(value)


SPOILERS: dict[str, Callable[[object, Fault, Random], object]] = {
    "unknown_fields": unknown_fields,
    "wrong_types": wrong_types,
    "wrong_rows": wrong_rows,
    "nested_list": nested_list,
    "fractional": fractional,
    "text": text,
    "empty_report": empty_report,
}
