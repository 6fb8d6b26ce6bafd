"""Answers: the requested rows, in documented shapes or in one of two undocumented ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.sandbox.asking import AGREED, BI, EVERYTHING, MAY, YEAR, Json, ask, estates, leads, quiet

ESTATE = (
    "id estateNumber status type assignment address agents contractDay accessDay depositReportedAt "
    "commission commissionText commissionReceivedAt isNewHome wgs84Coordinate changedAt startingPrice "
    "finalPrice"
)
AGENT = "id name initials employeeId responsible primaryOffice commission"
FOREIGN = "commissionForeign startingPriceForeign finalPriceForeign currencyCode currencyExchangeRate"
# Of an estate, its agent, the agent's commission, and a change of the agent and of the estate.
FIELDS = {
    "GetEstateReportProdDb": [ESTATE, AGENT, "value percentageOfTotal"],
    "GetSalesReport": [
        f"{ESTATE} {FOREIGN} intakeSource changes",
        f"{AGENT} changes",
        "value valueForeign percentageOfTotal",
        "changedAt commission commissionForeign percentageOfTotal",
        f"changedAt status commission startingPrice finalPrice {FOREIGN}",
    ],
}
MEASURES = (
    "commission soldTotalPrice soldCommissionPercentage soldAverageCommission soldEstateParts writingParts "
    "valuationParts"
).split()
WALL_CLOCK = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.(\d{1,3}|\d{7}))?")
UNDOCUMENTED: tuple[tuple[str, dict[str, Any]], ...] = (
    (f"{BI}/LiveData/Report", MAY),
    (f"{BI}/TipsAndLeads/Report/Paged", {**MAY, "pageIndex": 0, "pageSize": 10}),
    (f"{BI}/External/Trademarks", {}),
    (f"{BI}/Budget/Estate/G1/2025/5", {}),
    ("/Report/Budget/G1/Commission", {}),
    (f"{BI}/CommissionOfficeReportByMonth/G1", YEAR),
)


def _names(answer: Json) -> Iterator[str]:
    """Every path of names there is."""
    if isinstance(answer, dict):
        for name, value in answer.items():
            yield name
            yield from (f"{name}.{inner}" for inner in _names(value))
    elif isinstance(answer, list):
        for item in answer:
            yield from (f"[].{inner}" for inner in _names(item))


@pytest.mark.parametrize(("report", "fields"), FIELDS.items())
def test_an_estate_has_the_documented_fields(report: str, fields: list[str]) -> None:
    tree = ask(quiet(), f"{BI}/{report}", customerId="G1", **AGREED, **YEAR)
    estate = next(estate for _, _, estate in estates(tree))
    agent = estate["agents"][0]
    changes = [part["changes"][0] for part in (agent, estate) if "changes" in part]
    found = [sorted(part) for part in (estate, agent, agent["commission"], *changes)]
    assert found == [sorted(names.split()) for names in fields]


def test_commission_rows_have_the_documented_fields() -> None:
    service = quiet()
    office = ask(service, f"{BI}/CommissionOfficeReport/G1", **YEAR)[0]
    user = ask(service, f"{BI}/CommissionUserReport/G1", **YEAR)[0]
    assert [list(office), list(user)] == [["customerId", "office", *MEASURES], ["userId", *MEASURES]]


def test_times_are_local_without_an_offset() -> None:
    answer = ask(quiet(), f"{BI}/TipsAndLeads/Report", customerId="G1", **EVERYTHING, **MAY)
    written = [row["createdAt"] for _, row in leads(answer)]
    assert [text for text in written if not WALL_CLOCK.fullmatch(text)] == []
    assert len({len(text) for text in written}) > 2


@pytest.mark.parametrize(("path", "query"), UNDOCUMENTED)
def test_undocumented_answers_have_two_shapes(path: str, query: dict[str, object]) -> None:
    asked = query if "/G1" in path else {"customerId": "G1", **query}
    first, second = (set(_names(ask(quiet(shapes=shapes), path, **asked))) for shapes in ("a", "b"))
    assert first != second
