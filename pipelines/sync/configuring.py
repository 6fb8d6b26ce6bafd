"""What do the settings want asked? Customers and reports in the warehouse's words, never a login."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS
from pipelines.planning.planned import chosen_reports
from pipelines.planning.selection import Selection
from warehouse.configured import ConfiguredCustomer, ConfiguredReport

if TYPE_CHECKING:
    from pipelines.settings.model import Settings


def configured_customers(settings: Settings) -> list[ConfiguredCustomer]:
    """Every customer of the settings, switched on or off."""
    start = settings.start.first_day
    return [ConfiguredCustomer(one.id, one.name, start, one.active) for one in settings.customers]


def configured_reports(
    settings: Settings, catalogue: Mapping[str, Report] = REPORTS
) -> list[ConfiguredReport]:
    """Every report of the catalogue; one that is only asked on demand is never late, so it counts as off."""
    chosen = {one.name for one in chosen_reports(settings, Selection(), catalogue) if not one.on_demand}
    return [
        ConfiguredReport(one.name, one.subject, one.description, one.path, one.name in chosen)
        for one in catalogue.values()
    ]
