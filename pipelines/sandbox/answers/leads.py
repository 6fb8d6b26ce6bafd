"""How are leads and tips told, whole or page by page?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pipelines.sandbox.answers import wording
from pipelines.sandbox.answers.question import Question
from pipelines.sandbox.answers.standing import LeadStanding
from pipelines.sandbox.answers.wording import Answer
from pipelines.sandbox.world.facts import Party
from pipelines.sandbox.world.leads import INCOMING, OUTGOING, TIP

LISTS = {INCOMING: "incomingLeads", OUTGOING: "outgoingLeads", TIP: "tips"}


def report(question: Question) -> object:
    """TipsAndLeads/Report: three lists."""
    answer: Answer = {name: [] for name in LISTS.values()}
    for standing in _wanted(question):
        rows = answer[LISTS[standing.lead.way]]
        if isinstance(rows, list):
            rows.append(_worded(standing))
    return answer


def paged(question: Question) -> object:
    """TipsAndLeads/Report/Paged, its envelope a guess: shape a pages all rows, shape b every list."""
    return _paged_lists(question) if question.shapes == "b" else _paged_rows(question)


def _paged_rows(question: Question) -> Answer:
    index, size = question.page or (0, 1)
    everything = list(_wanted(question))[question.hidden_rows :]
    lists: Answer = {name: [] for name in LISTS.values()}
    for standing in _slice(everything, question):
        rows = lists[LISTS[standing.lead.way]]
        if isinstance(rows, list):
            rows.append(_worded(standing))
    total = len(everything)
    return {"index": index, "count": -(-total // size), "totalRowCount": total, **lists}


def _paged_lists(question: Question) -> Answer:
    index, size = question.page or (0, 1)
    everything = list(_wanted(question))[question.hidden_rows :]
    by_way = {way: [one for one in everything if one.lead.way == way] for way in LISTS}
    longest = max((len(rows) for rows in by_way.values()), default=0)
    return {
        "paging": {
            "pageIndex": index,
            "pageSize": size,
            "totalPages": -(-longest // size),
            "totalRows": len(everything),
        },
        "report": {
            LISTS[way]: [_worded(one) for one in _slice(rows, question)] for way, rows in by_way.items()
        },
    }


def _slice(rows: list[LeadStanding], question: Question) -> list[LeadStanding]:
    """The rows of the page; a page past the end is empty; a faulty one repeats rows of the page before."""
    index, size = question.page or (0, 1)
    start = index * size
    return rows[max(0, start - question.repeated_rows) : start + size]


def _wanted(question: Question) -> Iterator[LeadStanding]:
    """Active ones unless something else is asked for; newest first within an office."""
    choice = question.choice or "Active"
    for office in question.offices:
        for standing in question.known.leads(office.customer_id):
            if not question.covers(standing.lead.created_at):
                continue
            if choice == "ActiveAndRemoved" or standing.now.removed == (choice == "Removed"):
                yield standing


def _worded(standing: LeadStanding) -> Answer:
    return _WORDINGS[standing.lead.way](standing)


def _incoming(standing: LeadStanding) -> Answer:
    lead = standing.lead
    return {
        "createdAt": wording.moment(lead.created_at),
        "sender": _party(lead.sender),
        "receiver": _party(lead.receiver),
        "lead": {
            "id": lead.id,
            "title": lead.title,
            "type": lead.type,
            "state": standing.now.state,
            "message": lead.message,
        },
        "contact": _contact(standing),
        "estate": _estate(standing),
    }


def _outgoing(standing: LeadStanding) -> Answer:
    lead = standing.lead
    return {
        "createdAt": wording.moment(lead.created_at),
        "user": {
            "id": lead.sender.id,
            "name": lead.sender.name,
            "type": "User",
            "employeeNumber": lead.sender.employee_id,
        },
        "sender": _party(lead.sender),
        "receiver": _party(lead.receiver),
        "lead": {"id": lead.id, "title": lead.title, "type": lead.type, "message": lead.message},
        "contact": _contact(standing),
    }


def _tip(standing: LeadStanding) -> Answer:
    lead = standing.lead
    return {
        "createdAt": wording.moment(lead.created_at),
        "sender": _party(lead.sender),
        "receiver": {
            "id": lead.receiver.id,
            "name": lead.receiver.name,
            "employeeNumber": lead.receiver.employee_id,
            "type": lead.receiver.kind,
            "company": _company(lead.receiver),
        },
        "tip": {
            "id": lead.id,
            "title": lead.title,
            "state": standing.now.state,
            "message": lead.message,
            "type": lead.type,
        },
        "contact": _contact(standing),
        "estate": _estate(standing),
    }


_WORDINGS: dict[str, Callable[[LeadStanding], Answer]] = {
    INCOMING: _incoming,
    OUTGOING: _outgoing,
    TIP: _tip,
}


def _party(party: Party) -> Answer:
    return {"id": party.id, "name": party.name, "company": _company(party)}


def _company(party: Party) -> Answer:
    return {"id": party.company_id, "name": party.company_name, "customerNumber": party.company_number}


def _contact(standing: LeadStanding) -> Answer:
    contact_id, first, last = standing.lead.contact
    return {"id": contact_id, "firstName": first, "lastName": last or None}


def _estate(standing: LeadStanding) -> Answer | None:
    """The estate concerned, once there is one."""
    if standing.lead.estate_id is None or standing.estate_status is None:
        return None
    return {
        "id": standing.lead.estate_id,
        "estateStatus": standing.estate_status,
        "status": wording.described(wording.STATUS_IDS[standing.estate_status]),
    }
