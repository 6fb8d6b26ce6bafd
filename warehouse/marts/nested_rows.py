"""The rows that a query of staging looks for in a report, in whichever of its lists they have arrived.

A query that expects something of a table `and below` reads the one list, the table itself included, whose
rows have it: of their own, or as the user, office, year or month of a row that they are nested in. What a
list calls `id`, or its rows are kept by, is the id of what the list is called: `user_id` in a list of users.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from warehouse.marts.queries import Query

BELOW = " and below"
ONLY_NUMBER, ANY_NUMBER, ANY_LIST = "*", "+", "[]"
"""Beside the columns of a table of which one alone counts something, or any, or of which one is JSON."""
MARKS = (ONLY_NUMBER, ANY_NUMBER, ANY_LIST)
ALONE = "!"
"""Stands for what is missing where several lists have all that is expected."""
_OWN_ID = ("id", "key")
_OF_MONTHS = re.compile(r"(?:.*_)?(?:month|period)s?")
_HANDED_DOWN = re.compile(
    r"(?:user|customer|office|office_customer)_id|(?:period_)?(?:year|month)|period|year_month"
)


@dataclass(frozen=True)
class _List:
    """A table of a report; each column that its rows have is read from a column of theirs or above."""

    table: str
    called: str
    above: _List | None
    columns: Mapping[str, tuple[str, str]]
    marks: Collection[str]

    def lacks(self, wanted: str) -> list[str]:
        """What its rows do not say. One that is nested in a user's is of a month, which it says too."""
        names = {*self.columns, *self.marks}
        missing = [one for one in names_in(wanted) if not {*one.split("|")} & names]
        is_of_user = "user_id" in self.columns and self.columns["user_id"][0] != self.table
        if is_of_user and not any(_OF_MONTHS.fullmatch(one) for one in [*names, self.called]):
            missing.append("month|period")
        return missing


def reading_nested(query: Query, arrived: Mapping[str, Sequence[str]]) -> Query:
    """A query of the list that has what it expects of a table and below; else what each list lacks of it."""
    wanted = {entry: columns for entry, columns in query.expects.items() if entry.endswith(BELOW)}
    if not wanted:
        return query
    named = next(iter(wanted)).removesuffix(BELOW)
    lists = _lists(named, arrived)
    others = {entry: columns for entry, columns in query.expects.items() if entry not in wanted}
    told: dict[str, str] = {}
    for columns in wanted.values():
        fitting = [one for one in lists if not one.lacks(columns)]
        by_name = [one for one in fitting if not replace(one, marks=()).lacks(columns)]
        chosen = _innermost(by_name or fitting)
        if chosen and not any(chosen.table in _tables_above(one) for one in fitting):
            return _reading(replace(query, expects=others), named, chosen, columns)
        told = told or {one.table: ", ".join(one.lacks(columns) or [ALONE]) for one in lists}
    innermost = {one.table for one in lists} - {one.above.table for one in lists if one.above}
    return replace(query, expects=others | {one: lacks for one, lacks in told.items() if one in innermost})


def may_stand_for_others(named: str, arrived: Mapping[str, Sequence[str]], filled: Collection[str]) -> bool:
    """Whether anything that has arrived of a report may be what is looked for in vain, under another name."""
    lists = [one for one in _lists(named, arrived) if one.table in filled]
    return any({ANY_NUMBER, ANY_LIST} & {*one.marks} for one in lists) or any(
        one.above and one.columns.get("user_id", ("",))[0] != one.table for one in lists
    )


def _lists(named: str, arrived: Mapping[str, Sequence[str]]) -> list[_List]:
    """The table and the lists below it, each after the one that it is nested in."""
    ending = "_history" if named.endswith("_history") else ""
    base = named.removesuffix(ending)
    found: dict[str, _List] = {}
    for table in sorted({named, *arrived}, key=lambda table: table.removesuffix(ending)):
        way = table.removesuffix(ending)
        if table != named and not (table.endswith(ending) and way.startswith(f"{base}__")):
            continue
        around = max((one for one in found if way.startswith(f"{one}__")), key=len, default="")
        above = found.get(around)
        called = way.removeprefix(f"{around}__") if above else ""
        marks = [one for one in arrived.get(table, ()) if one in MARKS]
        columns = {one: (table, one) for one in arrived.get(table, ()) if one not in MARKS}
        own_id = f"{called.rpartition('_')[2].removesuffix('s')}_id"
        if above and own_id not in columns and (key := next((one for one in _OWN_ID if one in columns), "")):
            columns[own_id] = (table, key)
        handed = (
            {one: place for one, place in above.columns.items() if _HANDED_DOWN.fullmatch(one)}
            if above
            else {}
        )
        found[way] = _List(table, called, above, handed | columns, marks)
    return list(found.values())


def _innermost(found: Sequence[_List]) -> _List | None:
    """The one of some lists that is nested in all others, as months in users that may have their sums."""
    tables = {one.table for one in found}
    return next((one for one in found if tables <= {one.table, *_tables_above(one)}), None)


def _reading(query: Query, named: str, found: _List, wanted: str) -> Query:
    """A query that reads a list in place of the table that it names, with what it has from the rows above."""
    own = {name: place[1] for name, place in found.columns.items() if place[0] == found.table}
    values = [
        "_given.*",
        *(f'_given."{column}" AS "{name}"' for name, column in own.items() if name != column),
    ]
    joins, tables = [], {found.table}
    nested, around, handed = "_given", found.above, set(found.columns) - set(own)
    while around and handed:
        alias, places = f"_above_{len(tables)}", found.columns.items()
        given = {name: column for name, (table, column) in places if table == around.table}
        handed -= set(given)
        latest = _latest(around.table, is_nested=bool(handed))
        joins.append(f"LEFT JOIN {latest} AS {alias} ON {alias}._row = {nested}._parent_row")
        values += [f"{alias}._said ->> '{column}' AS \"{name}\"" for name, column in given.items()]
        tables.add(around.table)
        nested, around = alias, around.above
    rows = f"(SELECT {', '.join(values)} FROM {' '.join([f'{found.table} AS _given', *joins])})"
    has_more = len(tables) > 1 or any(name != column for name, column in own.items())
    present = {*found.marks, *own.values()}
    expected = [one for one in names_in(wanted) if {*one.split("|")} & present]
    return replace(
        query,
        expects={**query.expects, found.table: ", ".join(expected)},
        sql=re.sub(rf"\b{named}\b", rows if has_more else found.table, query.sql),
        reads=query.reads - {parts_of(named)} | {parts_of(table) for table in tables},
    )


def _latest(table: str, *, is_nested: bool) -> str:
    """Rows as JSON, once for each `_row`: of the versions that a history has, the latest counts."""
    choice = "arg_max({}, valid_from_utc)" if table.endswith("_history") else "any_value({})"
    parent = ", any_value(_parent_row) AS _parent_row" if is_nested else ""
    said = choice.format("to_json(_above)")
    return f"(SELECT _row{parent}, {said} AS _said FROM {table} AS _above GROUP BY _row)"


def _tables_above(one: _List) -> set[str]:
    return {one.above.table, *_tables_above(one.above)} if one.above else set()


def names_in(columns: str) -> list[str]:
    """What a line of `Expects:` names of a table, one by one."""
    return columns.replace(",", " ").split()


def parts_of(table: str) -> tuple[str, str]:
    """The schema and the name of a table."""
    schema, _, name = table.partition(".")
    return schema, name
