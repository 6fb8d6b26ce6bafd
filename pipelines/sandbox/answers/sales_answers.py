"""Answers about sales: office > year > month > estate > agent > change, and simpler forms."""

from __future__ import annotations

from datetime import date

from pipelines.sandbox.answers import formats
from pipelines.sandbox.answers.formats import Object
from pipelines.sandbox.answers.snapshot import EstateView, ReportQuery
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


def report_for_estate(query: ReportQuery) -> object:
    """GetSalesReportForEstate: a flat list of the estates with the requested id or number."""
    estate_id, number = query.parameters.get("estateid"), query.parameters.get("estatenumber")
    estates = [
        _estate(query, view)
        for office in query.offices
        for view in query.snapshot.estates(office.customer_id)
        if view.estate.assignment != VALUATION
        and (view.estate.id == estate_id or (number is not None and view.estate.number == number))
    ]
    return {"estates": estates}


def sold_estates(query: ReportQuery) -> object:
    """BusinessIntelligence/Estates: sold estates with few fields, listed by office and kind."""
    offices: list[Object] = []
    for office in query.offices:
        lists: dict[str, list[Object]] = {name: [] for name in dict.fromkeys(LISTS.values())}
        for view in query.snapshot.estates(office.customer_id):
            if view.estate.assignment == SALE and query.covers(view.current.contract_on):
                lists[LISTS[view.estate.kind]].append(_reference(query, view))
        head = {"name": office.name, "customerId": office.customer_id, "city": office.town.name}
        offices.append({**head, **lists})
    return offices


def _reference(query: ReportQuery, view: EstateView) -> Object:
    estate, now = view.estate, view.current
    responsible = query.snapshot.user(now.shares[0].office, now.shares[0].user_id)
    return {
        "id": estate.id,
        "status": formats.id_and_text(formats.STATUSES[now.status]),
        "address": _address(estate.place),
        "isNewHome": estate.is_new_home,
        "responsibleAgentName": query.snapshot.card(responsible).name,
        "contractDay": formats.day(now.contract_on),
        "advertisedAt": formats.moment(estate.advertised_at),
    }


def report(query: ReportQuery, *, sales_only: bool = False, is_short: bool = False) -> object:
    """GetSalesReport (`sales_only`), GetEstatesReport, and GetEstateReportProdDb (`is_short`: fewer fields).

    Unless `sales_only` is set, writing assignments are included. Years and months are strings. May is "5" in
    shape a and "05" in shape b, because the interface does not say which.
    """
    width = 2 if query.shapes == "b" else 1
    offices: list[Object] = []
    for office in query.offices:
        years: dict[int, dict[int, list[Object]]] = {}
        for view in query.snapshot.estates(office.customer_id):
            kind = view.estate.assignment
            is_included = kind == SALE if sales_only else kind != VALUATION
            selected_at = _selection_time(query, view) if is_included else None
            if selected_at is not None:
                row = _short_estate(query, view) if is_short else _estate(query, view)
                years.setdefault(selected_at.year, {}).setdefault(selected_at.month, []).append(row)
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


def _selection_time(query: ReportQuery, view: EstateView) -> date | None:
    """The contract day or another time, as `selectionType` says; None if outside the interval."""
    candidates: list[date | None] = [view.current.contract_on]
    if query.choice in ("Changed", "LatestPropertyChangeDate"):
        candidates = [version.known_at for version in reversed(view.versions)]
    if query.choice == "LatestPropertyChangeDate":
        del candidates[1:]
    elif query.choice == "Create":
        candidates = [view.estate.created_at]
    elif query.choice == "Access":
        candidates = [view.current.access_on]
    return next((when for when in candidates if query.covers(when)), None)


def _estate(query: ReportQuery, view: EstateView) -> Object:
    estate, foreign = view.estate, view.current.foreign
    return {
        **_short_estate(query, view),
        "address": _address(estate.place),
        "agents": _agents(query, view),
        "commissionForeign": foreign.commission / 100 if foreign else None,
        "intakeSource": {"id": estate.intake, "text": formats.INTAKES[estate.intake - 1]},
        "changes": [
            {
                "changedAt": formats.moment(version.known_at),
                "status": formats.id_and_text(formats.STATUSES[version.status]),
                "commission": version.commission / 100,
                "commissionForeign": version.foreign.commission / 100 if version.foreign else None,
                "startingPrice": version.starting_price,
                "finalPrice": version.final_price,
                **_foreign_prices(version.foreign),
            }
            for version in view.versions
        ],
        **_foreign_prices(foreign),
    }


def _short_estate(query: ReportQuery, view: EstateView) -> Object:
    estate, now = view.estate, view.current
    return {
        "id": estate.id,
        "estateNumber": estate.number,
        "status": formats.id_and_text(formats.STATUSES[now.status]),
        "type": formats.id_and_text(formats.KINDS[estate.kind]),
        "assignment": formats.id_and_text(formats.ASSIGNMENTS[estate.assignment]),
        "address": {"streetAddress": estate.place.street, "zipCode": estate.place.zip_code},
        "agents": _agents(query, view, is_short=True),
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


def _foreign_prices(foreign: Foreign | None) -> Object:
    return {
        "startingPriceForeign": foreign.starting_price if foreign else None,
        "finalPriceForeign": foreign.final_price if foreign else None,
        "currencyCode": foreign.currency if foreign else None,
        "currencyExchangeRate": foreign.rate / 10_000 if foreign else None,
    }


def _agents(query: ReportQuery, view: EstateView, *, is_short: bool = False) -> list[Object]:
    agents: list[Object] = []
    for share in view.current.shares:
        user = query.snapshot.user(share.office, share.user_id)
        name = query.snapshot.card(user).name
        office = query.snapshot.world.history.chain.offices[share.office]
        foreign = {} if is_short else {"valueForeign": formats.from_hundredths(share.value_foreign)}
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
        agents.append(agent if is_short else {**agent, "changes": _share_changes(view, share.user_id)})
    return agents


def _share_changes(view: EstateView, user_id: str) -> list[Object]:
    entries: list[Object] = []
    previous: Share | None = None
    for version in view.versions:
        share = next((share for share in version.shares if share.user_id == user_id), None)
        if share is not None and share != previous:
            entries.append(
                {
                    "changedAt": formats.moment(version.known_at),
                    "commission": share.value / 100,
                    "commissionForeign": formats.from_hundredths(share.value_foreign),
                    "percentageOfTotal": share.basis_points / 100,
                }
            )
            previous = share
    return entries
