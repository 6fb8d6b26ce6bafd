"""What happens on `brokerbi publish`? Marts, checks, and a new file for the analysts if all is right."""

from __future__ import annotations

import argparse

from pipelines.cli.finished import print_finished
from pipelines.cli.selecting import settings_from_environment
from pipelines.sync.finishing import finish


def run(arguments: argparse.Namespace) -> int:
    """Publish the working file; 1 when a check of severity error stands against it."""
    del arguments
    finished = finish(settings_from_environment(offline=True))
    print_finished(finished)
    return 0 if finished.publication.published else 1
