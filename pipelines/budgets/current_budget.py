"""Reader of the current budget of a user at an office in a month, from three reports.

The interface does not document the rows of these reports. The catalogue assumes the field of each measure,
and shapes.toml can correct it. If two fields may hold a measure, the operator must name the right one. The
wrong one may hold the month's actual result, and `brokerbi budget push` would send that as the budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pipelines.budgets.budget import Change, Values, month_of
from pipelines.catalogue.model import Report
from pipelines.connect.models import Request
from pipelines.normalize.document import Document, read_document
from pipelines.normalize.normalize import normalize
from pipelines.normalize.rows import ShapeMismatch
from pipelines.shapes.shapes_file import with_shapes
from pipelines.sync.run_context import Clients, RunContext

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

REPORTS = {
    "user_budget_commission": ("commission",),
    "user_budget_estate": ("sold", "registered"),
    "user_budget_crm": ("meetings", "own_booked"),
}
"""The reports that together show a budget, each with its measures."""
OFFICE_COLUMNS = ("office_id", "office_named")


class Unreadable(Exception):
    """The answer does not show the current budget; the message states why."""


def budget_reports(settings: Settings, context: RunContext) -> list[Report]:
    """The reports that show a budget, with the corrections in shapes.toml."""
    catalogue = with_shapes(context.catalogue, settings.shapes_file)
    return [catalogue[name] for name in REPORTS]


async def read_budget(clients: Clients, reports: list[Report], change: Change) -> Values:
    """All measures of the budget that `change` would replace; raises Unreadable or ConnectError."""
    values: dict[str, int | None] = {}
    for report in reports:
        path = report.endpoint.path.format(
            customerId=quote(change.customer, safe=""),
            userId=quote(change.user_id, safe=""),
            year=month_of(change).year,
            month=month_of(change).number,
        )
        request = Request(path, {}, report.name, change.customer)
        _, document = await clients(change.customer, path).get(request, read_document)
        try:
            values |= budget_of(report, document, change)
        except Unreadable as error:
            raise Unreadable(f"{report.name} {error}") from None
    return values


def budget_of(report: Report, document: Document, change: Change) -> Values:
    """The measures that one report shows of the budget that `change` would replace.

    All are None if the answer has no row of the month. Raises Unreadable if a row does not fit the report's
    shape, if a measure has no field or two possible fields, if an amount is not whole, or if the month has
    rows but not exactly one for the user and office of `change`.
    """
    try:
        answer = normalize(
            report, [document], months=[month_of(change)], timezone="UTC", requested_ids=[change.user_id]
        )
    except ShapeMismatch as error:
        raise Unreadable(f"has another shape: {error}; {_remedy(report)}") from None
    fields = {f"{measure}_budget": measure for measure in REPORTS[report.name]}
    [rows] = [table.frame.to_dicts() for table in answer.tables if fields.keys() <= {*table.frame.columns}]
    if not rows and not answer.rejected:
        return dict.fromkeys(fields.values())
    names = [name.rpartition(".")[2] for name in answer.missing]
    if missing := [name for name in names if name in fields]:
        which = f"which {'fields hold' if len(missing) > 1 else 'field holds'} {' and '.join(missing)}"
        raise Unreadable(f"does not show {which}; {_remedy(report)}")
    if answer.rejected:
        raise Unreadable(f"has a row that does not fit: {answer.rejected[0].reason}; {_remedy(report)}")
    own = [row for row in rows if _is_own(row, change)]
    if len(own) != 1:
        raise Unreadable(f"shows {len(own)} budgets of this user, office and month, among {len(rows)} rows")
    return {measure: _whole_amount(own[0][column]) for column, measure in fields.items()}


def _remedy(report: Report) -> str:
    return f"run `brokerbi shapes --report {report.name}` to see the answer; name its fields in shapes.toml"


def _is_own(row: Mapping[str, Any], change: Change) -> bool:
    offices = {row[name] for name in OFFICE_COLUMNS if row[name]}
    is_office = (
        {change.office_id, change.sent_office_id} & offices
        or offices <= {change.customer}  # also true if the row has no office
        or any(office_number(office) == office_number(change.office_id) for office in offices)
    )
    return bool(is_office) and row["user_id"] in (None, change.user_id)


def office_number(office_id: str) -> str:
    """The number in an id: 30011 for an office's customer id M30011 and for its own id FIR30011."""
    return office_id.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def _whole_amount(amount: Any) -> int | None:
    if amount is not None and amount != int(amount):  # a push could not send it back unchanged
        raise Unreadable(f"states {amount.normalize()}, which is not whole")
    return None if amount is None else int(amount)
