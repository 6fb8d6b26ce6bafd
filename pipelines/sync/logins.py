"""Logins that the service refused (401), and what is said of them once they are corrected."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import SecretStr

from pipelines.connect.models import Login
from pipelines.settings.messages import SettingsError
from pipelines.settings.sources import secret_in
from pipelines.sync.run_context import refused_logins_of
from warehouse.ledger.conditions import LOGIN_CORRECTED, LOGIN_REFUSED, Condition
from warehouse.ledger.ledger import customers_that_failed, rename_failures
from warehouse.store.database import Connection

if TYPE_CHECKING:
    from pipelines.settings.model import Customer, Settings

CORRECTED = "The login was refused (401); it is another one by now or was accepted since."
NEXT_RUN_ASKS = "Wait for the next run, or sync: it is asked again."


def login_states(settings: Settings) -> dict[str, bool]:
    """Whether the login of each active customer is one that was refused; nothing where it is not known."""
    refused_logins, found = refused_logins_of(settings), {}
    for customer in settings.active_customers if settings.base_url else ():
        with suppress(SettingsError):
            found[customer.id] = refused_logins.holds(_login_of_next_run(settings, customer))
    return found


def with_corrected_logins(conditions: Iterable[Condition], settings: Settings) -> list[Condition]:
    """What refused logins failed at, told apart where the settings have another one by now."""
    states = login_states(settings)

    def corrected(one: Condition) -> Condition:
        same = LOGIN_CORRECTED
        return replace(one, cause=same, trouble=same, cause_key="", error=CORRECTED, remedy=NEXT_RUN_ASKS)

    return [
        corrected(one) if one.cause == LOGIN_REFUSED and states.get(one.customer) is False else one
        for one in conditions
    ]


def note_corrected_logins(connection: Connection, settings: Settings) -> None:
    """Let the ledger say that what a login failed at is asked again, where that login is corrected by now."""
    if failed := customers_that_failed(connection, LOGIN_REFUSED):
        corrected = [name for name, is_refused in login_states(settings).items() if not is_refused]
        rename_failures(
            connection,
            LOGIN_REFUSED,
            failed.intersection(corrected),
            LOGIN_CORRECTED,
            CORRECTED,
            NEXT_RUN_ASKS,
        )


def _login_of_next_run(settings: Settings, customer: Customer) -> Login:
    """The login in the settings; a password in a file may be another one since this process began."""
    username, password = settings.login_of(customer)
    file = customer.password_file if customer.password else settings.password_file
    if file:
        with suppress(OSError, UnicodeDecodeError):
            password = SecretStr(secret_in(file))
    return Login(username, password)
