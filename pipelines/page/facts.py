"""Facts of the pages: the rows of the queries of sql/page, whose headers say what their columns are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import SimpleNamespace
from typing import Any


class Row(SimpleNamespace):
    """A row of a query, with an attribute for each column."""

    def with_columns(self, **columns: object) -> Row:
        """The row with other columns or more of them."""
        return Row(**{**vars(self), **columns})


@dataclass(frozen=True)
class Facts:
    """Everything the pages show; fields but `problems` and `missing` are named after queries of sql/page."""

    basis: Sequence[Row] = ()
    metrics: Sequence[Row] = ()
    scopes: Sequence[Row] = ()
    periods: Sequence[Row] = ()
    months: Sequence[Row] = ()
    market: Sequence[Row] = ()
    changed_sales: Sequence[Row] = ()
    changes: Sequence[Row] = ()
    budget_changes: Sequence[Row] = ()
    coming_budgets: Sequence[Row] = ()
    same_days: Sequence[Row] = ()
    forecasts: Sequence[Row] = ()
    drift: Sequence[Row] = ()
    drivers: Sequence[Row] = ()
    funnel: Sequence[Row] = ()
    intake: Sequence[Row] = ()
    headcount: Sequence[Row] = ()
    trends: Sequence[Row] = ()
    cancelled: Sequence[Row] = ()
    agents: Sequence[Row] = ()
    receivables: Sequence[Row] = ()
    money: Sequence[Row] = ()
    due_sales: Sequence[Row] = ()
    earners: Sequence[Row] = ()
    leads: Sequence[Row] = ()
    untouched: Sequence[Row] = ()
    doubts: Sequence[Row] = ()
    agreements: Sequence[Row] = ()
    differences: Sequence[Row] = ()
    restatements: Sequence[Row] = ()
    standings: Sequence[Row] = ()
    requests: Sequence[Row] = ()
    quarantine: Sequence[Row] = ()
    problems: Sequence[Row] = ()
    missing: Sequence[str] = ()


QUERIES = tuple(field.name for field in fields(Facts) if field.name not in ("problems", "missing"))
"""The queries of sql/page, in the order in which those that cannot be answered are named."""

OF_FIGURES = ("basis", "agreements", "differences", "restatements")
"""The queries of the operators' page on what analysts see."""

OF_PIPELINE = ("standings", "requests", "quarantine")
"""The queries of the operators' page on the state of the pipeline, which goes on without a publication."""


def facts_from_rows(answers: Mapping[str, Sequence[Mapping[str, Any]] | None]) -> Facts:
    """Facts from the rows of each query; None for a query that the file cannot answer."""
    rows = {name: tuple(Row(**row) for row in answer or ()) for name, answer in answers.items()}
    return Facts(**rows, missing=tuple(name for name, answer in answers.items() if answer is None))


def facts_of(facts: Facts, page: Row) -> Facts:
    """The facts of one page, with no row of another page or of an office that is not on it."""
    return replace(
        facts, **{name: tuple(row for row in getattr(facts, name) if _is_on(row, page)) for name in QUERIES}
    )


def _is_on(row: Row, page: Row) -> bool:
    """Whether a row is of a page: by its scope, its office, or the offices that a doubt concerns."""
    if hasattr(row, "scope"):
        return bool((row.kind, row.scope) == (page.kind, page.scope))
    if page.kind == "chain":
        return True
    if hasattr(row, "office_id"):
        return row.office_id in page.office_ids
    if hasattr(row, "is_of_chain"):
        is_general = row.office_ids is None
        return not row.is_of_chain and (is_general or not set(page.office_ids).isdisjoint(row.office_ids))
    return True
