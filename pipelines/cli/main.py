"""Entry point of `brokerbi`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

import typer

from pipelines.cli.app import WELL, app

MODULES = {
    "demo": ("demo", "sandbox"),
    "sync": ("plan", "sync"),
    "shapes": ("reports", "shapes"),
    "status": ("status", "doctor"),
    "maintenance": ("publish", "replay", "rollback", "export", "erase"),
    "questions": ("query", "explain"),
    "budget": ("budget",),
}
"""The commands of each module."""


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; every error is one sentence on stderr and an exit code."""
    words = sys.argv[1:] if words is None else words
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a name outside of Latin-1 must not end a sync
            stream.reconfigure(errors="replace")
    try:
        app_with(words[0] if words else "")(words, prog_name="brokerbi")
    except SystemExit as end:
        return int(end.code or WELL)
    return WELL


def app_with(command: str = "") -> typer.Typer:
    """The application with the module of one command, to start faster; with all modules if unknown."""
    modules = [module for module, commands in MODULES.items() if command in commands]
    for module in modules or MODULES:
        import_module(f"pipelines.cli.{module}")
    return app


if __name__ == "__main__":
    sys.exit(main())
