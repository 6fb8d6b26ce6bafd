"""Known offices and users: as the service lists them now, and as the working file holds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pipelines.budgets.present import number, parsed
from pipelines.budgets.session import Session
from pipelines.connect.errors import ConnectError, HostDown, Unauthorized
from pipelines.connect.models import Request
from pipelines.months import Month
from warehouse.marts.queries import SQL, rows_of
from warehouse.store.database import Store

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

REQUESTS = 2
"""What a customer is asked for its lists."""
QUERIES = ("offices", "company_ids", "users", "office_months")


@dataclass
class Known:
    """Offices by customer id and users by id, with their names; `answered_by` is whom to ask for an office.

    Other ids of offices are those that the file of budgets gives, that answers about budgets name, and that
    leads name their companies.
    `office_months` has budget and actual by office, month and measure. `lacks_users` says that the users of
    some customer could not be listed, so that one who is not here may be there all the same.
    """

    offices: dict[str, str] = field(default_factory=dict)
    answered_by: dict[str, str] = field(default_factory=dict)
    given_ids: dict[str, str] = field(default_factory=dict)
    own_ids: dict[str, str] = field(default_factory=dict)
    company_ids: dict[str, str] = field(default_factory=dict)
    users: dict[str, str] = field(default_factory=dict)
    office_months: dict[tuple[str, date, str], tuple[float | None, float | None]] = field(
        default_factory=dict
    )
    lacks_users: bool = False
    notes: list[str] = field(default_factory=list)

    def office(self, given: str) -> str | None:
        """The customer id of an office that is given by either id; FIR31529 is M31529, assumed."""
        if given in self.offices:
            return given
        owning = [one for one in self.offices if given in (self.own_ids.get(one), self.company_ids.get(one))]
        alike = [one for one in self.offices if number(one) and number(one) == number(given)]
        found = owning or alike
        return found[0] if len(found) == 1 else None

    def sent_as(self, office: str) -> str:
        """The id by which budgets of an office are set: the file's, else the service's, else a lead's."""
        ids = (self.given_ids, self.own_ids, self.company_ids)
        return next((known[office] for known in ids if office in known), office)

    def nearest_office(self, given: str) -> str:
        return _nearest(given, self.offices)

    def nearest_user(self, given: str) -> str:
        return _nearest(given, self.users)


def known_in_file(settings: Settings) -> Known:
    """What the working file holds, as far as its marts have been built."""
    known = Known()
    with Store(settings.data_dir).reading() as connection:
        rows = rows_of(connection, SQL / "budgets", QUERIES)
    active = {customer.id for customer in settings.active_customers}
    for one in rows["offices"] or ():
        if one["customer_id"] in active:
            _add_office(known, one["customer_id"], one["office_id"], one["office_name"])
    known.company_ids.update({one["office_id"]: one["company_id"] for one in rows["company_ids"] or ()})
    known.users.update({one["user_id"]: one["user_name"] or "" for one in rows["users"] or ()})
    for one in rows["office_months"] or ():
        known.office_months[one["office_id"], one["month"], one["measure"]] = (one["budget"], one["actual"])
    return known


async def ask_what_is_known(session: Session, known: Known, months: Sequence[Month]) -> None:
    """Add what the service lists: offices as it budgets for them, and its directory of users.

    A list that is refused is noted: what the file holds counts then. Raises what ends every asking.
    """
    span = {
        "fromYear": str(months[0].year),
        "fromMonth": str(months[0].number),
        "toYear": str(months[-1].year),
        "toMonth": str(months[-1].number),
    }
    reports = session.catalogue
    for customer in session.customers:
        path = reports["budget_commission"].endpoint.path.format(customerId=quote(customer, safe=""))
        rows = await _listed(session, known, Request(path, span, "budget_commission", customer))
        for row in rows:
            if isinstance(office := row.get("customerId"), str):
                _add_office(known, customer, office, row.get("name"))
                if own := row.get("officeId"):
                    known.own_ids[office] = str(own)
        if not any(answering == customer for answering in known.answered_by.values()):
            _add_office(known, customer, customer, None)  # an office that has no budget yet
        path = reports["users"].endpoint.path
        rows = await _listed(session, known, Request(path, {"customerId": customer}, "users", customer))
        ids = {str(row["id"]): str(row.get("name") or "") for row in rows if row.get("id")}
        known.users.update(ids)
        known.lacks_users |= not ids


async def _listed(session: Session, known: Known, request: Request) -> list[Mapping[str, Any]]:
    try:
        _, tree = await session.clients(request.customer, request.path).get(request, parsed)
    except (Unauthorized, HostDown):
        raise
    except ConnectError as error:
        known.notes.append(f"{request.report} of {request.customer} could not be listed: {error.found}")
        return []
    return list(_objects(tree))


def _objects(tree: object) -> Iterator[Mapping[str, Any]]:
    """The objects of a list, in whatever envelope."""
    if isinstance(tree, list):
        yield from (one for one in tree if isinstance(one, dict))
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from _objects(value)


def _add_office(known: Known, customer: str, office: str, name: object) -> None:
    """Add an office; the office itself is asked for rather than a group that it is in."""
    known.offices[office] = str(name or known.offices.get(office, ""))
    if customer == office or known.answered_by.get(office) != office:
        known.answered_by[office] = customer


def _nearest(given: str, known: Mapping[str, str]) -> str:
    """The known id that is most like a word, or whose name is, with the name; empty when none is."""
    words = {one.casefold(): one for one in known} | {
        name.casefold(): one for one, name in known.items() if name
    }
    found = get_close_matches(given.casefold(), words, n=1)
    if not found:
        return ""
    nearest = words[found[0]]
    return f"{nearest} ({known[nearest]})" if known[nearest] else nearest
