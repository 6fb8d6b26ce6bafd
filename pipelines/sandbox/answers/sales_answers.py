"""Sales: office > year > month > estate > agents > changes, and variants with fewer fields."""

from __future__ import annotations

from datetime import date

from pipelines.sandbox.answers import formats
from pipelines.sandbox.answers.formats import Object
from pipelines.sandbox.answers.snapshot import KnownEstate, Question
from pipelines.sandbox.world import market
from pipelines.sandbox.world.records import SALE, VALUATION, Foreign, Place, Share

LISTS = {
    market.HOUSE: "houses",
    market.ROW_HOUSE: "houses",
    market.HOUSING_COOPERATIVE: "housingCooperatives",
    market.COTTAGE: "cottages",
    market.PLOT: "plots",
    market.FARM: "farms",
    market.CONDOMINIUM: "condominiums",
    market.COMMERCIAL: "commercialProperties",
    market.FOREIGN: "foreignProperties",
}


def report_for_estate(question: Question) -> object:
    """GetSalesReportForEstate: a flat list of the estates with that id or number."""
    id_, number = question.ids.get("estateid"), question.ids.get("estatenumber")
    found = [
        _estate(question, known)
        for office in question.offices
        for known in question.snapshot.estates(office.customer_id)
        if known.estate.assignment != VALUATION
        and (known.estate.id == id_ or (number is not None and known.estate.number == number))
    ]
    return {"estates": found}


def sold_estates(question: Question) -> object:
    """Estates: references to sold estates, in one list per kind and office."""
    offices: list[Object] = []
    for office in question.offices:
        lists: dict[str, list[Object]] = {name: [] for name in dict.fromkeys(LISTS.values())}
        for known in question.snapshot.estates(office.customer_id):
            if known.estate.assignment == SALE and question.covers(known.now.contract_on):
                lists[LISTS[known.estate.kind]].append(_reference(question, known))
        head = {"name": office.name, "customerId": office.customer_id, "city": office.town.name}
        offices.append({**head, **lists})
    return offices


def _reference(question: Question, known: KnownEstate) -> Object:
    estate, now = known.estate, known.now
    responsible = question.snapshot.user(now.shares[0].office, now.shares[0].user_id)
    return {
        "id": estate.id,
        "status": formats.described(formats.STATUSES[now.status]),
        "address": _address(estate.place),
        "isNewHome": estate.is_new_home,
        "responsibleAgentName": question.snapshot.card(responsible).name,
        "contractDay": formats.day(now.contract_on),
        "advertisedAt": formats.moment(estate.advertised_at),
    }


def report(question: Question, *, sales_only: bool = False, thin: bool = False) -> object:
    """GetSalesReport (sales only), GetEstatesReport (writings too), GetEstateReportProdDb (fewer fields).

    Years and months are strings; the padding of months is not documented.
    """
    width = 2 if question.shapes == "b" else 1
    offices: list[Object] = []
    for office in question.offices:
        years: dict[int, dict[int, list[Object]]] = {}
        for known in question.snapshot.estates(office.customer_id):
            kind = known.estate.assignment
            wanted = kind == SALE if sales_only else kind != VALUATION
            when = _selected(question, known) if wanted else None
            if when is not None:
                row = _thin_estate(question, known) if thin else _estate(question, known)
                years.setdefault(when.year, {}).setdefault(when.month, []).append(row)
        rows = [
            {
                "year": str(year),
                "months": [
                    {"month": f"{month:0{width}d}", "estateSaleReports": months[month]}
                    for month in sorted(months)
                ],
            }
            for year, months in sorted(years.items())
        ]
        offices.append({"customerId": office.customer_id, "officeName": office.name, "years": rows})
    return {"officeSaleReports": offices}


def _selected(question: Question, known: KnownEstate) -> date | None:
    """The time by which the estate is selected, if it is in the interval."""
    candidates: list[date | None] = [known.now.contract_on]
    if question.choice in ("Changed", "LatestPropertyChangeDate"):
        candidates = [version.known_at for version in reversed(known.versions)]
    if question.choice == "LatestPropertyChangeDate":
        del candidates[1:]
    elif question.choice == "Create":
        candidates = [known.estate.created_at]
    elif question.choice == "Access":
        candidates = [known.now.access_on]
    return next((when for when in candidates if question.covers(when)), None)


def _estate(question: Question, known: KnownEstate) -> Object:
    estate, abroad = known.estate, known.now.foreign
    return {
        **_thin_estate(question, known),
        "address": _address(estate.place),
        "agents": _agents(question, known),
        "commissionForeign": abroad.commission / 100 if abroad else None,
        "intakeSource": {"id": estate.intake, "text": formats.INTAKES[estate.intake - 1]},
        "changes": [
            {
                "changedAt": formats.moment(version.known_at),
                "status": formats.described(formats.STATUSES[version.status]),
                "commission": version.commission / 100,
                "commissionForeign": version.foreign.commission / 100 if version.foreign else None,
                "startingPrice": version.starting_price,
                "finalPrice": version.final_price,
                **_prices_abroad(version.foreign),
            }
            for version in known.versions
        ],
        **_prices_abroad(abroad),
    }


def _thin_estate(question: Question, known: KnownEstate) -> Object:
    estate, now = known.estate, known.now
    return {
        "id": estate.id,
        "estateNumber": estate.number,
        "status": formats.described(formats.STATUSES[now.status]),
        "type": formats.described(formats.KINDS[estate.kind]),
        "assignment": formats.described(formats.ASSIGNMENTS[estate.assignment]),
        "address": {"streetAddress": estate.place.street, "zipCode": estate.place.zip_code},
        "agents": _agents(question, known, thin=True),
        "contractDay": formats.day(now.contract_on),
        "accessDay": formats.day(now.access_on),
        "depositReportedAt": formats.moment(now.deposit_reported_at),
        "commission": now.commission / 100,
        "commissionText": estate.commission_text,
        "commissionReceivedAt": formats.moment(now.commission_received_at),
        "isNewHome": estate.is_new_home,
        "wgs84Coordinate": {"longitud": estate.place.longitude, "latitud": estate.place.latitude},
        "changedAt": formats.moment(now.known_at),
        "startingPrice": now.starting_price,
        "finalPrice": now.final_price,
    }


def _address(place: Place) -> Object:
    return {"streetAddress": place.street, "zipCode": place.zip_code, "countryCode": place.country}


def _prices_abroad(abroad: Foreign | None) -> Object:
    return {
        "startingPriceForeign": abroad.starting_price if abroad else None,
        "finalPriceForeign": abroad.final_price if abroad else None,
        "currencyCode": abroad.currency if abroad else None,
        "currencyExchangeRate": abroad.rate / 10_000 if abroad else None,
    }


def _agents(question: Question, known: KnownEstate, *, thin: bool = False) -> list[Object]:
    """Every agent with the history of the share; the report with fewer fields lacks currency and history."""
    agents: list[Object] = []
    for share in known.now.shares:
        user = question.snapshot.user(share.office, share.user_id)
        name = question.snapshot.card(user).name
        office = question.snapshot.world.history.chain.offices[share.office]
        foreign = {} if thin else {"valueForeign": formats.hundredth(share.value_foreign)}
        percentage = {"percentageOfTotal": share.basis_points / 100}
        agent = {
            "id": user.id,
            "name": name,
            "initials": "".join(part[0] for part in name.split()).upper(),
            "employeeId": user.employee_id,
            "responsible": not agents,
            "primaryOffice": {
                "customerId": office.customer_id,
                "name": office.name,
                "city": office.town.name,
            },
            "commission": {"value": share.value / 100, **foreign, **percentage},
        }
        agents.append(agent if thin else {**agent, "changes": _share_changes(known, share.user_id)})
    return agents


def _share_changes(known: KnownEstate, user_id: str) -> list[Object]:
    """An entry for each change of the agent's share."""
    entries: list[Object] = []
    held: Share | None = None
    for version in known.versions:
        share = next((share for share in version.shares if share.user_id == user_id), None)
        if share is not None and share != held:
            entries.append(
                {
                    "changedAt": formats.moment(version.known_at),
                    "commission": share.value / 100,
                    "commissionForeign": formats.hundredth(share.value_foreign),
                    "percentageOfTotal": share.basis_points / 100,
                }
            )
            held = share
    return entries
