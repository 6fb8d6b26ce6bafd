"""The reports of areas, of categories of contacts, and of housing associations: lists of an office.

Outside the business intelligence a customer id is that of an office, so they are asked for office by office
(interface, Endpoints); the offices are those with sales.
"""

from __future__ import annotations

from functools import partial

from pipelines.catalogue.bidding import ASKED_OFFICE
from pipelines.catalogue.model import (
    WEEKLY,
    Each,
    Endpoint,
    Ids,
    Table,
    Timing,
    asked_one_by_one,
    boolean,
    inherited,
    integer,
    json,
    local_time,
    nested,
    text,
)

OFFICES = (Ids("sales_estates", ("office_customer_id",)), Ids("commission_office", ("office_customer_id",)))
ASKED_ASSOCIATION = inherited("asked_association_id", description="the association that we asked for")

SURROUNDING = (
    text("generalAboutArea", "text about the area"),
    text("nearService", "text about services nearby"),
    text("communication", "text about transport"),
    text("parking", "text about parking"),
    text("other", "other text about the surroundings"),
)
AREA = (
    text("areaId", "id of the area"),
    boolean("archived", "whether the area is archived"),
    text("externalId", "id of the area elsewhere"),
    text("areaName", "name of the area"),
    text("description", "text about the area"),
    boolean("showOnInternet", "whether the area is shown on the web"),
    *nested("surrounding", SURROUNDING),
    text("county", "code of county and municipality"),
    json("polygon", "outline as JSON, points in their order; coordinate system not documented"),
    json("polygonWGS84", "outline as JSON, points in their order, in WGS84"),
    json("images", "images of the area, as JSON"),
    local_time("dateChanged", "when the area was last changed"),
)
CATEGORY = (
    text("id", "id of the category"),
    text("name", "name of the category"),
    boolean("readOnly", "whether the system assigns it, so that nobody may"),
)
ASSOCIATION = (
    text("id", "id of the association"),
    local_time("changedAt", "when the association was last changed"),
    text("name", "name of the association"),
    text("corporateNumber", "organisation number"),
    text("organizationalForm", "legal form, a word"),
    text("email", "e-mail address of the association"),
    text("homePage", "web page of the association"),
    text("genuineAssociation", "how it is taxed, a word"),
    integer("numberOfApartments", "flats"),
    integer("numberOfRentalApartments", "flats that are rented"),
    integer("numberOfPremises", "premises"),
    *nested(
        "economy",
        (
            text("monthlyFeeInformation", "text about the monthly fee"),
            text("finances", "text about its economy and planned changes"),
            text("sublettingPolicy", "text about subletting"),
            text("theAssociationOwnTheGround", "whether it owns the ground, a text"),
            integer("transferFee", "fee of a transfer; currency not documented"),
            text("transferFeePaidBy", "who pays that fee, a word"),
            integer("pledgeFee", "fee of a pledge; currency not documented"),
            text("allowLegalPersonAsBuyer", "whether legal persons may buy, a word"),
            text("allowsSharedOwnershipInfo", "text about shared ownership"),
        ),
    ),
    *nested(
        "publicContact",
        (
            text("name", "name of the contact person", personal=True),
            text("cellPhone", "mobile phone number of the contact person", personal=True),
            text("otherPhone", "phone number of the contact person", personal=True),
            text("email", "e-mail address of the contact person", personal=True),
        ),
    ),
    json("documents", "published documents, as JSON"),
)

of_office = partial(asked_one_by_one, subject="areas")


def _by_office(path: str, parameter: str) -> Endpoint:
    return Endpoint(
        path,
        time_parameters="none",
        customer_parameter=parameter,
        each=Each(parameter, OFFICES, WEEKLY),
    )


REPORTS = (
    of_office(
        name="areas",
        description="The areas of each office, with their outlines: one request per office a week.",
        endpoint=_by_office("/Area/GetAreas", "criteria.customerId"),
        tables=(
            Table(
                "areas",
                rows="[]",
                description="One row per area and office.",
                columns=AREA,
                key=("asked_customer_id", "area_id"),
                inherited=(ASKED_OFFICE,),
            ),
        ),
    ),
    of_office(
        name="focus_areas",
        description="The areas that each office gives its mind to: one request per office a week.",
        endpoint=_by_office("/Area/FocusArea", "request.customerId"),
        tables=(
            Table(
                "focus_areas",
                rows="[]",
                description="One row per focus area and office; no field is documented.",
                inherited=(ASKED_OFFICE,),
            ),
        ),
    ),
    of_office(
        name="categories",
        description="The categories that contacts of each office may have: one request per office a week.",
        endpoint=_by_office("/Category/GetCategories", "customerId"),
        tables=(
            Table(
                "categories",
                rows="*[]",
                description="One row per category and office; `kind` is the list it came in.",
                columns=CATEGORY,
                key=("asked_customer_id", "id"),
                key_column="kind",
                inherited=(ASKED_OFFICE,),
            ),
        ),
    ),
    of_office(
        name="advertising_associations",
        description="A housing association as it is advertised, asked for by id: no report tells which "
        "association an estate belongs to.",
        endpoint=Endpoint(
            "/Advertising/Association/{customerId}/{associationId}",
            time_parameters="none",
            each=Each("associationId"),
        ),
        timing=Timing(enabled=False, on_demand=True),
        tables=(
            Table(
                "advertising_associations",
                rows="",
                description="One row per association.",
                columns=ASSOCIATION,
                inherited=(ASKED_ASSOCIATION,),
            ),
        ),
    ),
)
