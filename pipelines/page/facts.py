"""Facts of the pages: the rows of the queries in sql/page, whose headers describe the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any


class Row(SimpleNamespace):
    """A row of a query, with an attribute for each column."""

    def with_columns(self, **columns: object) -> Row:
        """The row with these columns added or replaced."""
        return Row(**{**vars(self), **columns})


class Facts(SimpleNamespace):
    """Everything the pages show: the rows of each query, by its name.

    The operators' page also has `problems` and `standings`, which come from the state of the pipeline.
    """

    missing: tuple[str, ...] = ()  # the queries that the file cannot answer


def facts_from_rows(answers: Mapping[str, Sequence[Mapping[str, Any]] | None]) -> Facts:
    """Facts from the rows of each query. The rows are None if the file cannot answer the query."""
    rows = {name: tuple(Row(**row) for row in answer or ()) for name, answer in answers.items()}
    return Facts(**rows, missing=tuple(name for name, answer in answers.items() if answer is None))


def page_facts(facts: Facts, page: Row) -> Facts:
    """The facts of one page, without the rows of other pages."""
    return Facts(
        **{name: tuple(row for row in rows if _belongs_to(row, page)) for name, rows in vars(facts).items()}
    )


def _belongs_to(row: Any, page: Row) -> bool:
    if hasattr(row, "scope"):
        return bool((row.kind, row.scope) == (page.kind, page.scope))
    if page.kind == "chain":  # the chain's page has the rows of all offices
        return True
    if hasattr(row, "office_id"):
        return bool(row.office_id in page.office_ids)
    if hasattr(row, "is_chain_only"):  # a doubt; without office_ids it may affect any office
        is_about_page = row.office_ids is None or not set(page.office_ids).isdisjoint(row.office_ids)
        return not row.is_chain_only and is_about_page
    return True
