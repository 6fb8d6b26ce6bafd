"""Leads and tips, whole or page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pipelines.sandbox.answers import formats
from pipelines.sandbox.answers.formats import Object
from pipelines.sandbox.answers.snapshot import KnownLead, Question
from pipelines.sandbox.world.leads_and_tips import INCOMING, OUTGOING, TIP
from pipelines.sandbox.world.records import Party


def report(question: Question) -> object:
    """TipsAndLeads/Report: three lists."""
    return _lists(list(_wanted(question)))


def paged(question: Question) -> object:
    """TipsAndLeads/Report/Paged, its envelope a guess: shape a pages all rows, shape b every list."""
    index, size = question.page
    everything = list(_wanted(question))[question.hidden_rows :]
    total = len(everything)
    # A page past the end is empty; a faulty one repeats rows of the page before.
    page = slice(max(0, index * size - question.repeated_rows), index * size + size)
    if question.shapes == "a":
        return {
            "index": index,
            "count": -(-total // size),
            "totalRowCount": total,
            **_lists(everything[page]),
        }
    by_way = [[one for one in everything if one.lead.way == way] for way in ROWS]
    paging = {
        "pageIndex": index,
        "pageSize": size,
        "totalPages": -(-max(len(rows) for rows in by_way) // size),
        "totalRows": total,
    }
    return {"paging": paging, "report": _lists([one for rows in by_way for one in rows[page]])}


def _wanted(question: Question) -> Iterator[KnownLead]:
    """Active ones unless something else is asked for; newest first within an office."""
    choice = question.choice or "Active"
    for office in question.offices:
        for known in question.snapshot.leads(office.customer_id):
            chosen = choice == "ActiveAndRemoved" or known.now.removed == (choice == "Removed")
            if chosen and question.covers(known.lead.created_at):
                yield known


def _lists(leads: Sequence[KnownLead]) -> dict[str, list[Object]]:
    return {
        name: [row(known) for known in leads if known.lead.way == way] for way, (name, row) in ROWS.items()
    }


def _incoming(known: KnownLead) -> Object:
    lead = known.lead
    return {
        "createdAt": formats.moment(lead.created_at),
        "sender": _party(lead.sender),
        "receiver": _party(lead.receiver),
        "lead": {
            "id": lead.id,
            "title": lead.title,
            "type": lead.type,
            "state": known.now.state,
            "message": lead.message,
        },
        "contact": _contact(known),
        "estate": _estate(known),
    }


def _outgoing(known: KnownLead) -> Object:
    lead = known.lead
    return {
        "createdAt": formats.moment(lead.created_at),
        "user": {
            "id": lead.sender.id,
            "name": lead.sender.name,
            "type": "User",
            "employeeNumber": lead.sender.employee_id,
        },
        "sender": _party(lead.sender),
        "receiver": _party(lead.receiver),
        "lead": {"id": lead.id, "title": lead.title, "type": lead.type, "message": lead.message},
        "contact": _contact(known),
    }


def _tip(known: KnownLead) -> Object:
    lead = known.lead
    return {
        "createdAt": formats.moment(lead.created_at),
        "sender": _party(lead.sender),
        "receiver": {
            "id": lead.receiver.id,
            "name": lead.receiver.name,
            "employeeNumber": lead.receiver.employee_id,
            "type": lead.receiver.kind,
            "company": _party(lead.receiver)["company"],
        },
        "tip": {
            "id": lead.id,
            "title": lead.title,
            "state": known.now.state,
            "message": lead.message,
            "type": lead.type,
        },
        "contact": _contact(known),
        "estate": _estate(known),
    }


ROWS: dict[str, tuple[str, Callable[[KnownLead], Object]]] = {
    INCOMING: ("incomingLeads", _incoming),
    OUTGOING: ("outgoingLeads", _outgoing),
    TIP: ("tips", _tip),
}


def _party(party: Party) -> Object:
    company = {"id": party.company_id, "name": party.company_name, "customerNumber": party.company_number}
    return {"id": party.id, "name": party.name, "company": company}


def _contact(known: KnownLead) -> Object:
    contact_id, first, last = known.lead.contact
    return {"id": contact_id, "firstName": first, "lastName": last or None}


def _estate(known: KnownLead) -> Object | None:
    """The estate concerned, once there is one."""
    if known.lead.estate_id is None or known.estate_status is None:
        return None
    return {
        "id": known.lead.estate_id,
        "estateStatus": known.estate_status,
        "status": formats.described(formats.STATUSES[known.estate_status]),
    }
