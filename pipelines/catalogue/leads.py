"""The report of tips and leads: leads received, leads sent out, and tips of colleagues."""

from __future__ import annotations

from pipelines.catalogue.model import (
    Integer,
    LocalTime,
    MonthOfRow,
    Report,
    Row,
    StoredAs,
    Table,
    Text,
    TimeParameters,
    field,
)

TWO_MONTHS = 2  # interface, Limits: the interval must not exceed two months


class Company(Row):
    """The company that a sender or receiver belongs to."""

    id: Text = field("id of the company")
    name: Text = field("name of the company")
    customer_number: Text = field("customer number of the company")


class LeadParty(Row):
    """Who sent or received a lead."""

    id: Text = field("id of the party", id_of="user")
    name: Text = field("name of the party", personal=True)
    company: Company | None = field("the party's company")


class TipReceiver(LeadParty):
    """Who received a tip."""

    employee_number: Text = field("employee number of the receiver", personal=True)
    type: Text = field("whether the receiver is a User, a Group or an Office")


class LeadUser(Row):
    """The user that an outgoing lead concerns."""

    id: Text = field("id of the user", id_of="user")
    name: Text = field("name of the user", personal=True)
    type: Text = field("whether it is a User, a Group or an Office")
    employee_number: Text = field("employee number of the user", personal=True)


class OutgoingDetails(Row):
    """What an outgoing lead is about."""

    id: Text = field("id of the lead")
    title: Text = field("heading of the lead")
    type: Text = field("kind of lead, free text")
    message: Text = field("free text of the lead", personal=True)


class IncomingDetails(OutgoingDetails):
    """What an incoming lead is about, and how far it has come."""

    state: Text = field("state of the lead, such as New or Done; an open set")


class TipDetails(Row):
    """What a tip is about."""

    id: Text = field("id of the tip")
    title: Text = field("heading of the tip")
    state: Text = field("state of the tip, such as New or Done; an open set")
    message: Text = field("text of the sender, which the receiver may have edited", personal=True)
    type: Text = field("whether the tip came FromUser or FromViewing")


class Contact(Row):
    """The person concerned: personal data."""

    id: Text = field("id of the contact", id_of="contact")
    first_name: Text = field("given name of the contact", personal=True)
    last_name: Text = field("family name of the contact", personal=True)


class EstateStatus(Row):
    """A state of an estate as the reports label it."""

    id: Integer = field("code of the state; its values are not documented")
    text: Text = field("what the code means, as the service words it")


class LeadEstate(Row):
    """The estate concerned."""

    id: Text = field("id of the estate")
    estate_status: Text = field("state of the estate, such as ForSale or Sold; an open set")
    status: EstateStatus | None = field("state of the estate as the reports label it")


class IncomingLead(Row):
    """A lead received."""

    created_at: LocalTime = field("when the lead was created")
    sender: LeadParty | None = field("who sent it")
    receiver: LeadParty | None = field("who received it")
    lead: IncomingDetails | None = field("what it is about")
    contact: Contact | None = field("the person concerned")
    estate: LeadEstate | None = field("the estate concerned")


class OutgoingLead(Row):
    """A lead sent out."""

    created_at: LocalTime = field("when the lead was created")
    user: LeadUser | None = field("the user concerned")
    sender: LeadParty | None = field("who sent it")
    receiver: LeadParty | None = field("who received it")
    lead: OutgoingDetails | None = field("what it is about")
    contact: Contact | None = field("the person concerned")


class Tip(Row):
    """A tip between colleagues."""

    created_at: LocalTime = field("when the tip was created")
    sender: LeadParty | None = field("who sent it")
    receiver: TipReceiver | None = field("who received it")
    tip: TipDetails | None = field("what it is about")
    contact: Contact | None = field("the person concerned")
    estate: LeadEstate | None = field("the estate concerned")


def _leads(name: str, key: str, description: str, model: type[Row], id_column: str) -> Table:
    return Table(
        name=name,
        rows=f"{key}[]",
        description=description,
        model=model,
        key=(id_column,),
        dated_by="created_at",
        at_any_depth=True,
    )


REPORTS = (
    Report(
        name="tips_and_leads",
        subject="leads",
        path="/BusinessIntelligence/TipsAndLeads/Report/Paged",
        description="Leads received, leads sent out and tips by day of creation, removed ones too.",
        time_parameters=TimeParameters.DATES,
        stored_as=StoredAs.MONTHS,
        month_of_row=MonthOfRow.DOCUMENTED_DATE,
        max_months=TWO_MONTHS,
        query={"activeStatusTipLead": "ActiveAndRemoved"},  # so that history is whole
        customer_parameter="customerId",
        paged=True,
        unpaged_path="/BusinessIntelligence/TipsAndLeads/Report",
        tables=(
            _leads("incoming_leads", "incomingLeads", "One row per lead received.", IncomingLead, "lead_id"),
            _leads("outgoing_leads", "outgoingLeads", "One row per lead sent out.", OutgoingLead, "lead_id"),
            _leads("tips", "tips", "One row per tip between colleagues.", Tip, "tip_id"),
        ),
    ),
)
