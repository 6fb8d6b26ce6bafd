"""How is a window written as a request? Path and query of one question to the service."""

from __future__ import annotations

from urllib.parse import quote

from pipelines.catalogue.model import Each, Report, TimeParameters
from pipelines.connect.models import Request
from pipelines.planning.windows import Span


def request(
    report: Report, customer: str, span: Span | None, *, asked: str | None = None, paged: bool = True
) -> Request:
    """The request for one span of a report (interface, Business intelligence and Budget reports).

    `asked` is the user or estate of a report that is asked one by one; `paged=False` takes the
    unpaged twin of a paged report. Ids are percent-encoded: they come from settings and answers.
    """
    path = report.path if paged or report.unpaged_path is None else report.unpaged_path
    query = dict(report.query)
    if report.customer_parameter:
        query[report.customer_parameter] = customer
    if report.time_parameters is TimeParameters.DATES and span is not None:
        query |= {"dateFrom": span.starts_at.isoformat(), "dateTo": span.ends_at.isoformat()}
    if report.time_parameters is TimeParameters.MONTH_BOUNDS and span is not None:
        query |= {
            "fromYear": str(span.first.year),
            "fromMonth": str(span.first.month),
            "toYear": str(span.last.year),
            "toMonth": str(span.last.month),
        }
    places = {"customerId": quote(customer, safe="")}
    if span is not None:
        places |= {"year": str(span.first.year), "month": str(span.first.month)}
    if asked is not None and report.each is Each.USER:
        places["userId"] = quote(asked, safe="")
    if asked is not None and report.each is Each.ESTATE:
        query[report.each.value] = asked
    return Request(path=path.format_map(places), query=query, report=report.name, customer=customer)
