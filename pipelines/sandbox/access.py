"""Who may ask what? Logins, the customers each may ask for, and the reports kept from it."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.sandbox.calls import Refusal


@dataclass(frozen=True, slots=True)
class Denial:
    """A report (a part of its path) and a customer that are refused with 403; None means every one."""

    path: str | None = None
    customer: str | None = None

    def concerns(self, path: str, customer: str) -> bool:
        return (self.path is None or self.path.lower() in path.lower()) and self.customer in (None, customer)


@dataclass(frozen=True, slots=True)
class Login:
    """A partner's account; `customers` None means all of the world."""

    username: str = "sandbox"
    password: str = "sandbox"
    customers: frozenset[str] | None = None
    denials: tuple[Denial, ...] = ()

    def may_ask(self, path: str, customer: str) -> bool:
        if self.customers is not None and customer not in self.customers:
            return False
        return not any(denial.concerns(path, customer) for denial in self.denials)


def authenticated(header: str | None, logins: Sequence[Login]) -> Login:
    """The login a Basic header in UTF-8 names; refuses everything else with 401."""
    wrong = Refusal(401, "The Authorization header is incorrect (wrong username or password).")
    scheme, _, encoded = (header or "").partition(" ")
    if scheme.lower() != "basic":
        raise wrong
    try:
        username, colon, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise wrong from error
    for login in logins:
        if colon and login.username == username:
            if hmac.compare_digest(login.password.encode(), password.encode()):
                return login
            break
    raise wrong
