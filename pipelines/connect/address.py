"""Where is the service? Its base address, and whether a login may travel there."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

_UNWANTED = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029@?#\\]")


def checked_address(text: str) -> str:
    """The base address without a closing slash; refuses credentials, queries and anything but HTTP.

    The sentences complete `the address ...`, and never quote it: it may hold a password.
    """
    address = text.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("is not an address; write it like https://host/path") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError(
            "holds a username or password; take them out, and set BROKERBI_USERNAME and BROKERBI_PASSWORD"
        )
    if parts.scheme not in {"http", "https"} or not host:
        raise ValueError("is not an address; write it like https://host/path")
    if _UNWANTED.search(address) or {".", ".."} & set(parts.path.split("/")):
        raise ValueError("must end with a plain path; a query, an @, a space or a .. has no place in it")
    return address


def is_in_clear(address: str) -> bool:
    """Whether a login would cross a network unencrypted."""
    return urlsplit(address).scheme == "http" and not is_this_machine(address)


def is_this_machine(address: str) -> bool:
    """Whether the host is this machine (loopback)."""
    host = urlsplit(address).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
