"""What does Dagster load? The definitions made of this environment's settings."""

from __future__ import annotations

import os
import warnings

import dagster as dg

from assets.assembling import definitions
from assets.project import Project
from pipelines.settings.model import load_settings

# Backfill policies and freshness are still named beta or preview; they are used on purpose.
for kind in (dg.BetaWarning, dg.PreviewWarning):
    warnings.filterwarnings("ignore", category=kind)


@dg.definitions
def defs() -> dg.Definitions:
    """Made of BROKERBI_* and brokerbi.toml; raises SettingsError with a sentence for each that is wrong.

    The address and the login of the service may be missing while only looking around.
    """
    return definitions(Project(load_settings(os.environ, offline=True)))
