"""The request for one span of a report."""

from __future__ import annotations

from urllib.parse import quote

from pipelines.catalogue.model import Report
from pipelines.connect.models import Request
from pipelines.planning.windows import NOTHING_ELSE, Question, Span


def build_request(
    report: Report, customer: str, span: Span | None, question: Question = NOTHING_ELSE, *, paged: bool = True
) -> Request:
    """The request for one span of a report (interface, Business intelligence and Budget reports).

    `paged=False` takes the path without pages of a paged report. Ids are percent-encoded: they come from
    settings and answers.
    """
    endpoint = report.endpoint
    path = endpoint.path if paged else endpoint.unpaged_path or endpoint.path
    query = dict(endpoint.query)
    places = {"customerId": quote(customer, safe="")}
    if "{customerId}" not in endpoint.path:
        query["customerId"] = customer
    if span is not None:
        first, last = span.first, span.last
        places |= {"year": str(first.year), "month": str(first.month)}
        if endpoint.time_parameters == "dates":
            query["dateFrom"], query["dateTo"] = span.bounds
        elif endpoint.time_parameters == "month bounds":
            query |= {"fromYear": str(first.year), "fromMonth": str(first.month)}
            query |= {"toYear": str(last.year), "toMonth": str(last.month)}
    if endpoint.choices and question.choice is not None:
        query[endpoint.choices.parameter] = question.choice
    each = endpoint.each
    for name, id_ in zip(each.names, each.parts(question.asked), strict=True) if each else ():
        if f"{{{name}}}" in path:
            places[name] = quote(id_ or "", safe="")
        elif id_ is not None:
            query[name] = id_
    return Request(path=path.format_map(places), query=query, report=report.name, customer=customer)
