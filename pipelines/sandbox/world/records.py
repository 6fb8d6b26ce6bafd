"""Records of the made-up world: offices, users, estates, leads and budgets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from pipelines.months import Month

SALE = "Sale"
WRITING = "Writing"
VALUATION = "Valuation"

FOR_SALE = "ForSale"
SOLD = "Sold"
WITHDRAWN = "AssignmentWithdrawn"
DONE = "AppointedAdmission"


@dataclass(frozen=True, slots=True)
class Town:
    """A town, with the typical prices of a house and a flat there in 2020, in kronor."""

    name: str
    zip_prefix: int
    latitude: float
    longitude: float
    house_price: int
    flat_price: int


@dataclass(frozen=True, slots=True)
class Office:
    """A broker's office. Some answers name it by `customer_id` (M30011), others by `own_id` (FIR30011)."""

    number: int
    customer_id: str
    own_id: str
    name: str
    town: Town
    group: str | None
    desks: int


@dataclass(frozen=True, slots=True)
class Trademark:
    """A name under which offices trade."""

    id: str
    name: str
    offices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UserCard:
    """A user's entry in the directory, valid from `known_at` on."""

    known_at: datetime
    name: str
    email: str
    public_phone: str
    cell_phone: str
    languages: tuple[str, ...]
    image_id: str | None


@dataclass(frozen=True, slots=True)
class User:
    """A person who works at an office from the day `hired` until the day before `left`."""

    id: str
    office: str
    employee_id: str
    hired: date
    left: date | None
    cards: tuple[UserCard, ...]

    def works_on(self, day: date) -> bool:
        return self.hired <= day and (self.left is None or day < self.left)


@dataclass(frozen=True, slots=True)
class Share:
    """A user's share of an assignment, in hundredths of a percent, and the resulting amounts."""

    user_id: str
    office: str
    basis_points: int
    value: int  # the share of the commission, in öre
    value_foreign: int | None  # the same in cents, for a foreign sale
    price: int  # the share of the price, in öre


@dataclass(frozen=True, slots=True)
class Foreign:
    """The amounts of a foreign sale: prices in whole units of `currency`, commission in cents."""

    currency: str
    rate: int  # the value of a unit, in ten-thousandths of a krona
    starting_price: int
    final_price: int | None
    commission: int


@dataclass(frozen=True, slots=True)
class Version:
    """The facts of an estate from `known_at` on. Prices are in kronor, the commission in öre without VAT."""

    known_at: datetime
    status: str
    contract_on: date | None
    access_on: date | None
    starting_price: int
    final_price: int | None
    commission: int
    shares: tuple[Share, ...]
    deposit_reported_at: datetime | None = None
    commission_received_at: datetime | None = None
    foreign: Foreign | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """An address, and the currency used there (None in Sweden)."""

    street: str
    zip_code: str
    country: str
    latitude: float
    longitude: float
    currency: str | None
    rate: int  # the value of a unit of the currency, in ten-thousandths of a krona


@dataclass(frozen=True, slots=True)
class Estate:
    """An assignment of an office (a sale, a writing or a valuation), with every version of it."""

    id: str
    number: str
    office: str
    assignment: str
    kind: str
    place: Place
    is_new_home: bool
    intake: int  # how the seller came to the office: the place in formats.INTAKES, from 1
    commission_text: str | None
    created_at: datetime
    advertised_at: datetime | None
    versions: tuple[Version, ...]


@dataclass(frozen=True, slots=True)
class RunningStep:
    """A part of a commission that a user obtains on a day."""

    user_id: str
    office: str
    estate_id: str
    amount: int  # in öre, or for a foreign sale in cents
    rate: int  # as in Place
    obtained_on: date
    known_at: datetime
    gone_at: datetime | None


@dataclass(frozen=True, slots=True)
class Party:
    """The sender or receiver of a lead or a tip: a user, an office or another company."""

    id: str
    name: str
    kind: str
    employee_id: str | None
    company_id: str
    company_name: str
    company_number: str


@dataclass(frozen=True, slots=True)
class LeadStep:
    """A state of a lead or tip, and when the lead or tip reached it."""

    known_at: datetime
    state: str
    removed: bool


@dataclass(frozen=True, slots=True)
class Lead:
    """A lead or a tip of one office and one user; `way` is incoming, outgoing or tip."""

    id: str
    way: str
    office: str
    user_id: str
    created_at: datetime
    title: str
    type: str
    message: str
    contact: tuple[str, str, str]  # id, given name and family name
    sender: Party
    receiver: Party
    steps: tuple[LeadStep, ...]
    estate_id: str | None
    estate_statuses: tuple[tuple[datetime, str], ...]


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of a user for a month (commission in kronor), and when it was set."""

    user_id: str
    office: str
    month: Month
    known_at: datetime
    commission: int
    sold: int
    registered: int
    meetings: int
    own_booked: int
