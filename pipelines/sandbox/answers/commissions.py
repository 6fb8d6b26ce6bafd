"""What did offices and users earn in an interval? Sums by commission split, of whole or single months."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from pipelines.months import Month, months_between
from pipelines.sandbox.answers import wording
from pipelines.sandbox.answers.question import Question
from pipelines.sandbox.answers.wording import Answer
from pipelines.sandbox.world.facts import SALE, VALUATION, WRITING, Office, Share


@dataclass(slots=True)
class Earned:
    """Sums in öre and hundredths of a percent; only these are added, never averages."""

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

    def worded(self) -> Answer:
        percentage = round(100 * self.sold_commission / self.sold_price, 4) if self.sold_price else 0.0
        average = round(self.sold_commission * 100 / self.sold, 2) if self.sold else 0.0
        return {
            "commission": wording.kronor(self.commission),
            "soldTotalPrice": wording.kronor(self.sold_price),
            "soldCommissionPercentage": percentage,
            "soldAverageCommission": average,
            "soldEstateParts": wording.parts(self.sold),
            "writingParts": wording.parts(self.writings),
            "valuationParts": wording.parts(self.valuations),
        }


def by_office(question: Question) -> object:
    """CommissionOfficeReport: a row for every office, also for one that earned nothing."""
    sums = {office.customer_id: Earned() for office in question.offices}
    for _, assignment, share in shares(question):
        sums[share.office].add(assignment, share)
    return [
        {
            "customerId": office.number,
            "office": _office(question, office),
            **sums[office.customer_id].worded(),
        }
        for office in question.offices
    ]


def by_user(question: Question) -> object:
    """CommissionUserReport: everybody employed in the interval, and everybody who earned something."""
    sums: dict[str, Earned] = {}
    first, last = question.start.date(), min(question.end.date(), question.known.world.as_of)
    for office in question.offices:
        for user in question.known.world.history.users(office.customer_id):
            if user.hired <= last and (user.left is None or user.left > first):
                sums[user.id] = Earned()
    for _, assignment, share in shares(question):
        sums.setdefault(share.user_id, Earned()).add(assignment, share)
    return [{"userId": user_id, **earned.worded()} for user_id, earned in sums.items()]


def by_month(question: Question) -> object:
    """CommissionOfficeReportByMonth: office > years > months, in order of time."""
    sums: dict[tuple[str, Month], Earned] = {}
    for signed, assignment, share in shares(question):
        sums.setdefault((share.office, Month.of(signed.date())), Earned()).add(assignment, share)
    return {"commissionOffices": [_monthly(question, office, sums) for office in question.offices]}


def _monthly(question: Question, office: Office, sums: dict[tuple[str, Month], Earned]) -> Answer:
    """Shape a has every month of the interval and numbers; shape b only months with activity, as text."""
    years: dict[int, list[Answer]] = {}
    spoken = question.shapes == "b"
    for month in months_between(Month.of(question.start.date()), Month.of(question.end.date())):
        earned = sums.get((office.customer_id, month))
        if earned is None and spoken:
            continue
        measures = (earned or Earned()).worded()
        name: object = f"{month.number:02d}" if spoken else month.number
        years.setdefault(month.year, []).append({"month": name, **measures})
    head: Answer = {"office": _office(question, office)} if spoken else dict(_office(question, office))
    return {
        **head,
        "years": [
            {"year": str(year) if spoken else year, "months": months}
            for year, months in sorted(years.items())
        ],
    }


def shares(question: Question) -> Iterator[tuple[datetime, str, Share]]:
    """Every share credited to the offices for contracts in the interval, also in estates of others."""
    wanted = {office.customer_id for office in question.offices}
    for office in _around(question):
        for standing in question.known.estates(office.customer_id):
            if question.choice not in (None, standing.estate.assignment) or not standing.now.contract_on:
                continue
            signed = datetime.combine(standing.now.contract_on, time.min)
            if question.covers(signed):
                for share in standing.now.shares:
                    if share.office in wanted:
                        yield signed, standing.estate.assignment, share


def _around(question: Question) -> list[Office]:
    """The offices asked for and their neighbours in the group, whose estates they may share."""
    found: dict[str, Office] = {}
    for office in question.offices:
        for other in question.known.world.offices_of(office.group) if office.group else (office,):
            found[other.customer_id] = other
    return list(found.values())


def _office(question: Question, office: Office) -> Answer:
    answer: Answer = {"customerId": office.customer_id, "name": office.name}
    if question.shapes == "b":
        answer["city"] = office.town.name
    return answer


def latest_three_months(question: Question) -> tuple[datetime, datetime]:
    """The month of today and the two before it: only these are calculated live."""
    today = question.known.world.as_of
    first = Month.of(today).plus(-2).first_day
    return datetime.combine(first, time.min), datetime.combine(today + timedelta(days=1), time.min)
