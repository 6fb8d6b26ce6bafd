"""Squares of the operators' page: only of what misses a month, the newest first."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from pipelines.page.facts import Facts, Row
from pipelines.page.language import language
from pipelines.page.operators import operators_page
from tests.unit.page.given import month


def test_months_of_a_report_stand_side_by_side_from_the_newest() -> None:
    states = {"2026-02": "failed", "2026-01": "held", "2025-12": "missing"}
    squares = [
        Row(report="sales", customer="M1", month=month(text), state=state, is_trouble=True, missing_count=2)
        for text, state in states.items()
    ]
    page = operators_page(Facts(coverage=squares), language("en"), ZoneInfo("UTC"))
    [matrix] = page.matrices
    assert (matrix.report, matrix.missing) == ("sales", 2)
    assert matrix.months == [(2026, [month("2026-02"), month("2026-01")]), (2025, [month("2025-12")])]
    assert [square and square.state for square in matrix.rows[0][1]] == ["failed", "held", "missing"]
    assert [sign for _, sign, _ in page.signs] == ["✓", "–", "✕"]
