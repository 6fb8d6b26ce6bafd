"""Answers for these tests: documents written as Python values, tables read as plain rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pipelines.catalogue.model import Column, Report, Table
from pipelines.catalogue.reports import REPORTS
from pipelines.months import Month
from pipelines.normalize.document import Document, read_document
from pipelines.normalize.normalize import normalize
from pipelines.normalize.tables import Normalized, NormalizedTable

JANUARY, FEBRUARY = Month(2026, 1), Month(2026, 2)
STOCKHOLM = "Europe/Stockholm"


def document(value: Any) -> Document:
    """A document of the service, as its bytes would be read."""
    return read_document(json.dumps(value).encode())


def report_with(rows: str, *columns: Column, **changes: Any) -> Report:
    """A report of one table, `rows`, whose rows and columns are at these paths; it has no months."""
    table = Table("rows", rows, "rows of a test", columns)
    return replace(REPORTS["trademarks"], tables=(table,), **changes)


def normalized(
    name: str | Report,
    *pages: Any,
    months: Sequence[Month] = (JANUARY, FEBRUARY),
    requested_ids: Sequence[str | None] | None = None,
    choices: Sequence[str | None] | None = None,
) -> Normalized:
    """The answer of a report, given as the values of its pages."""
    report = REPORTS[name] if isinstance(name, str) else name
    documents = [document(page) for page in pages]
    return normalize(
        report,
        documents,
        months=months if report.has_months else (),
        timezone=STOCKHOLM,
        requested_ids=requested_ids,
        choices=choices,
    )


def table(result: Normalized, name: str) -> NormalizedTable:
    """The one table of that name."""
    return next(table for table in result.tables if table.name == name)


def rows(result: Normalized, name: str, *columns: str) -> list[tuple[Any, ...]]:
    """The rows of a table, only the columns that matter."""
    return table(result, name).frame.select(columns).rows()


def types(result: Normalized, name: str) -> dict[str, str]:
    """The undocumented columns of a table, with their types."""
    return {column.name: column.type for column in table(result, name).columns if not column.documented}


def reasons(result: Normalized) -> list[tuple[str, str, str | None]]:
    """Why rows were rejected: table, reason and column."""
    return [(row.table, row.reason, row.column) for row in result.rejected]


def estates(*found: dict[str, Any], **of_office: Any) -> dict[str, Any]:
    """A sales report of one office and month."""
    month = {"month": "1", "estateSaleReports": list(found)}
    office = {"customerId": "M1", "officeName": "One", **of_office}
    return {"officeSaleReports": [{**office, "years": [{"year": "2026", "months": [month]}]}]}


def estate(id_: str, **fields: Any) -> dict[str, Any]:
    """An estate sold in January."""
    return {"id": id_, "contractDay": "2026-01-15T00:00:00", "agents": [], "changes": [], **fields}


def live(*users: dict[str, Any]) -> dict[str, Any]:
    """A live report of these users, of whom nothing but the id is documented."""
    return {"users": [{"userId": "U1", **user} for user in users]}


def lead(id_: str | None, **fields: Any) -> dict[str, Any]:
    """A lead created in January."""
    return {"createdAt": "2026-01-05T10:00:00", "lead": {"id": id_}, **fields}


def event(**fields: Any) -> dict[str, Any]:
    """A running commission earned in January."""
    known = {"userId": "HAN1", "customerId": "M1", "estateId": "OBJ1", "amount": 100.5, "exchangeRate": 1.0}
    return {**known, "obtainedAt": "2026-01-31T23:59:59.65", **fields}
