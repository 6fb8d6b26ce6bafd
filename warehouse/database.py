"""The working file: the store, and its sessions for writing."""

from __future__ import annotations

from warehouse.sitting import WriteSession
from warehouse.store import Store

__all__ = ["Store", "WriteSession"]
