"""Selection of one sync: which reports, customers and months, and what to do with those that are held."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report, functions_of
from pipelines.catalogue.reports import REPORTS, report
from pipelines.months import Month
from pipelines.settings.messages import SettingsError, nearest

if TYPE_CHECKING:
    from pipelines.settings.model import Customer, Settings

Pair = tuple[str, str]
"""A report's name and a customer's id: what is planned, asked, refused and reported together."""
CORRECT_CUSTOMERS = "Correct BROKERBI_CUSTOMERS, or keep it there with active = false."
"""What to do about a customer with stored rows that is no longer in the settings."""


@dataclass(frozen=True)
class Selection:
    """The part of all reports, customers and months that one sync is about; empty means everything.

    `exact` names the months of each report and customer one by one (the partitions of a backfill; an empty
    tuple is a report without months); the other fields then only say how to treat them.
    `refresh` asks even for what is held; `accept_shrink` loads what the guard would hold
    back; `ids` are asked by the reports on demand. `guided` asks the service first which
    sales it changed, and reads those months as well; a selection that names nothing always does.
    `older` is the part of a night that reads what customers lack of older months.
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
    older: bool = False

    def __post_init__(self) -> None:
        if self.first and self.last and self.last < self.first:
            raise ValueError(f"--from {self.first} is after --to {self.last}; swap them")

    def covers(self, month: Month) -> bool:
        """Whether a month is between the first and the last that were named."""
        return (self.first or month) <= month <= (self.last or month)

    @property
    def asks_for_changes(self) -> bool:
        """Whether the service is asked what it changed: not for a choice of months or of reports."""
        narrowed = self.first or self.last or self.reports or self.ids or self.exact or self.refresh
        return self.guided or not narrowed

    @property
    def is_of_night(self) -> bool:
        """Whether months may wait for their turn: what somebody has chosen is asked for whole."""
        return self.asks_for_changes or self.older


def chosen_reports(
    settings: Settings, selection: Selection, catalogue: Mapping[str, Report] = REPORTS
) -> list[Report]:
    """The reports a selection is about: those it names, else those the settings ask for.

    Refuses a name that is not known, and a login for a function that no report is part of.
    """
    functions = {name for one in catalogue.values() for name in functions_of(one.endpoint.path)}
    own = (name for customer in settings.customers for name in customer.logins)
    for name in (*settings.logins, *own):
        if name not in functions:
            remedy = f"write the beginning of a path, like {nearest(name, sorted(functions)) or 'crm'}."
            raise SettingsError([f"There is a login for {name!r}, but no report is part of that; {remedy}"])
    if names := [name for name, _ in selection.exact] or selection.reports:
        return [report(name, catalogue) for name in dict.fromkeys(names)]
    words = settings.reports or ()
    added = {word[1:] for word in words if word.startswith("+")}
    removed = {word[1:] for word in words if word.startswith("-")}
    plain = {word for word in words if word[0] not in "+-"}
    if plain and (added or removed):
        raise SettingsError(
            ["BROKERBI_REPORTS mixes plain names with +name and -name; write only one of the two kinds."]
        )
    for name in (word.lstrip("+-") for word in words):
        if name not in catalogue:
            meant = nearest(name, list(catalogue))
            remedy = f"did you mean {meant}?" if meant else "`brokerbi reports` lists them all."
            raise SettingsError([f"BROKERBI_REPORTS names {name!r}, which is no report; {remedy}"])
    default = {name for name, one in catalogue.items() if one.timing.enabled and not one.timing.on_demand}
    chosen = (plain or default | added) - removed
    return [one for name, one in catalogue.items() if name in chosen]


def left_customers(settings: Settings, held: Iterable[Pair]) -> dict[str, str]:
    """A sentence for each customer that is held and no longer in the settings, or written otherwise there."""
    known = {customer for _, customer in held}
    new = {customer.id.lower(): customer.id for customer in settings.customers if customer.id not in known}
    found = {}
    for name in sorted(known - {customer.id for customer in settings.customers}):
        meant = nearest(name, list(new))
        found[name] = f"{name} is held and no longer in BROKERBI_CUSTOMERS"
        found[name] += f"; is {new[meant]} meant to be that one?" if meant else "; what is held of it stays."
    return found


def chosen_customers(settings: Settings, selection: Selection) -> list[Customer]:
    """The customers a selection is about; raises SettingsError for one that is not configured."""
    known = {customer.id: customer for customer in settings.customers}
    wanted = selection.customers or tuple(dict.fromkeys(customer for _, customer in selection.exact)) or known
    if unknown := [name for name in wanted if name not in known]:
        sentence = (
            f"Customer {unknown[0]!r} is not among the configured ones ({', '.join(known)}); "
            "add it to BROKERBI_CUSTOMERS or correct --customer."
        )
        raise SettingsError([sentence])
    return [known[name] for name in wanted]
