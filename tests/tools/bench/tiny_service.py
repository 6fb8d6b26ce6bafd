"""What does a service cost that costs nothing? Answers of a few rows, made without a socket or a world."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any

import httpx

Row = dict[str, Any]

OFFICES = 3
"""How many offices, users, sales or leads an answer tells of for each month."""


class TinyService(httpx.AsyncBaseTransport):
    """Every report of the interface with a handful of rows, the same whenever it is asked."""

    def __init__(self) -> None:
        self.requests = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        path = request.url.path.strip("/").split("/")
        body = json.dumps(_answer(path, dict(request.url.params)), separators=(",", ":")).encode()
        return httpx.Response(200, headers={"Content-Type": "application/json"}, content=body)


def _answer(path: list[str], query: Mapping[str, str]) -> object:
    """The answer to a path; refuses one that no report of the interface has."""
    operation = path[-1] if path[1] == "External" else path[path[0] == "BusinessIntelligence"]
    customer = query.get("customerId") or next(
        part for part in path if part[:1] == "C" and part[1:].isdigit()
    )
    return _ANSWERS[operation](customer, list(_months(query)), query)


def _months(query: Mapping[str, str]) -> Iterator[date]:
    if "dateFrom" in query:
        first, last = (date.fromisoformat(query[name][:10]) for name in ("dateFrom", "dateTo"))
        for number in range(first.year * 12 + first.month - 1, last.year * 12 + last.month):
            yield date(number // 12, number % 12 + 1, 1)


def _some(customer: str) -> Iterator[str]:
    return (f"{customer}-{number}" for number in range(OFFICES))


def _earned(customer: str, **names: object) -> Row:
    return {
        **names, "commission": 41500.5, "soldTotalPrice": 2950000, "soldCommissionPercentage": 1.41,
        "soldAverageCommission": 20750.25, "soldEstateParts": 1.5, "writingParts": 0.5, "valuationParts": 2,
        "period": customer,
    }  # fmt: skip


def _office_earnings(customer: str, _: list[date], __: Mapping[str, str]) -> object:
    return [_earned(customer, office={"customerId": one}, customerId=17) for one in _some(customer)]


def _user_earnings(customer: str, _: list[date], __: Mapping[str, str]) -> object:
    return [_earned(customer, userId=one) for one in _some(customer)]


def _by_month(customer: str, months: list[date], _: Mapping[str, str]) -> object:
    years = sorted({month.year for month in months})
    return {"commissionOffices": [
        {"customerId": one, "years": [
            {"year": year, "months": [
                {"month": month.month, "commission": 41500.5, "soldEstateParts": 1.5}
                for month in months if month.year == year
            ]} for year in years
        ]} for one in _some(customer)
    ]}  # fmt: skip


def _running(customer: str, months: list[date], _: Mapping[str, str]) -> object:
    return [
        {"userId": one, "customerId": customer, "estateId": f"E{one}", "amount": 1250.75, "exchangeRate": 1,
         "obtainedAt": f"{month}T11:30:00"}
        for month in months for one in _some(customer)
    ]  # fmt: skip


def _estate(one: str, month: date) -> Row:
    return {
        "id": f"E{one}-{month}", "estateNumber": one, "status": {"id": 3, "text": "Sold"},
        "type": {"id": 1, "text": "House"}, "address": {"streetAddress": "Storgatan 1", "zipCode": "11122"},
        "contractDay": f"{month}T00:00:00", "commission": 41500.5, "isNewHome": False,
        "wgs84Coordinate": {"longitud": 18.06, "latitud": 59.33}, "finalPrice": 2950000,
        "responsibleAgentName": "Anna Ek",
    }  # fmt: skip


def _agent(one: str, month: date) -> Row:
    share = {"value": 41500.5, "percentageOfTotal": 100}
    changes = [{"changedAt": f"{month}T10:00:00", "commission": 41500.5, "percentageOfTotal": 100}]
    return {"id": f"U{one}", "name": "Anna Ek", "responsible": True, "commission": share, "changes": changes}


def _sale(one: str, month: date) -> Row:
    changes = [{"changedAt": f"{month}T09:00:00", "commission": 41500.5, "finalPrice": 2950000}]
    return {**_estate(one, month), "agents": [_agent(one, month)], "changes": changes}


def _sales(customer: str, months: list[date], _: Mapping[str, str]) -> object:
    years = sorted({month.year for month in months})
    return {"officeSaleReports": [{"customerId": customer, "officeName": customer, "years": [
        {"year": str(year), "months": [
            {"month": str(month.month), "estateSaleReports": [_sale(one, month) for one in _some(customer)]}
            for month in months if month.year == year
        ]} for year in years
    ]}]}  # fmt: skip


def _references(customer: str, months: list[date], _: Mapping[str, str]) -> object:
    houses = [_estate(one, month) for month in months for one in _some(customer)]
    return [{"customerId": customer, "name": customer, "city": "Umeå", "houses": houses, "plots": []}]


def _leads(customer: str, months: list[date], query: Mapping[str, str]) -> object:
    if query.get("pageIndex", "0") != "0":
        months = []
    party = {"id": customer, "name": "Anna Ek", "company": {"id": customer, "name": "Ek"}}
    rows = [
        {"createdAt": f"{month}T08:15:00", "sender": party, "receiver": party,
         "contact": {"id": one, "firstName": "Bo", "lastName": "Al"}, "id": f"{one}-{month}"}
        for month in months for one in _some(customer)
    ]  # fmt: skip
    about = {"title": "Hej", "state": "New", "message": "", "type": "Web"}
    return {
        "incomingLeads": [{**row, "lead": {"id": row["id"], **about}} for row in rows],
        "outgoingLeads": [{**row, "lead": {"id": row["id"], **about}} for row in rows],
        "tips": [{**row, "tip": {"id": row["id"], **about}} for row in rows],
    }


def _users(customer: str, _: list[date], __: Mapping[str, str]) -> object:
    return [
        {"id": one, "name": "Anna Ek", "emailAddress": f"{one}@example.com", "changedAt": "2024-02-03T04:05",
         "image": {"imageId": one, "extension": "jpg"}, "spokenLanguages": [{"code": "sv"}, {"code": "en"}]}
        for one in _some(customer)
    ]  # fmt: skip


def _live(customer: str, _: list[date], __: Mapping[str, str]) -> object:
    return {"users": [{"userId": one, "customerId": customer, "meetings": 4, "commission": 41500.5}
                      for one in _some(customer)]}  # fmt: skip


def _trademarks(customer: str, _: list[date], __: Mapping[str, str]) -> object:
    return [{"id": customer, "name": "Ek"}]


def _budget_report(customer: str, _: list[date], __: Mapping[str, str]) -> object:
    return [
        {
            "customerId": one,
            "name": one,
            "city": "Umeå",
            "users": [{"userId": f"U{one}", "sold": 2, "total": 9}],
        }
        for one in _some(customer)
    ]


def _budget(customer: str, _: list[date], __: Mapping[str, str]) -> object:
    return [
        {"customerId": customer, "userId": one, "sold": 2, "commission": 90000} for one in _some(customer)
    ]


_ANSWERS: Mapping[str, Callable[[str, list[date], Mapping[str, str]], object]] = {
    "CommissionOfficeReport": _office_earnings,
    "CommissionUserReport": _user_earnings,
    "CommissionOfficeReportByMonth": _by_month,
    "RunningCommissions": _running,
    "GetSalesReport": _sales,
    "GetEstatesReport": _sales,
    "GetEstateReportProdDb": _sales,
    "Estates": _references,
    "TipsAndLeads": _leads,
    "Users": _users,
    "Trademarks": _trademarks,
    "LiveData": _live,
    "Report": _budget_report,
    "Budget": _budget,
}
