"""The dictionary page: every table with its meaning, drawn without a word of the data taken for HTML."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pipelines.foreign_text import CONTROLS
from pipelines.page.dictionary import render_dictionary, synonyms

NOW = datetime(2026, 3, 20, 4, 5, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script>\x00\x9b\u202e"


def column(table: str, name: str | None, words: str, schema: str = "marts", **more: Any) -> dict[str, Any]:
    kind = "column" if name else "table"
    row = {"schema_name": schema, "table_name": table, "column_name": name, "kind": kind, "type": "VARCHAR"}
    return {**row, "description": words, "is_documented": None, "source": None, "report": None, **more}


ROWS: dict[str, list[dict[str, Any]]] = {
    "metrics": [
        {
            "metric": "fee",
            "subject": "Sales",
            "mart": "offices",
            "expression": "sum(a) / sum(b)",
            "grain": "month",
            "unit": "share",
            "is_additive": False,
            "basis": "without VAT",
            "label_en": "Fee",
            "label_sv": "Arvode",
        }
    ],
    "dictionary_columns": [
        column("office_month", None, "What did each office earn? One row per office and month."),
        column("office_month", "office_id", "customer id of the office"),
        column("office_month", "commission", "what it earned"),
        column("offices", None, "Which offices are there?"),
        column("offices", "office_id", "customer id"),
        column("offices", "office_city", "town of the office"),
        column("sales", None, HOSTILE, schema="bi", report=HOSTILE),
        column("sales", "x", HOSTILE, schema="bi", source="x", is_documented=False),
    ],
    "dictionary_keys": [
        {"schema_name": "marts", "table_name": "offices", "column_names": ["office_id"], "kind": "grain"}
    ],
    "dictionary_relations": [
        {
            "schema_name": "marts",
            "table_name": "office_month",
            "column_name": "office_id",
            "to_schema_name": "marts",
            "to_table_name": "offices",
            "kind": "id",
        },
        {
            "schema_name": "bi",
            "table_name": "sales",
            "column_name": "_load_id",
            "to_schema_name": "meta",
            "to_table_name": "loads",
            "kind": "load",
        },
    ],
    "dictionary_sources": [
        {"schema_name": "marts", "table_name": "office_month", "sources": ["bi.sales", "marts.offices"]}
    ],
}


def dictionary() -> str:
    return render_dictionary(ROWS, timezone="Europe/Stockholm", made_at_utc=NOW)


@pytest.fixture(scope="module")
def html() -> str:
    return dictionary()


def test_a_table_has_its_meaning_its_key_and_its_references(html: str) -> None:
    assert "<code>marts.office_month</code> <span>What did each office earn?</span>" in html
    assert "A row is identified by <code>office_id</code>." in html
    assert '→ <a href="#marts.offices"><code>marts.offices</code></a>' in html


def test_a_mart_links_to_the_tables_it_is_built_from(html: str) -> None:
    assert (
        'Built from <a href="#bi.sales"><code>bi.sales</code></a>, '
        '<a href="#marts.offices"><code>marts.offices</code></a>.' in html
    )


def test_no_text_in_the_data_becomes_html(html: str) -> None:
    assert (HOSTILE in html, html.count("&lt;script&gt;") > 1, html.count("<script")) == (False, True, 1)


def test_a_key_with_control_characters_is_shown_without_them() -> None:
    html = dictionary()
    assert (CONTROLS.findall(html.replace("\n", "")), r"\u0000\u009b\u202e" in html) == ([], True)


def test_figures_are_grouped_by_subject_with_expression_and_mart(html: str) -> None:
    assert "<summary>Sales</summary>" in html
    assert "<code>sum(a) / sum(b)</code>; never add it up; without VAT</td>" in html
    assert '<a href="#marts.offices"><code>marts.offices</code></a></td><td><code>month</code>' in html


@pytest.mark.parametrize(
    ("column", "word"),
    [
        ("active_agent_count", "headcount"),
        ("days_on_market", "days on market"),
        ("sold_average_commission", "average fee"),
    ],
)
def test_the_search_finds_a_column_by_its_synonyms(column: str, word: str) -> None:
    assert word in synonyms(column)
