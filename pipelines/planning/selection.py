"""The selection of a sync: its reports, customers and months, and how it treats stored months."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report, functions_of
from pipelines.catalogue.reports import REPORTS
from pipelines.catalogue.reports import report as report_named
from pipelines.months import Month
from pipelines.settings.messages import SettingsError, nearest

if TYPE_CHECKING:
    from pipelines.settings.model import Customer, Settings

Pair = tuple[str, str]
"""A report's name and a customer's id."""


@dataclass(frozen=True)
class Selection:
    """The reports, customers and months of one sync.

    - `customers`: if empty, all active ones. `reports`: if empty, those that the settings choose.
    - `ids`: the ids to request, for reports that are on demand.
    - `refresh`: also request stored months that are not due.
    - `accept_shrink`: load answers that the guard would otherwise hold back.
    - `exact`: in a backfill, the months of each report and customer (none for a report without months). If it
      is given, `reports`, `first` and `last` are ignored.
    - `guided`: look for changes (see `requests_changes`), even if the selection is narrow.
    - `fresh_since`: do not request months that an earlier try or another command fetched after this time.
    """

    first: Month | None = None
    last: Month | None = None
    customers: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    refresh: bool = False
    accept_shrink: bool = False
    exact: Mapping[Pair, tuple[Month, ...]] = field(default_factory=dict)
    guided: bool = False
    fresh_since: datetime | None = None

    def __post_init__(self) -> None:
        if self.first and self.last and self.last < self.first:
            raise ValueError(f"--from {self.first} is after --to {self.last}; swap them")

    def is_fresh(self, fetched_at_utc: datetime) -> bool:
        """Whether a month fetched at this time need not be requested again in this sync."""
        return self.fresh_since is not None and fetched_at_utc > self.fresh_since

    @property
    def requests_changes(self) -> bool:
        """Whether to ask the service which sales changed, and to request unsettled months.

        Unsettled months are older months whose rows may still change. Months that are already in meta.changes
        are due even if this is false.
        """
        is_narrowed = self.first or self.last or self.reports or self.ids or self.exact or self.refresh
        return self.guided or not is_narrowed


def chosen_reports(
    settings: Settings, selection: Selection, catalogue: Mapping[str, Report] = REPORTS
) -> list[Report]:
    """The reports that a selection names; if it names none, those that the settings choose.

    Raises ValueError if the selection has an unknown name, and SettingsError if the settings have wrong names
    or logins.
    """
    functions = {name for report in catalogue.values() for name in functions_of(report.endpoint.path)}
    for login in (*settings.logins, *chain.from_iterable(customer.logins for customer in settings.customers)):
        if login not in functions:
            remedy = f"name one that fits, like {nearest(login, sorted(functions)) or 'crm'}."
            error = f"A login is set for the function {login!r}, but no report's path begins with that"
            raise SettingsError([f"{error}; {remedy}"])
    if selected := [report for report, _ in selection.exact] or selection.reports:
        return [report_named(name, catalogue) for name in dict.fromkeys(selected)]
    words = settings.reports or ()
    added, removed = ({word[1:] for word in words if word.startswith(sign)} for sign in "+-")
    plain = {word for word in words if word[0] not in "+-"}
    if plain and (added or removed):
        raise SettingsError(
            ["BROKERBI_REPORTS mixes plain names with +name and -name; write only one of the two kinds."]
        )
    for name in (word.lstrip("+-") for word in words):
        if name not in catalogue:
            suggestion = nearest(name, list(catalogue))
            remedy = f"did you mean {suggestion}?" if suggestion else "`brokerbi reports` lists them all."
            raise SettingsError([f"BROKERBI_REPORTS names {name!r}, which is not a report; {remedy}"])
    default = {name for name, report in catalogue.items() if report.timing.enabled}
    chosen = (plain or default | added) - removed
    return [report for name, report in catalogue.items() if name in chosen]


def chosen_customers(settings: Settings, selection: Selection) -> list[Customer]:
    """The customers that a selection names; if it names none, all in the settings.

    Customers that are not active are included. Raises SettingsError for an unknown customer.
    """
    customers = {customer.id: customer for customer in settings.customers}
    chosen = selection.customers or dict.fromkeys(customer for _, customer in selection.exact) or customers
    for customer in chosen:
        if customer not in customers:
            error = f"Customer {customer!r} is not among the configured customers ({', '.join(customers)})"
            raise SettingsError([f"{error}; add it to BROKERBI_CUSTOMERS or correct --customer."])
    return [customers[customer] for customer in chosen]
