"""Which fields of estates are documented? Row models of estates, their agents and their changes."""

from __future__ import annotations

from pipelines.catalogue.fields import (
    Boolean,
    Degrees,
    Integer,
    LocalTime,
    Money,
    Percent,
    Rate,
    Row,
    Text,
    field,
)


class Label(Row):
    """A code with its text; what the codes mean is not documented."""

    id: Integer = field("code; its values are not documented")
    text: Text = field("what the code means, as the service words it")


class ThinAddress(Row):
    """Where an estate is."""

    street_address: Text = field("street address")
    zip_code: Text = field("postal code")


class Address(ThinAddress):
    """Where an estate is, with its country."""

    country_code: Text = field("country code")


class Coordinate(Row):
    """A WGS84 position; the service spells both names without their last e."""

    longitud: Degrees = field("longitude in decimal degrees")
    latitud: Degrees = field("latitude in decimal degrees")


class Office(Row):
    """The office an agent belongs to."""

    customer_id: Text = field("customer id of the agent's own office, which may not be the reporting one")
    name: Text = field("name of the agent's own office")
    city: Text = field("town of the agent's own office")


class ThinShare(Row):
    """An agent's share of a commission."""

    value: Money = field("the agent's share in SEK; tax basis not stated")
    percentage_of_total: Percent = field("the agent's share in percent of the whole commission")


class Share(ThinShare):
    """An agent's share of a commission, abroad as well."""

    value_foreign: Money = field("the agent's share in the foreign currency; foreign properties only")


class ThinAgent(Row):
    """An agent entitled to commission."""

    id: Text = field("user id of the agent")
    name: Text = field("name of the agent")
    initials: Text = field("initials of the agent")
    employee_id: Text = field("employee number, a text")
    responsible: Boolean = field("whether this agent is the responsible one")
    primary_office: Office | None = field("the agent's own office")
    commission: ThinShare | None = field("the agent's share")


class Agent(ThinAgent):
    """An agent entitled to commission, abroad as well."""

    commission: Share | None = field("the agent's share")


class ThinEstate(Row):
    """An estate of GetEstateReportProdDb."""

    id: Text = field("id of the estate")
    estate_number: Text = field("the office's own number of the estate")
    status: Label | None = field("state of the sale")
    type: Label | None = field("kind of estate")
    assignment: Label | None = field("kind of assignment")
    address: ThinAddress | None = field("where it is")
    contract_day: LocalTime = field("day of the sale contract")
    access_day: LocalTime = field("day of possession")
    deposit_reported_at: LocalTime = field("when the deposit was accounted for")
    commission: Money = field("whole commission in SEK; tax basis not stated")
    commission_text: Text = field("the agreed fee in free text, when it is a fixed one")
    commission_received_at: LocalTime = field("when the commission was received")
    is_new_home: Boolean = field("whether it is newly built")
    wgs84_coordinate: Coordinate | None = field("where it is on the map")
    changed_at: LocalTime = field("when the estate was last changed")
    starting_price: Money = field("asking price in SEK")
    final_price: Money = field("sale price in SEK")


class Estate(ThinEstate):
    """An estate of GetSalesReport, GetEstatesReport and GetSalesReportForEstate."""

    address: Address | None = field("where it is")
    intake_source: Label | None = field("where the assignment came from")
    commission_foreign: Money = field("whole commission in the foreign currency; foreign properties only")
    starting_price_foreign: Money = field("asking price in the foreign currency; foreign properties only")
    final_price_foreign: Money = field("sale price in the foreign currency; foreign properties only")
    currency_code: Text = field("code of the foreign currency; foreign properties only")
    currency_exchange_rate: Rate = field("exchange rate of that currency; foreign properties only")


class EstateChange(Row):
    """What an estate was changed to."""

    changed_at: LocalTime = field("when the estate changed")
    status: Label | None = field("state of the sale then")
    commission: Money = field("whole commission then, in SEK")
    commission_foreign: Money = field("whole commission then, in the foreign currency")
    starting_price: Money = field("asking price then, in SEK")
    final_price: Money = field("sale price then, in SEK")
    starting_price_foreign: Money = field("asking price then, in the foreign currency")
    final_price_foreign: Money = field("sale price then, in the foreign currency")
    currency_code: Text = field("code of the foreign currency then")
    currency_exchange_rate: Rate = field("exchange rate of that currency then")


class AgentChange(Row):
    """What an agent's share was changed to."""

    changed_at: LocalTime = field("when the share changed")
    commission: Money = field("the agent's share then, in SEK")
    commission_foreign: Money = field("the agent's share then, in the foreign currency")
    percentage_of_total: Percent = field("the agent's share then, in percent of the whole commission")


class EstateReference(Row):
    """A sold estate as /Estates refers to it."""

    id: Text = field("id of the estate")
    status: Label | None = field("state of the sale")
    address: Address | None = field("where it is")
    is_new_home: Boolean = field("whether it is newly built")
    responsible_agent_name: Text = field("name of the responsible agent; the id is not sent")
    contract_day: LocalTime = field("day of the sale contract")
    advertised_at: LocalTime = field("when it was first advertised")
