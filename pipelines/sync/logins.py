"""Denied logins (401), and the conditions that remain once they are corrected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from pydantic import SecretStr

from pipelines.catalogue.reports import REPORTS
from pipelines.connect.models import Login
from pipelines.settings.messages import SettingsError
from pipelines.settings.sources import secret_in
from pipelines.sync.run_context import refused_logins_of
from warehouse.ledger.conditions import LOGIN_CORRECTED, LOGIN_REFUSED, Condition

if TYPE_CHECKING:
    from pipelines.settings.model import Customer, Settings

CORRECTED = "The login was denied (401); it has changed since, was accepted, or is tried once more."
NEXT_RUN_ASKS = "Wait for the next run, or run `brokerbi sync`."


def login_states(settings: Settings) -> Callable[[str, str], bool | None]:
    """A function that returns whether the login of a customer and report was denied; None if unknown."""
    refused_logins = refused_logins_of(settings)
    active = {customer.id: customer for customer in settings.active_customers} if settings.base_url else {}

    @cache
    def is_refused(customer: str, report: str) -> bool | None:
        path = REPORTS[report].endpoint.path if report in REPORTS else ""
        with suppress(SettingsError):
            if customer in active:
                return refused_logins.holds(_login_of_next_run(settings, active[customer], path))
        return None

    return is_refused


def with_corrected_logins(conditions: Iterable[Condition], settings: Settings) -> list[Condition]:
    """The conditions, reworded for denied logins that the settings have replaced since."""
    is_refused = login_states(settings)

    def corrected(row: Condition) -> Condition:
        if row.cause != LOGIN_REFUSED or is_refused(row.customer, row.report) is not False:
            return row
        key = LOGIN_CORRECTED
        return replace(row, cause=key, trouble=key, cause_key=key, error=CORRECTED, remedy=NEXT_RUN_ASKS)

    return list(map(corrected, conditions))


def _login_of_next_run(settings: Settings, customer: Customer, path: str) -> Login:
    """The login in the settings; a password in a file may be another one since this process began."""
    username, password = settings.login_of(customer, path)
    if file := settings.login_entry(customer, path)[0].password_file:
        with suppress(OSError, UnicodeDecodeError):
            password = SecretStr(secret_in(file))
    return Login(username, password)
