"""Leads and tips, whole or page by page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipelines.sandbox.answers import formats
from pipelines.sandbox.answers.formats import Object
from pipelines.sandbox.answers.snapshot import KnownLead, Question
from pipelines.sandbox.world.leads_and_tips import INCOMING, OUTGOING, TIP
from pipelines.sandbox.world.records import Party

LISTS = {INCOMING: "incomingLeads", OUTGOING: "outgoingLeads", TIP: "tips"}


def report(question: Question) -> object:
    """TipsAndLeads/Report: three lists."""
    return _lists(list(_wanted(question)))


def paged(question: Question) -> object:
    """TipsAndLeads/Report/Paged, its envelope a guess: shape a pages all rows, shape b every list."""
    index, size = question.page
    everything = list(_wanted(question))[question.hidden_rows :]
    total = len(everything)
    # A page past the end is empty; a faulty one repeats rows of the previous page.
    page = slice(max(0, index * size - question.repeated_rows), index * size + size)
    if question.shapes == "a":
        return {
            "index": index,
            "count": -(-total // size),
            "totalRowCount": total,
            **_lists(everything[page]),
        }
    by_way = [[known for known in everything if known.lead.way == way] for way in LISTS]
    paging = {
        "pageIndex": index,
        "pageSize": size,
        "totalPages": -(-max(len(rows) for rows in by_way) // size),
        "totalRows": total,
    }
    return {"paging": paging, "report": _lists([row for rows in by_way for row in rows[page]])}


def _wanted(question: Question) -> Iterator[KnownLead]:
    """The requested leads (by default the active ones), newest first within an office."""
    choice = question.choice or "Active"
    for office in question.offices:
        for known in question.snapshot.leads(office.customer_id):
            chosen = choice == "ActiveAndRemoved" or known.now.removed == (choice == "Removed")
            if chosen and question.covers(known.lead.created_at):
                yield known


def _lists(leads: Sequence[KnownLead]) -> dict[str, list[Object]]:
    return {name: [_row(known) for known in leads if known.lead.way == way] for way, name in LISTS.items()}


def _row(known: KnownLead) -> Object:
    lead, state = known.lead, known.now.state
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
    return {**row, "contact": contact, "estate": _estate(known)}


def _party(party: Party) -> Object:
    company = {"id": party.company_id, "name": party.company_name, "customerNumber": party.company_number}
    return {"id": party.id, "name": party.name, "company": company}


def _estate(known: KnownLead) -> Object | None:
    """The estate that the lead is about, once it has one."""
    if known.lead.estate_id is None or known.estate_status is None:
        return None
    return {
        "id": known.lead.estate_id,
        "estateStatus": known.estate_status,
        "status": formats.described(formats.STATUSES[known.estate_status]),
    }
