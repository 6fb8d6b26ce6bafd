"""Commissions by office, by user, by month and live; running commissions (parts obtained on a day)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from pipelines.months import Month, months_between
from pipelines.sandbox.answers import formats
from pipelines.sandbox.answers.formats import Object
from pipelines.sandbox.answers.snapshot import ReportQuery
from pipelines.sandbox.world.records import SALE, VALUATION, WRITING, Office, Share


@dataclass(slots=True)
class Sums:
    """Sums over shares.

    The first three are amounts in öre. The last three are parts of assignments: 10,000 is a whole assignment.
    """

    commission: int = 0
    sold_commission: int = 0
    sold_price: int = 0
    sold: int = 0
    writings: int = 0
    valuations: int = 0

    def add(self, assignment: str, share: Share) -> None:
        self.commission += share.value
        if assignment == SALE:
            self.sold_commission += share.value
            self.sold_price += share.price
            self.sold += share.basis_points
        elif assignment == WRITING:
            self.writings += share.basis_points
        elif assignment == VALUATION:
            self.valuations += share.basis_points

    def measures(self) -> Object:
        percentage = round(100 * self.sold_commission / self.sold_price, 4) if self.sold_price else 0.0
        average = round(self.sold_commission * 100 / self.sold, 2) if self.sold else 0.0
        return {
            "commission": self.commission / 100,
            "soldTotalPrice": self.sold_price / 100,
            "soldCommissionPercentage": percentage,
            "soldAverageCommission": average,
            "soldEstateParts": self.sold / 10_000,
            "writingParts": self.writings / 10_000,
            "valuationParts": self.valuations / 10_000,
        }


def by_office(query: ReportQuery) -> object:
    """CommissionOfficeReport: a row for every office, even one that earned nothing."""
    sums = {office.customer_id: Sums() for office in query.offices}
    for _, assignment, share in _shares(query):
        sums[share.office].add(assignment, share)
    return [
        {
            "customerId": office.number,
            "office": _office(query, office),
            **sums[office.customer_id].measures(),
        }
        for office in query.offices
    ]


def by_user(query: ReportQuery) -> object:
    """CommissionUserReport: a row for every user who was employed or earned something in the interval."""
    sums = {user.id: Sums() for office in query.offices for user, _ in query.employed(office)}
    for _, assignment, share in _shares(query):
        sums.setdefault(share.user_id, Sums()).add(assignment, share)
    return [{"userId": user_id, **earned.measures()} for user_id, earned in sums.items()]


def by_month(query: ReportQuery) -> object:
    """CommissionOfficeReportByMonth: office > years > months, in chronological order.

    Shape "a" has every month of the interval; years and months are numbers.
    Shape "b" has only months with activity; years and months are text.
    """
    as_text = query.shapes == "b"
    sums: dict[tuple[str, Month], Sums] = {}
    for signed, assignment, share in _shares(query):
        sums.setdefault((share.office, Month.of(signed)), Sums()).add(assignment, share)
    offices: list[Object] = []
    for office in query.offices:
        years: dict[int, list[Object]] = {}
        for month in months_between(Month.of(query.start.date()), Month.of(query.end.date())):
            earned = sums.get((office.customer_id, month))
            if earned is not None or not as_text:
                number: object = f"{month.number:02d}" if as_text else month.number
                row = {"month": number, **(earned or Sums()).measures()}
                years.setdefault(month.year, []).append(row)
        rows = [{"year": str(year) if as_text else year, "months": years[year]} for year in sorted(years)]
        head = _office(query, office)
        offices.append({**({"office": head} if as_text else head), "years": rows})
    return {"commissionOffices": offices}


def running_commissions(query: ReportQuery) -> object:
    """RunningCommissions: parts of commissions obtained in the interval. Rows lack ids; two may be equal."""
    return [
        {
            "userId": step.user_id,
            "customerId": step.office,
            "estateId": step.estate_id,
            "amount": step.amount / 100,
            "exchangeRate": step.rate / 10_000,
            "obtainedAt": formats.day(step.obtained_on),
        }
        for office in query.offices
        for step in query.snapshot.running(office.customer_id)
        if query.covers(step.obtained_on)
    ]


def live_report(query: ReportQuery) -> object:
    """LiveData/CommissionReport: sums by user, of contracts signed in this month or in the two before it."""
    today = query.snapshot.world.as_of
    first, after = Month.of(today).plus(-2).first_day, today + timedelta(days=1)
    sums: dict[str, Sums] = {}
    for signed, assignment, share in _shares(query):
        if first <= signed < after:
            sums.setdefault(share.user_id, Sums()).add(assignment, share)
    rows: list[Object] = []
    for office in query.offices:
        for user, card in query.employed(office, extra_ids=sums):
            earned = sums.get(user.id, Sums())
            commission, parts = earned.commission / 100, earned.sold / 10_000
            if query.shapes == "b":
                agent = {"id": user.id, "name": card.name, "office": office.customer_id}
                value = {"value": commission, "currency": "SEK"}
                rows.append({"agent": agent, "commission": value, "parts": parts})
            else:
                ids = {"userId": user.id, "customerId": office.customer_id}
                rows.append({**ids, "commission": commission, "soldEstateParts": parts})
    return {"rows" if query.shapes == "b" else "users": rows}


def _shares(query: ReportQuery) -> Iterator[tuple[date, str, Share]]:
    """Yield the requested offices' shares of contracts in the interval, with contract day and assignment."""
    office_ids = {office.customer_id for office in query.offices}
    chain = query.snapshot.world.history.chain
    related = (other for office in query.offices for other in chain.group_offices(office))
    for office_id in dict.fromkeys(office.customer_id for office in related):
        for view in query.snapshot.estates(office_id):
            signed, assignment = view.current.contract_on, view.estate.assignment
            if signed and query.choice in (None, assignment) and query.covers(signed):
                for share in view.current.shares:
                    if share.office in office_ids:
                        yield signed, assignment, share


def _office(query: ReportQuery, office: Office) -> Object:
    answer: Object = {"customerId": office.customer_id, "name": office.name}
    if query.shapes == "b":
        answer["city"] = office.town.name
    return answer
