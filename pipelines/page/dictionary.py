"""Dictionary page: every table and column with its meaning, and diagrams of what points at what.

One HTML file that needs no network. Its only script is the search, which the policy of the page names by its
checksum; without scripts the browser's own search finds everything all the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, get_args, get_type_hints
from zoneinfo import ZoneInfo

from pipelines.page.language import language
from pipelines.page.rendering import render
from pipelines.units import unit_of

SYNONYMS = {
    r"active_agent_count|headcount.*": "headcount staff antal mäklare",
    r"days_(on_market|to_contract|from_.*)|.*days.*": "days on market time to sell liggtid",
    r"sold_average_commission|average_fee|fee_.*": "average fee snittarvode arvode",
    r"sold_commission_percentage|fee_percentage|fee_share": "fee percentage arvode procent",
    r"average_price|final_price|.*total_price": "average price snittpris",
    r"outstanding_commission|due_commission|days_due": "receivables unpaid overdue obetalt",
    r"is_active|left_.*|last_month": "turnover attrition slutat",
    r".*budget.*": "target goal mål",
}
"""What else people call our columns, by the columns' names, for the search."""
TO_START_WITH = ("office_month", "chain_month", "sales", "user_month", "office_budget_vs_actual", "leads")
"""The marts that answer most questions."""
_SENTENCE_END = re.compile(r"(?<=[.?]) ")
BOX, GAP, LINE = 270, 130, 26
"""Width of a box, of the room between two columns of boxes, and height of a line, in pixels."""


@dataclass(frozen=True, slots=True)
class Described:
    """A table, or a column of one, and what it means."""

    schema_name: str
    table_name: str
    column_name: str | None
    kind: str
    type: str | None
    description: str | None
    is_documented: bool | None
    source: str | None
    report: str | None


@dataclass(frozen=True, slots=True)
class Key:
    """Columns that tell the rows of a table apart."""

    schema_name: str
    table_name: str
    column_names: list[str]
    kind: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A column that points at a row of another table."""

    schema_name: str
    table_name: str
    column_name: str
    to_schema_name: str
    to_table_name: str
    kind: str


@dataclass(frozen=True, slots=True)
class MartSources:
    """The tables that a mart is made of, with their schemas."""

    schema_name: str
    table_name: str
    sources: list[str]


@dataclass(frozen=True)
class Dictionary:
    """The rows of the queries; each field is named after its file in sql/page."""

    dictionary_columns: Sequence[Described] = ()
    dictionary_keys: Sequence[Key] = ()
    dictionary_relations: Sequence[Relation] = ()
    dictionary_sources: Sequence[MartSources] = ()


RECORDS: Mapping[str, type[Any]] = {
    name: get_args(kind)[0] for name, kind in get_type_hints(Dictionary).items()
}
"""The record of each query of sql/page that the page needs."""


def dictionary_from_rows(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Dictionary:
    """The rows of each query as records."""
    return Dictionary(**{name: [RECORDS[name](**row) for row in known] for name, known in rows.items()})


@dataclass(frozen=True)
class ShownColumn:
    """A column with what is known beside its meaning."""

    row: Described
    unit: str
    basis: str
    points: str
    also: str


@dataclass(frozen=True)
class ShownTable:
    """A table with its columns."""

    schema: str
    name: str
    meaning: str
    more: str
    report: str | None
    key: str
    sources: list[str]
    columns: list[ShownColumn]


@dataclass(frozen=True)
class Box:
    """A table in a diagram, with the line that leads from it to each table it points at."""

    name: str
    anchor: str
    key: str
    x: int
    y: int
    lines: tuple[str, ...]
    is_hub: bool = False


@dataclass(frozen=True)
class Diagram:
    """Boxes and how much room they take."""

    width: int
    height: int
    boxes: tuple[Box, ...]


def render_dictionary(found: Dictionary, *, timezone: str, made_at_utc: datetime) -> str:
    """The page of these rows."""
    tables = _tables(found)
    return render(
        "dictionary.html",
        lang="en",
        styles=("style.css", "dictionary.css"),
        script="search.js",
        first=[one for name in TO_START_WITH for one in tables if (one.schema, one.name) == ("marts", name)],
        schemas=[(schema, list(some)) for schema, some in groupby(tables, key=lambda one: one.schema)],
        of_marts=_diagram_of_marts(tables, found.dictionary_relations),
        of_bi=_diagram_of_bi(tables, found.dictionary_relations),
        made_at=language("en").moment(made_at_utc, ZoneInfo(timezone)),
    )


def _tables(found: Dictionary) -> list[ShownTable]:
    """The tables in their order, each with its columns, its key, what it points at and is made of."""
    key_of = {
        (one.schema_name, one.table_name): ", ".join(one.column_names)
        for one in found.dictionary_keys
        if one.kind in ("grain", "row")
    }
    points = {
        (one.schema_name, one.table_name, one.column_name): f"{one.to_schema_name}.{one.to_table_name}"
        for one in found.dictionary_relations
    }
    sources = {(one.schema_name, one.table_name): one.sources for one in found.dictionary_sources}
    tables = []
    in_order = groupby(found.dictionary_columns, key=lambda one: (one.schema_name, one.table_name))
    for (schema, name), some in in_order:
        rows = list(some)
        head = next((one for one in rows if one.column_name is None), rows[0])
        first, _, more = _SENTENCE_END.sub("\n", head.description or "", count=1).partition("\n")
        columns = [
            ShownColumn(
                row=one,
                unit=unit_of(one.column_name, one.type or "") if schema != "bi" else "",
                basis=_basis(one),
                points=points.get((schema, name, one.column_name), ""),
                also=also_called(one.column_name) if schema == "marts" else "",
            )
            for one in rows
            if one.column_name is not None
        ]
        tables.append(
            ShownTable(
                schema,
                name,
                first,
                more,
                head.report,
                key_of.get((schema, name), ""),
                sources.get((schema, name), []),
                columns,
            )
        )
    return tables


def also_called(column: str) -> str:
    """Other words for a column of ours."""
    return " ".join(words for form, words in SYNONYMS.items() if re.fullmatch(form, column))


def _basis(row: Described) -> str:
    if row.source is None:
        return "ours"
    return "documented" if row.is_documented else "discovered or inferred"


def _diagram_of_marts(tables: Sequence[ShownTable], relations: Sequence[Relation]) -> Diagram:
    """Offices, users, sales and customers in the middle; the marts that point at them on both sides."""
    marts = {one.name: one for one in tables if one.schema == "marts"}
    points: dict[str, list[str]] = {}
    for one in relations:
        if (one.schema_name, one.to_schema_name) == ("marts", "marts"):
            targets = points.setdefault(one.table_name, [])
            if one.to_table_name not in targets:
                targets.append(one.to_table_name)
    hubs = sorted({target for targets in points.values() for target in targets})
    others = [name for name in marts if name in points and name not in hubs]
    half = (len(others) + 1) // 2
    height = max(half, len(hubs) * 2, 1) * LINE
    places = {
        name: (BOX + GAP, int(height * (place + 0.5) / len(hubs)) - LINE // 2)
        for place, name in enumerate(hubs)
    }
    places |= {
        name: (0 if place < half else 2 * (BOX + GAP), place % half * LINE)
        for place, name in enumerate(others)
    }
    boxes = tuple(
        Box(
            name,
            f"marts.{name}",
            marts[name].key,
            *places[name],
            tuple(_line(places[name], places[target]) for target in points.get(name, ())),
            name in hubs,
        )
        for name in [*others, *hubs]
        if name in marts
    )
    return Diagram(3 * BOX + 2 * GAP, height, boxes)


def _diagram_of_bi(tables: Sequence[ShownTable], relations: Sequence[Relation]) -> Diagram:
    """meta.loads on the left, the tables of bi that came with a load beside it, nested ones further right."""
    known = {one.name: one for one in tables if one.schema == "bi"}
    parents = {one.table_name: one.to_table_name for one in relations if one.kind == "parent"}
    children: dict[str, list[str]] = {}
    for child, parent in sorted(parents.items()):
        children.setdefault(parent, []).append(child)
    loaded = {one.table_name for one in relations if one.schema_name == "bi" and one.kind == "load"}
    roots = sorted(name for name in loaded - parents.keys() if not name.endswith("_history"))
    places: dict[str, tuple[int, int]] = {}

    def place(name: str, depth: int, y: int) -> int:
        """Put a table and what is nested in it, the first on its own line; the next line."""
        places[name] = (depth * (BOX + GAP // 2), y)
        below = y
        for child in children.get(name, ()):
            below = place(child, depth + 1, below)
        return max(below, y + LINE)

    height = 0
    for root in roots:
        height = place(root, 1, height)
    hub = (0, height // 2 - LINE // 2)
    boxes = [Box("meta.loads", "meta.loads", "load_id", *hub, (), True)]
    for name, at in places.items():
        target = places[parents[name]] if name in parents else hub
        key = known[name].key if name in known else ""
        boxes.append(Box(name, f"bi.{name}", key, *at, (_line(at, target),)))
    width = max((x for x, _ in places.values()), default=0) + BOX
    return Diagram(width, height, tuple(boxes))


def _line(source: tuple[int, int], target: tuple[int, int]) -> str:
    """A curve from the side of a box to the nearer side of another, as an SVG path.

    Of two boxes in one column it goes around what is between them.
    """
    middle = (LINE - 6) // 2
    (x1, y1), (x2, y2) = source, target
    start, end = (x1, x2 + BOX) if x1 > x2 else (x1 + BOX, x2)
    bend = (start + end) // 2
    if x1 == x2:
        start = end = x1 + BOX
        bend = start + GAP // 3
    return f"M{start},{y1 + middle} C{bend},{y1 + middle} {bend},{y2 + middle} {end},{y2 + middle}"
