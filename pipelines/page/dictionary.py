"""Dictionary page: figures by subject, and every table and column with its meaning.

The page is one self-contained HTML file. Its only script is the search. Without scripts, the browser's own
search finds everything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

from pipelines.page.facts import Row
from pipelines.page.language import language
from pipelines.page.rendering import render
from pipelines.units import unit_of

QUERIES = ("metrics", "dictionary_columns", "dictionary_keys", "dictionary_relations", "dictionary_sources")
"""The queries in sql/page whose rows the page shows."""
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
"""Words that people may search for, by patterns of column names."""
_SENTENCE_END = re.compile(r"(?<=[.?]) ")


@dataclass(frozen=True)
class ShownTable:
    """A table as the page shows it."""

    schema: str
    name: str
    meaning: str  # the first sentence of the description
    details: str  # the other sentences of the description
    report: str | None
    key: str  # the names of the columns that identify a row
    sources: list[str]  # the tables that a mart is built from
    columns: list[Row]  # each with its unit, synonyms, target (the table to which it refers), and `_basis`


def render_dictionary(
    answers: Mapping[str, Sequence[Mapping[str, Any]]], *, timezone: str, made_at_utc: datetime
) -> str:
    """Render the page from the rows of each query."""
    rows = {name: [Row(**row) for row in answer] for name, answer in answers.items()}
    subjects = groupby(rows["metrics"], key=lambda metric: metric.subject)
    schemas = groupby(_tables(rows), key=lambda table: table.schema)
    return render(
        "dictionary.html",
        lang="en",
        styles=("style.css", "dictionary.css"),
        script="search.js",
        subjects=[(subject, list(metrics)) for subject, metrics in subjects],
        schemas=[(schema, list(tables)) for schema, tables in schemas],
        made_at=language("en").moment(made_at_utc, ZoneInfo(timezone)),
    )


def _tables(rows: Mapping[str, Sequence[Row]]) -> list[ShownTable]:
    keys = {
        (row.schema_name, row.table_name): ", ".join(row.column_names)
        for row in rows["dictionary_keys"]
        if row.kind in ("grain", "row")
    }
    targets = {
        (row.schema_name, row.table_name, row.column_name): f"{row.to_schema_name}.{row.to_table_name}"
        for row in rows["dictionary_relations"]
    }
    sources = {(row.schema_name, row.table_name): row.sources for row in rows["dictionary_sources"]}
    tables = []
    rows_by_table = groupby(rows["dictionary_columns"], lambda row: (row.schema_name, row.table_name))
    for full_name, group in rows_by_table:
        table_rows = list(group)
        table = next((row for row in table_rows if row.column_name is None), table_rows[0])
        meaning, _, details = _SENTENCE_END.sub("\n", table.description or "", count=1).partition("\n")
        columns = [
            row.with_columns(
                unit=unit_of(row.column_name, row.type or "") if full_name[0] != "bi" else "",
                basis=_basis(row),
                target=targets.get((*full_name, row.column_name), ""),
                synonyms=synonyms(row.column_name) if full_name[0] == "marts" else "",
            )
            for row in table_rows
            if row.column_name is not None
        ]
        key, built_from = keys.get(full_name, ""), sources.get(full_name, [])
        tables.append(ShownTable(*full_name, meaning, details, table.report, key, built_from, columns))
    return tables


def synonyms(column: str) -> str:
    """The additional search words for a column."""
    return " ".join(words for pattern, words in SYNONYMS.items() if re.fullmatch(pattern, column))


def _basis(row: Row) -> str:
    if row.source is None:  # the column is not from an answer of the service
        return "ours"
    return "documented" if row.is_documented else "discovered or inferred"
