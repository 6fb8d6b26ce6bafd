"""Which part of everything do the arguments name? The selection that plan and sync share."""

from __future__ import annotations

import argparse
import os

from pipelines.planning.selection import Selection
from pipelines.settings.model import Settings, load_settings


def settings_from_environment(*, offline: bool = False) -> Settings:
    """The settings of this shell; `offline` commands do without an address and a login."""
    return load_settings(os.environ, offline=offline)


def selection_of(arguments: argparse.Namespace) -> Selection:
    """The selection that the arguments of plan or sync describe."""
    return Selection(
        first=arguments.first,
        last=arguments.last,
        customers=tuple(arguments.customer),
        reports=tuple(arguments.report),
        estates=tuple(arguments.estate),
        refresh=arguments.refresh,
        accept_shrink=getattr(arguments, "accept_shrink", False),
    )
