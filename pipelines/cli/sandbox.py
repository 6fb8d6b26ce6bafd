"""What happens on `brokerbi sandbox`? An invented Connect service answers on this machine until Ctrl-C."""

from __future__ import annotations

import argparse


def run(arguments: argparse.Namespace) -> int:
    """Serve the sandbox that the arguments describe."""
    from pipelines.sandbox import serving

    return serving.run(arguments)
