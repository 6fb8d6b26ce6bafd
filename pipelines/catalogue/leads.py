"""The reports of tips and leads, and of the bids for each sold estate.

Bids can be requested with the id of an office, but not with that of a group (interface, Endpoints). So the
bids for an estate are requested with the id of its office.
"""

from __future__ import annotations

from functools import partial

from pipelines.catalogue.model import (
    LABEL,
    ById,
    Choices,
    Endpoint,
    Ids,
    Report,
    Table,
    Timing,
    Unsettled,
    boolean,
    local_time,
    nested,
    requested,
    text,
)

IS_REMOVED = requested(
    "is_removed",
    type="BOOLEAN",
    description="whether the lead or tip was removed; null if the service returned the same rows for active "
    "and for removed ones, or if version 0.1 loaded the row",
)
ACTIVE_THEN_REMOVED = Choices("activeStatusTipLead", IS_REMOVED, {"Active": False, "Removed": True})

TWO_MONTHS = 2  # interface, Limits: the interval must not exceed two months

COMPANY = (
    text("id", "id of the company"),
    text("name", "name of the company"),
    text("customerNumber", "customer number of the company"),
)

LEAD_PARTY = (
    text("id", "id of the party", id_of="user"),
    text("name", "name of the party", personal=True),
    *nested("company", COMPANY),
)

TIP_RECEIVER = (
    *LEAD_PARTY,
    text("employeeNumber", "employee number of the receiver", personal=True),
    text("type", "whether the receiver is a User, a Group or an Office"),
)

LEAD_USER = (
    text("id", "id of the user", id_of="user"),
    text("name", "name of the user", personal=True),
    text("type", "kind of user: User, Group or Office"),
    text("employeeNumber", "employee number of the user", personal=True),
)

OUTGOING_DETAILS = (
    text("id", "id of the lead"),
    text("title", "heading of the lead"),
    text("type", "kind of lead, as free text"),
    text("message", "free text of the lead", personal=True),
)

INCOMING_DETAILS = (
    *OUTGOING_DETAILS,
    text("state", "state of the lead, such as New or Done; others are possible", needed=True),
)

TIP_DETAILS = (
    text("id", "id of the tip"),
    text("title", "heading of the tip"),
    text("state", "state of the tip, such as New or Done; others are possible", needed=True),
    text("message", "the sender's text, which the receiver may have edited", personal=True),
    text("type", "whether the tip came FromUser or FromViewing"),
)

CONTACT = (
    text("id", "id of the contact", id_of="contact"),
    text("firstName", "given name of the contact", personal=True),
    text("lastName", "family name of the contact", personal=True),
)

LEAD_ESTATE = (
    text("id", "id of the estate"),
    text("estateStatus", "state of the estate, such as ForSale or Sold; others are possible"),
    *nested("status", LABEL),
)

INCOMING_LEAD = (
    local_time("createdAt", "when the lead was created"),
    *nested("sender", LEAD_PARTY),
    *nested("receiver", LEAD_PARTY),
    *nested("lead", INCOMING_DETAILS),
    *nested("contact", CONTACT),
    *nested("estate", LEAD_ESTATE),
)

OUTGOING_LEAD = (
    local_time("createdAt", "when the lead was created"),
    *nested("user", LEAD_USER),
    *nested("sender", LEAD_PARTY),
    *nested("receiver", LEAD_PARTY),
    *nested("lead", OUTGOING_DETAILS),
    *nested("contact", CONTACT),
)

TIP = (
    local_time("createdAt", "when the tip was created"),
    *nested("sender", LEAD_PARTY),
    *nested("receiver", TIP_RECEIVER),
    *nested("tip", TIP_DETAILS),
    *nested("contact", CONTACT),
    *nested("estate", LEAD_ESTATE),
)

NOT_ANSWERED = Unsettled("incoming_leads", "lead_state = 'New' AND is_removed IS NOT TRUE", max_months=1)
dated_table = partial(Table, dated_by="created_at", requested=(IS_REMOVED,))
lead_table = partial(dated_table, key=("lead_id",))

REQUESTED_OFFICE = requested("asked_customer_id", description="customer id of the requested office")
REQUESTED_ESTATE = requested("asked_estate_id", description="id of the requested estate")
SOLD_LATELY = Ids("sales_estates", ("office_customer_id", "id"), "contract_day >= _today - INTERVAL 60 DAY")

BID = (
    text("id", "id of the bid"),
    text("estateId", "id of the estate"),
    text("contactId", "id of the bidder", id_of="contact"),
    boolean("isCanceled", "whether the bid was annulled"),
    boolean("identifiedBidder", "whether the bidder is identified"),
    text("alias", "the name under which the bidder makes bids", personal=True),
    text("amount", "amount of the bid, as text; currency not documented", needed=True),
    local_time("createdAt", "when the bid was made"),
    text("condition", "condition of the bid", personal=True),
    boolean("isHidden", "whether the bid is hidden"),
)

REPORTS = (
    Report(
        name="tips_and_leads",
        subject="leads",
        description="Leads received, leads sent and tips by day of creation, including removed ones.",
        endpoint=Endpoint(
            path="/BusinessIntelligence/TipsAndLeads/Report/Paged",
            time_parameters="dates",
            window_months=TWO_MONTHS + 1,  # with Report.margin, two months take two requests; so do three
            limit=TWO_MONTHS,
            choices=ACTIVE_THEN_REMOVED,
            paged=True,
            unpaged_path="/BusinessIntelligence/TipsAndLeads/Report",
        ),
        timing=Timing(unsettled=NOT_ANSWERED),
        stored_as="months",
        month_of_row="documented date",
        total_rows="totalRowCount",  # assumed: the interface documents no field outside the rows
        tables=(
            lead_table("incoming_leads", "incomingLeads[]", "One row per lead received.", INCOMING_LEAD),
            lead_table("outgoing_leads", "outgoingLeads[]", "One row per lead sent.", OUTGOING_LEAD),
            dated_table("tips", "tips[]", "One row per tip between colleagues.", TIP, key=("tip_id",)),
        ),
    ),
    *(
        Report(
            name,
            subject="bidding",
            description=f"The {kind} bids for each estate sold in the last 60 days. Off by default; takes "
            "one request per estate and week.",
            endpoint=Endpoint(
                f"/CRM/{operation}/{{customerId}}",
                "none",
                by_id=ById(("customerId", "criteria.estateId"), (SOLD_LATELY,)),
            ),
            timing=Timing(enabled=False),
            stored_as="history",
            month_of_row="none",
            tables=(
                Table(
                    name,
                    "[]",
                    f"One row per {kind} bid, including annulled ones.",
                    BID,
                    key=("id",),
                    requested=(REQUESTED_OFFICE, REQUESTED_ESTATE),
                ),
            ),
        )
        for name, operation, kind in (("bids", "Bids", "visible"), ("hidden_bids", "HiddenBids", "hidden"))
    ),
)
