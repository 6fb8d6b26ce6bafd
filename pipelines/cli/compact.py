"""What happens on `brokerbi compact`? The working file is rewritten without what was deleted from it."""

from __future__ import annotations

import argparse

from pipelines.cli.printing import say, size
from pipelines.cli.selecting import settings_from_environment
from warehouse.retention import compact


def run(arguments: argparse.Namespace) -> int:
    """Rewrite the working file; the published one stays as it is."""
    del arguments
    done = compact(settings_from_environment(offline=True).data_dir)
    say(f"the working file has {size(done.bytes_after)} now; it had {size(done.bytes_before)}")
    return 0
