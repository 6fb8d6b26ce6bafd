"""What happens on `brokerbi erase`? One person goes out of everything that is kept, with a receipt."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from pipelines.cli.printing import complain, say
from pipelines.cli.selecting import settings_from_environment
from pipelines.operations.erase import erase
from warehouse.personal_data import PersonKind


def run(arguments: argparse.Namespace) -> int:
    """Erase the contact or user that is named; 1 when something still holds the person."""
    settings = settings_from_environment(offline=True)
    kind = PersonKind.CONTACT if arguments.contact is not None else PersonKind.USER
    person = arguments.contact if arguments.contact is not None else arguments.user
    home = os.environ.get("DAGSTER_HOME")
    receipt = erase(settings, kind, person, runs=Path(home) if home else None)
    say(json.dumps(receipt.described(), indent=2))
    for problem in receipt.problems:
        complain(f"brokerbi: {problem}")
    return 1 if receipt.problems else 0
