"""How are sales told? Office > year > month > estate > agents > changes, and the thinner variants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, time

from pipelines.sandbox.answers import wording
from pipelines.sandbox.answers.agents import agents, thin_agents
from pipelines.sandbox.answers.question import Question
from pipelines.sandbox.answers.standing import Standing
from pipelines.sandbox.answers.wording import Answer
from pipelines.sandbox.world import market
from pipelines.sandbox.world.facts import SALE, VALUATION, Office, Version

LISTS = {
    "houses": (market.HOUSE, market.ROW_HOUSE),
    "housingCooperatives": (market.HOUSING_COOPERATIVE,),
    "cottages": (market.COTTAGE,),
    "plots": (market.PLOT,),
    "farms": (market.FARM,),
    "condominiums": (market.CONDOMINIUM,),
    "commercialProperties": (market.COMMERCIAL,),
    "foreignProperties": (market.FOREIGN,),
}


def sales_report(question: Question) -> object:
    """GetSalesReport: sales only."""
    return _tree(question, assignments=(SALE,), thin=False)


def estates_report(question: Question) -> object:
    """GetEstatesReport: everything with a contract, so sales and writings but no valuations."""
    return _tree(question, assignments=None, thin=False)


def estates_report_prod(question: Question) -> object:
    """GetEstateReportProdDb: the same estates in a thinner row."""
    return _tree(question, assignments=None, thin=True)


def sales_report_for_estate(question: Question) -> object:
    """GetSalesReportForEstate: a flat list of the estates with that id or number."""
    wanted_id, wanted_number = question.estate
    found = [
        _estate(question, standing)
        for office in question.offices
        for standing in question.known.estates(office.customer_id)
        if standing.estate.assignment != VALUATION
        and (wanted_id is None or standing.estate.id == wanted_id)
        and (wanted_number is None or standing.estate.number == wanted_number)
    ]
    return {"estates": found if any(question.estate) else []}


def sold_estates(question: Question) -> object:
    """Estates: references to what was sold, one list per kind and office."""
    return [
        {
            "name": office.name,
            "customerId": office.customer_id,
            "city": office.town.name,
            **{name: list(_references(question, office, kinds)) for name, kinds in LISTS.items()},
        }
        for office in question.offices
    ]


def _tree(question: Question, assignments: tuple[str, ...] | None, *, thin: bool) -> Answer:
    return {
        "officeSaleReports": [
            {
                "customerId": office.customer_id,
                "officeName": office.name,
                "years": _years(question, office, assignments, thin=thin),
            }
            for office in question.offices
        ]
    }


def _years(
    question: Question, office: Office, assignments: tuple[str, ...] | None, *, thin: bool
) -> list[Answer]:
    """Years and months are strings; the padding of the month is nobody's to know."""
    years: dict[int, dict[int, list[Answer]]] = {}
    for standing in question.known.estates(office.customer_id):
        wanted = standing.estate.assignment in assignments if assignments else _has_contract(standing)
        when = _selected(question, standing) if wanted else None
        if when is not None:
            row = _thin_estate(question, standing) if thin else _estate(question, standing)
            years.setdefault(when.year, {}).setdefault(when.month, []).append(row)
    width = 2 if question.shapes == "b" else 1
    return [
        {
            "year": str(year),
            "months": [
                {"month": f"{month:0{width}d}", "estateSaleReports": rows}
                for month, rows in sorted(months.items())
            ],
        }
        for year, months in sorted(years.items())
    ]


def _has_contract(standing: Standing) -> bool:
    return standing.estate.assignment != VALUATION


def _selected(question: Question, standing: Standing) -> datetime | None:
    """The moment by which the estate is selected, when it lies in the interval."""
    for when in _candidates(question.choice or "Agreement", standing):
        if question.covers(when):
            return when
    return None


def _candidates(selection: str, standing: Standing) -> Iterable[datetime]:
    now = standing.now
    if selection == "Create":
        return [standing.estate.created_at]
    if selection == "LatestPropertyChangeDate":
        return [now.known_at]
    if selection == "Changed":
        return [version.known_at for version in reversed(standing.known)]
    chosen = now.access_on if selection == "Access" else now.contract_on
    return [] if chosen is None else [datetime.combine(chosen, time.min)]


def _estate(question: Question, standing: Standing) -> Answer:
    estate, now, abroad = standing.estate, standing.now, standing.now.foreign
    row = _thin_estate(question, standing)
    row["address"] = {
        "streetAddress": estate.place.street,
        "zipCode": estate.place.zip_code,
        "countryCode": estate.place.country,
    }
    row["agents"] = agents(question.known, standing)
    row["commissionForeign"] = wording.amount(abroad.commission) if abroad else None
    row["intakeSource"] = {"id": estate.intake, "text": wording.INTAKES[estate.intake - 1]}
    row["changes"] = [_change(version) for version in standing.known]
    row["startingPriceForeign"] = abroad.starting_price if abroad else None
    row["finalPriceForeign"] = abroad.final_price if abroad else None
    row["currencyCode"] = abroad.currency if abroad else None
    row["currencyExchangeRate"] = wording.rate(abroad.rate) if abroad else None
    row["startingPrice"], row["finalPrice"] = now.starting_price, now.final_price
    return row


def _thin_estate(question: Question, standing: Standing) -> Answer:
    estate, now = standing.estate, standing.now
    return {
        "id": estate.id,
        "estateNumber": estate.number,
        "status": wording.described(wording.STATUS_IDS[now.status]),
        "type": wording.described(wording.KIND_IDS[estate.kind]),
        "assignment": wording.described(wording.ASSIGNMENT_IDS[estate.assignment]),
        "address": {"streetAddress": estate.place.street, "zipCode": estate.place.zip_code},
        "agents": thin_agents(question.known, standing),
        "contractDay": wording.day(now.contract_on),
        "accessDay": wording.day(now.access_on),
        "depositReportedAt": wording.moment(now.deposit_reported_at),
        "commission": wording.kronor(now.commission),
        "commissionText": estate.commission_text,
        "commissionReceivedAt": wording.moment(now.commission_received_at),
        "isNewHome": estate.is_new_home,
        "wgs84Coordinate": {"longitud": estate.place.longitude, "latitud": estate.place.latitude},
        "changedAt": wording.moment(now.known_at),
        "startingPrice": now.starting_price,
        "finalPrice": now.final_price,
    }


def _change(version: Version) -> Answer:
    abroad = version.foreign
    return {
        "changedAt": wording.moment(version.known_at),
        "status": wording.described(wording.STATUS_IDS[version.status]),
        "commission": wording.kronor(version.commission),
        "commissionForeign": wording.amount(abroad.commission) if abroad else None,
        "startingPrice": version.starting_price,
        "finalPrice": version.final_price,
        "startingPriceForeign": abroad.starting_price if abroad else None,
        "finalPriceForeign": abroad.final_price if abroad else None,
        "currencyCode": abroad.currency if abroad else None,
        "currencyExchangeRate": wording.rate(abroad.rate) if abroad else None,
    }


def _references(question: Question, office: Office, kinds: tuple[str, ...]) -> Iterator[Answer]:
    for standing in question.known.sales(office.customer_id):
        estate, now = standing.estate, standing.now
        signed = datetime.combine(now.contract_on, time.min) if now.contract_on else None
        if estate.kind in kinds and question.covers(signed):
            responsible = question.known.user(now.shares[0].office, now.shares[0].user_id)
            yield {
                "id": estate.id,
                "status": wording.described(wording.STATUS_IDS[now.status]),
                "address": {
                    "streetAddress": estate.place.street,
                    "zipCode": estate.place.zip_code,
                    "countryCode": estate.place.country,
                },
                "isNewHome": estate.is_new_home,
                "responsibleAgentName": question.known.card(responsible).name,
                "contractDay": wording.day(now.contract_on),
                "advertisedAt": wording.moment(estate.advertised_at),
            }
