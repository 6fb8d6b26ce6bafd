"""The reports of bids: requested for each sold estate.

Outside the business intelligence a customer id is that of an office, so each estate is asked for as its
office's, also where the customer is a group (interface, Endpoints).
"""

from __future__ import annotations

from pipelines.catalogue.model import (
    WEEKLY,
    Each,
    Endpoint,
    Ids,
    Report,
    Table,
    Timing,
    boolean,
    local_time,
    requested,
    text,
)

ASKED_OFFICE = requested("asked_customer_id", description="customer id of the requested office")
ASKED_ESTATE = requested("asked_estate_id", description="the requested estate")
SOLD_LATELY = Ids("sales_estates", ("office_customer_id", "id"), "contract_day >= _today - INTERVAL 60 DAY")

BID = (
    text("id", "id of the bid"),
    text("estateId", "id of the estate"),
    text("contactId", "id of the bidder", id_of="contact"),
    boolean("isCanceled", "whether the bid was annulled"),
    boolean("identifiedBidder", "whether the bidder has proven who it is"),
    text("alias", "the bidder's name in the bidding", personal=True),
    text("amount", "amount of the bid, a text; currency not documented", needed=True),
    local_time("createdAt", "when the bid was made"),
    text("condition", "condition that comes with the bid", personal=True),
    boolean("isHidden", "whether the bid is hidden"),
)

REPORTS = tuple(
    Report(
        name,
        subject="bidding",
        description=f"The {kind} bids of each estate sold in the latest 60 days: one request per estate "
        "a week.",
        endpoint=Endpoint(
            f"/CRM/{operation}/{{customerId}}",
            "none",
            each=Each(("customerId", "criteria.estateId"), (SOLD_LATELY,), WEEKLY),
        ),
        timing=Timing(enabled=False),
        stored_as="history",
        month_of_row="none",
        tables=(
            Table(
                name,
                "[]",
                f"One row per {kind} bid, annulled ones too.",
                BID,
                key=("id",),
                requested=(ASKED_OFFICE, ASKED_ESTATE),
            ),
        ),
    )
    for name, operation, kind in (("bids", "Bids", "visible"), ("hidden_bids", "HiddenBids", "hidden"))
)
