"""The tables of docs/numbers.md, made from meta.metrics and the headers of marts.

    python -m tests.tools.metrics_page

writes the tables below the line `MARK`; a test compares them with `tables()`. An example computes a
metric's expression over the rows of `EXAMPLES`.
"""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb

from warehouse.store.meta_schema import entries, read_header

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "numbers.md"
MARK = "<!-- The rest is made from meta.metrics: python -m tests.tools.metrics_page -->\n"
EXAMPLES: dict[str, list[Any]] = {
    "commission": [240_000, 150_000],
    "commission_before": [200_000, 100_000],
    "like_for_like_commission": [240_000],
    "like_for_like_commission_before": [200_000],
    "commission_per_active_agent": [60_000, 75_000],
    "active_agent_count": [4, 2],
    "sold_estate_parts": [4, 2.5],
    "sold_total_price": [12_000_000, 7_500_000],
    "sold_commission": [240_000, 172_500],
    "price_change_share": [0.031],
    "days_on_market": [24],
    "budget": [300_000, 100_000],
    "actual": [240_000, 120_000],
    "month": ["2026-08", "2026-09"],
    "year_forecast": [3_900_000, 4_100_000],
    "outstanding_commission": [80_000, 45_000],
    "is_receipt_noted": ["true", "false"],
    "valuation_parts": [12, 7.5],
    "writing_parts": [6, 3.5],
    "lead_count": [31, 18],
}
"""The values of each column that expressions name, one for each row of the example."""


def tables() -> str:
    """A table for each subject, with one row for each metric."""
    with duckdb.connect() as connection:
        figures = (ROOT / "sql" / "meta" / "metrics.sql").read_text("utf-8")
        query = "SELECT subject, label_en, label_sv, mart, expression, unit, is_additive"
        metrics = connection.execute(f"{query} FROM ({figures})").fetchall()
        text = ""
        for subject, rows in groupby(metrics, key=lambda metric: metric[0]):
            text += (
                f"\n## {subject}\n\n| Figure | Formula | Table | Adds up | Example |\n|---|---|---|---|---|\n"
            )
            for _, english, swedish, mart, expression, unit, is_additive in rows:
                name = f"**{english}**" if english == swedish else f"**{english}** (*{swedish}*)"
                cells = (
                    name,
                    _formula(mart, expression),
                    f"`{mart}`",
                    "yes" if is_additive else "no",
                    _example(connection, expression, unit),
                )
                text += f"| {' | '.join(cells)} |\n"
    return text


def _formula(mart: str, expression: str) -> str:
    """The expression; if it only picks a column that the mart has computed, that column and its meaning."""
    if not (stored := re.fullmatch(r"(?:any_value|arg_max)\((\w+).*\)", expression)):
        return f"`{expression}`"
    _, sections = read_header((ROOT / "sql" / "marts" / f"{mart}.sql").read_text("utf-8"))
    return f"`{stored[1]}`: {entries(sections['Columns'])[stored[1]]}"


def _example(connection: duckdb.DuckDBPyConnection, expression: str, unit: str) -> str:
    """The values of the example, and the result of the expression over them."""
    columns = [name for name in dict.fromkeys(re.findall(r"\w+", expression)) if name in EXAMPLES]
    rows = ", ".join(
        f"({', '.join(map(repr, row))})" for row in zip(*(EXAMPLES[name] for name in columns), strict=True)
    )
    statement = f"SELECT {expression} FROM (VALUES {rows}) AS example({', '.join(columns)})"
    [(value,)] = connection.execute(statement).fetchall()
    values = "; ".join(f"{name} {' and '.join(map(_number, EXAMPLES[name]))}" for name in columns)
    return f"{values}: **{f'{value:.1%}' if unit == 'share' else _number(value)}**"


def _number(value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.3f}".rstrip("0").rstrip(".") if abs(value) < 1_000 else f"{value:,.0f}"


if __name__ == "__main__":
    head, mark, _ = PAGE.read_text("utf-8").partition(MARK)
    PAGE.write_text(head + mark + tables(), encoding="utf-8")
