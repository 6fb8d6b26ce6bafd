"""What do these tests stand on? Settings of invented customers, a ledger that is made up, and a sandbox."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path

from pipelines.months import Month, months_between
from pipelines.settings.model import Settings, load_settings
from warehouse.ledger import HeldMonth, Ledger

START = Month(2026, 1)
TODAY = date(2026, 11, 21)
LAST_NIGHT = datetime(2026, 11, 20, 4, tzinfo=UTC)


def settings(directory: Path, **values: str) -> Settings:
    """Settings as an operator would write them; a value that is not given is a usual one."""
    written = {"customers": "c01,c02,c03", "start": str(START), "base_url": "https://service.test"} | values
    written = {"username": "somebody", "password": "something", "data_dir": str(directory / "data")} | written
    environment = {f"BROKERBI_{name.upper()}": value for name, value in written.items()}
    return load_settings(environment, directory=directory)


def held(
    customers: Iterable[str],
    reports: Iterable[str],
    *,
    months: Iterable[Month] = tuple(months_between(START, Month.of(TODAY))),
    loaded: datetime = LAST_NIGHT,
    state: str = "held",
) -> dict[tuple[str, str, date | None], HeldMonth]:
    """Months as the ledger holds them."""
    one = HeldMonth("a load", 10, loaded, loaded, state)
    return {
        (report, customer, month.first_day): one
        for report in reports
        for customer in customers
        for month in months
    }


def ledger(*months: dict[tuple[str, str, date | None], HeldMonth]) -> Ledger:
    return Ledger(months={key: one for some in months for key, one in some.items()})
