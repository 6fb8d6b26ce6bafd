"""Leads and tips, all at once or page by page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipelines.sandbox.answers import formats
from pipelines.sandbox.answers.formats import Object
from pipelines.sandbox.answers.snapshot import LeadView, ReportQuery
from pipelines.sandbox.world.leads_and_tips import INCOMING, OUTGOING, TIP
from pipelines.sandbox.world.records import Party

LISTS = {INCOMING: "incomingLeads", OUTGOING: "outgoingLeads", TIP: "tips"}


def report(query: ReportQuery) -> object:
    """TipsAndLeads/Report: all rows, in three lists."""
    return _lists(list(_requested_leads(query)))


def paged(query: ReportQuery) -> object:
    """TipsAndLeads/Report/Paged: pages of all rows together (shape a), or of each list (shape b)."""
    index, size = query.page
    all_leads = list(_requested_leads(query))[query.hidden_rows :]
    total = len(all_leads)
    # A page past the end is empty. With the fault `repeated_ids`, a page begins with rows of the page before.
    page = slice(max(0, index * size - query.repeated_rows), index * size + size)
    if query.shapes == "a":
        return {
            "index": index,
            "count": -(-total // size),
            "totalRowCount": total,
            **_lists(all_leads[page]),
        }
    by_way = [[view for view in all_leads if view.lead.way == way] for way in LISTS]
    paging = {
        "pageIndex": index,
        "pageSize": size,
        "totalPages": -(-max(len(rows) for rows in by_way) // size),
        "totalRows": total,
    }
    return {"paging": paging, "report": _lists([row for rows in by_way for row in rows[page]])}


def _requested_leads(query: ReportQuery) -> Iterator[LeadView]:
    choice = query.choice or "Active"
    for office in query.offices:
        for view in query.snapshot.leads(office.customer_id):
            is_chosen = choice == "ActiveAndRemoved" or view.current.removed == (choice == "Removed")
            if is_chosen and query.covers(view.lead.created_at):
                yield view


def _lists(leads: Sequence[LeadView]) -> dict[str, list[Object]]:
    return {name: [_row(view) for view in leads if view.lead.way == way] for way, name in LISTS.items()}


def _row(view: LeadView) -> Object:
    lead, state = view.lead, view.current.state
    created, sender, receiver = formats.moment(lead.created_at), _party(lead.sender), _party(lead.receiver)
    contact_id, first, last = lead.contact
    contact = {"id": contact_id, "firstName": first, "lastName": last or None}
    about: Object = {"id": lead.id, "title": lead.title}
    if lead.way == OUTGOING:
        user = {
            "id": lead.sender.id,
            "name": lead.sender.name,
            "type": "User",
            "employeeNumber": lead.sender.employee_id,
        }
        about |= {"type": lead.type, "message": lead.message}
        ends = {"user": user, "sender": sender, "receiver": receiver}
        return {"createdAt": created, **ends, "lead": about, "contact": contact}
    if lead.way == INCOMING:
        about |= {"type": lead.type, "state": state, "message": lead.message}
        row = {"createdAt": created, "sender": sender, "receiver": receiver, "lead": about}
    else:
        about |= {"state": state, "message": lead.message, "type": lead.type}
        colleague = {
            "id": lead.receiver.id,
            "name": lead.receiver.name,
            "employeeNumber": lead.receiver.employee_id,
            "type": lead.receiver.kind,
            "company": receiver["company"],
        }
        row = {"createdAt": created, "sender": sender, "receiver": colleague, "tip": about}
    return {**row, "contact": contact, "estate": _estate(view)}


def _party(party: Party) -> Object:
    company = {"id": party.company_id, "name": party.company_name, "customerNumber": party.company_number}
    return {"id": party.id, "name": party.name, "company": company}


def _estate(view: LeadView) -> Object | None:
    if view.lead.estate_id is None or view.estate_status is None:
        return None
    return {
        "id": view.lead.estate_id,
        "estateStatus": view.estate_status,
        "status": formats.id_and_text(formats.STATUSES[view.estate_status]),
    }
