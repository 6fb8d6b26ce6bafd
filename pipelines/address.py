"""Addresses of services: the form of a base address, and whether it is on this machine."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

_FORBIDDEN_CHARACTERS = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029@?#\\]")


def checked_address(text: str) -> str:
    """The base address without trailing slashes; raises ValueError unless it is http(s)://host[:port][/path].

    The message of the error begins with a verb, so that a caller can put the setting's name before it. It
    never quotes the address, which may contain a password.
    """
    address = text.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port  # `port` raises ValueError if it is malformed
    except ValueError:
        raise ValueError("is not an address; write it like https://host/path") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError(
            "contains a username or password; remove it, and set BROKERBI_USERNAME and BROKERBI_PASSWORD"
        )
    if parts.scheme not in {"http", "https"} or not host:
        raise ValueError("is not an address; write it like https://host/path")
    if _FORBIDDEN_CHARACTERS.search(address) or {".", ".."} & set(parts.path.split("/")):
        raise ValueError("must end with a plain path, without a query, an @, a space or a ..")
    return address


def is_loopback(address: str) -> bool:
    """Whether the host of the address is a loopback address, localhost, or a name that ends in .localhost."""
    host = urlsplit(address).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
