"""The reports of bids, of how bidding is shown, and of what was paid in: asked for by sold estate.

Outside the business intelligence a customer id is that of an office, so each estate is asked for as its
office's, also where the customer is a group (interface, Endpoints).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pipelines.catalogue.model import (
    WHEN_CHANGED,
    Each,
    Endpoint,
    Ids,
    Table,
    When,
    asked_one_by_one,
    boolean,
    day,
    inherited,
    local_time,
    money,
    nested,
    text,
)

ASKED_OFFICE = inherited("asked_customer_id", description="customer id of the office that we asked for")
ASKED_ESTATE = inherited("asked_estate_id", description="the estate that we asked for")
ASKED_BUYER = inherited("asked_contact_id", description="the contact that we asked for", id_of="contact")
SOLD = Ids("sales_estates", ("office_customer_id", "id"), changed="changed_at")

SOLD_LATELY = replace(  # some are never paid in, and are given up one day
    SOLD, condition="contract_day >= (SELECT max(contract_day) FROM bi.sales_estates) - INTERVAL 1 YEAR"
)

BID = (
    text("id", "id of the bid"),
    text("estateId", "id of the estate"),
    text("contactId", "id of the bidder", id_of="contact"),
    boolean("isCanceled", "whether the bid was annulled"),
    boolean("identifiedBidder", "whether the bidder has proven who it is"),
    text("alias", "the bidder's name in the bidding", personal=True),
    text("amount", "amount of the bid, a text; currency not documented"),
    local_time("createdAt", "when the bid was made"),
    text("condition", "condition that comes with the bid", personal=True),
    boolean("isHidden", "whether the bid is hidden"),
)
DEPOSIT = (
    money("amount", "the deposit; currency not documented"),
    day("payDay", "day on which the deposit is due"),
    local_time("paidAt", "when the deposit was paid"),
    local_time("reportedAt", "when the deposit was accounted for"),
    local_time("commissionReceivedAt", "when the commission was received"),
    day("contractDay", "day of the sale contract"),
    day("admissionDay", "day of possession"),
)

of_estate = partial(asked_one_by_one, subject="bidding")
now = partial(Endpoint, time_parameters="none")
by_estate = partial(Each, ("customerId", "estateId"))

REPORTS = (
    *(
        of_estate(
            name=name,
            description=f"The {kind} bids of each sold estate: one request per estate, once and again when "
            "its sale was changed.",
            endpoint=now(
                f"/CRM/{operation}/{{customerId}}",
                each=Each(("customerId", "criteria.estateId"), (SOLD,), WHEN_CHANGED),
            ),
            tables=(
                Table(
                    name,
                    rows="[]",
                    description=f"One row per {kind} bid, annulled ones too.",
                    columns=BID,
                    key=("id",),
                    inherited=(ASKED_OFFICE, ASKED_ESTATE),
                ),
            ),
        )
        for name, operation, kind in (("bids", "Bids", "visible"), ("hidden_bids", "HiddenBids", "hidden"))
    ),
    of_estate(
        name="deposits",
        description="The deposit of each estate sold in the latest year: one request per estate a week, "
        "until it is paid.",
        endpoint=now(
            "/CRM/Economy/{customerId}/CRM/Estate/{estateId}/deposit",
            each=by_estate((SOLD_LATELY,), When(days=7, until="paid_at")),
        ),
        tables=(
            Table(
                "deposits",
                rows="",
                description="One row per sold estate.",
                columns=DEPOSIT,
                inherited=(ASKED_OFFICE, ASKED_ESTATE),
            ),
        ),
    ),
    of_estate(
        name="bidding_settings",
        description="How the bids of each sold estate are shown: one request per estate, once and again when "
        "its sale was changed.",
        endpoint=now(
            "/CRM/Estate/{customerId}/{estateId}/biddingSettings", each=by_estate((SOLD,), WHEN_CHANGED)
        ),
        tables=(
            Table(
                "bidding_settings",
                rows="",
                description="One row per sold estate; no field is documented.",
                inherited=(ASKED_OFFICE, ASKED_ESTATE),
            ),
        ),
    ),
    of_estate(
        name="buyer_economy",
        description="The bank and the insurer of each identified bidder of a sold estate, without accounts, "
        "which are not even landed: one request per bidder and estate, once. Personal, and off.",
        endpoint=now(
            "/CRM/Buyer/{customerId}/{contactId}/Estate/{estateId}/Economy",
            each=Each(
                ("customerId", "contactId", "estateId"),
                (
                    Ids(
                        "bids",
                        ("asked_customer_id", "contact_id", "estate_id"),
                        "identified_bidder AND is_canceled IS DISTINCT FROM true",
                    ),
                ),
                When(),
            ),
            never_landed=frozenset({"account", "clearing", "clering", "iban", "konto"}),
        ),
        tables=(
            Table(
                "buyer_economy",
                rows="",
                description="One row per bidder and estate.",
                columns=(
                    *nested("bank", (text("name", "name of the bank", personal=True),)),
                    *nested("insuranceCompany", (text("name", "name of the insurer", personal=True),)),
                ),
                inherited=(ASKED_OFFICE, ASKED_BUYER, ASKED_ESTATE),
            ),
        ),
    ),
)
