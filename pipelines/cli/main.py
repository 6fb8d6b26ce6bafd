"""The application `brokerbi`: entry point, registration of commands, exit codes, and shared options."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import wraps
from importlib import import_module
from importlib.metadata import version as version_of
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.output import is_wrong_usage, log, sentence_of
from pipelines.clock import SystemClock
from pipelines.months import Month

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

WELL, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130
MODULES = {
    "demo": ("demo", "sandbox"),
    "sync": ("plan", "sync"),
    "status": ("status", "doctor", "shapes", "reports"),
    "maintenance": ("publish", "replay", "rollback", "export", "erase"),
    "questions": ("query", "explain"),
    "budget": ("budget",),
}
"""The commands of each module."""

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    epilog="Settings come from BROKERBI_* variables or brokerbi.toml. "
    "Exit codes: 0 all well, 1 something failed, 2 wrong usage or settings.",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; an error becomes a sentence on stderr and an exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a character that the stream cannot show must not end a sync
            stream.reconfigure(errors="replace")
    try:
        load_app(arguments[0] if arguments else "")(arguments, prog_name="brokerbi", obj=arguments)
    except SystemExit as end:
        return int(end.code or WELL)
    return WELL


def load_app(command: str = "") -> typer.Typer:
    """Load the application with the module of this command, or with all modules for an unknown command."""
    modules = [module for module, commands in MODULES.items() if command in commands]
    for module in modules or MODULES:
        import_module(f"pipelines.cli.{module}")
    return app


def command(
    name: str, group: typer.Typer = app, **more: Any
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """A decorator that makes a function a command. The function returns the exit code; errors are printed."""

    def register(run: Callable[..., int]) -> Callable[..., int]:
        @wraps(run)
        def run_and_exit(**arguments: Any) -> None:
            raise typer.Exit(_exit_code(run, arguments))

        group.command(name, **more)(run_and_exit)
        return run

    return register


def _exit_code(run: Callable[..., int], arguments: dict[str, Any]) -> int:
    try:
        return run(**arguments)
    except KeyboardInterrupt:
        log("brokerbi: stopped, and finished work is kept; `brokerbi status` shows what is left to do")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WELL
    except Exception as error:
        if os.environ.get("BROKERBI_TRACEBACK"):
            raise
        log(f"brokerbi: {sentence_of(error)}")
        return WRONG_USAGE if is_wrong_usage(error) else FAILED


def working(
    settings: Settings, name: str, *, wait: bool = True, remedy: str = "", completed_by: tuple[str, ...] = ()
) -> AbstractContextManager[datetime | None]:
    """Hold the work lock for the command `name`; `completed_by` are the tasks that finish it if it is killed.

    If another command holds it, logs that command and waits for it; with `wait=False`, raises WarehouseError.
    Yields the time at which the other command began, or None if the lock was free.
    """
    from warehouse.store.lock import work_lock

    return work_lock(
        settings.data_dir,
        f"brokerbi {name}",
        on_wait=lambda sentence: log(f"brokerbi: {sentence}"),
        wait=wait,
        remedy=remedy,
        completed_by=completed_by,
        sentence_of=lambda error: "" if is_wrong_usage(error) else sentence_of(error),
        now=settings.run_clock(SystemClock()).utc_now,
    )


def parse_month(text: str) -> Month:
    """Parse a month given as an option."""
    try:
        return Month.parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def flag(name: str, text: str) -> Any:
    """A boolean option, off by default."""
    return typer.Option(name, help=text)


def option(text: str, metavar: str, *names: str, parser: Callable[[str], Any] | None = None) -> Any:
    """An option with a value, named like its parameter unless `names` are given."""
    return typer.Option(*names, metavar=metavar, help=text, parser=parser)


def options(text: str, metavar: str, *names: str) -> Any:
    """An option that can be repeated; its value is a list."""
    text = f"{text} (repeatable)"
    return typer.Option(*names, metavar=metavar, help=text, default_factory=list, show_default=False)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"brokerbi {version_of('brokerbi')}")
        raise typer.Exit


Json = Annotated[bool, flag("--json", "machine-readable output")]
First = Annotated[Month | None, option("first month", "YYYY-MM", "--from", parser=parse_month)]
Last = Annotated[Month | None, option("last month", "YYYY-MM", "--to", parser=parse_month)]
Customers = Annotated[list[str], options("only this customer", "ID", "--customer")]
Reports = Annotated[list[str], options("only this report", "NAME", "--report")]
Ids = Annotated[list[str], options("the id of an estate, for reports on demand", "ID", "--id", "--estate")]
Refresh = Annotated[bool, flag("--refresh", "also fetch months that are already loaded")]


@app.callback()
def main_callback(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="show the version")
    ] = False,
) -> None:
    """Reports of the Connect service, every morning, in one DuckDB file."""
