"""What ails this installation? Settings, disk, files, Dagster, logins, rights and clock, with remedies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.operations.examining_dagster import dagster_instance
from pipelines.operations.examining_files import disk, files, lock, working_file
from pipelines.operations.examining_service import service
from pipelines.operations.findings import Access, Finding, Grade
from pipelines.sync.surroundings import Surroundings

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

CHECKOUT = Path(__file__).resolve().parents[2]


def ignore(access: Access) -> None:
    """Tell nobody."""
    del access


def examine(
    settings: Settings,
    surroundings: Surroundings,
    *,
    environment: Mapping[str, str],
    ask: bool = True,
    shipped: Path = CHECKOUT / "dagster.yaml",
    on_access: Callable[[Access], None] = ignore,
) -> Iterator[Finding]:
    """Look at everything; `ask` makes one cheapest legal request per customer and report.

    A report that was refused with 403 today is not asked again, and one that is refused now is
    remembered. `environment` is where Dagster is told its home, `shipped` the dagster.yaml to compare.
    """
    yield from _settings(settings)
    yield _alerts(settings)
    yield disk(settings)
    yield lock(settings)
    yield from working_file(settings)
    yield from files(settings)
    yield from dagster_instance(environment, shipped)
    if ask:
        yield from asyncio.run(service(settings, surroundings, on_access))


def _settings(settings: Settings) -> Iterator[Finding]:
    remedy = "take it out, or correct its name"
    yield from (Finding("settings", Grade.ODD, warning, remedy) for warning in settings.warnings)
    if settings.today is not None:
        found = f"BROKERBI_TODAY says that it is {settings.today}: this is a rehearsal"
        yield Finding("settings", Grade.ODD, found, "take BROKERBI_TODAY out for real nights")
    asked, all_ = len(settings.active_customers), len(settings.customers)
    resting = f", {all_ - asked} are switched off" if asked < all_ else ""
    found = (
        f"{asked} customers are asked since {settings.start}{resting}; days are those of {settings.timezone}"
    )
    yield Finding("settings", Grade.WELL, found)


def _alerts(settings: Settings) -> Finding:
    """Whether anybody hears of a night that went wrong."""
    channels = ["a webhook"] if settings.alert_webhook.get_secret_value() else []
    if settings.alert_email_to:
        channels.append(f"mail through {settings.alert_smtp_host}")
    if channels:
        return Finding("alerts", Grade.WELL, f"trouble is told by {' and '.join(channels)}")
    remedy = "set BROKERBI_ALERT_WEBHOOK, or BROKERBI_ALERT_EMAIL_TO with a mail server"
    return Finding("alerts", Grade.ODD, "nobody is told of a night that went wrong", remedy)
