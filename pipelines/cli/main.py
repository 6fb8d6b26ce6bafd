"""Entry point of `brokerbi`: every command with its options, and exit codes.

A command imports what it runs only when it is called, so that help is instant.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pipelines.cli.output import complain, is_wrong_usage, sentence_of
from pipelines.months import Month

WELL, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130
EXPORTS = ("parquet", "csv", "xlsx")

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    epilog="Settings come from BROKERBI_* variables or brokerbi.toml. "
    "Exit codes: 0 all well, 1 something failed, 2 wrong usage or settings.",
)
budget = typer.Typer(
    rich_markup_mode=None, no_args_is_help=True, help="Plan budgets from a file, and push a plan."
)
app.add_typer(budget, name="budget")


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; every error is one sentence on stderr and an exit code."""
    # Else polars gives back memory half a second late: 360 instead of 335 MB for a sync of 1.3 million rows.
    os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")
    try:
        app(words, prog_name="brokerbi")
    except SystemExit as end:
        return int(end.code or WELL)
    return WELL


def command(group: typer.Typer = app, **options: Any) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Adds a function that returns an exit code as a command; its errors become sentences."""

    def add(run: Callable[..., int]) -> Callable[..., int]:
        @wraps(run)
        def ended(*words: Any, **named: Any) -> None:
            raise typer.Exit(_exit_code(lambda: run(*words, **named)))

        group.command(**options)(ended)
        return run

    return add


def _exit_code(run: Callable[[], int]) -> int:
    try:
        return run()
    except KeyboardInterrupt:
        complain("brokerbi: stopped; what was loaded is kept, and the next sync goes on from there")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WELL
    except Exception as error:
        if os.environ.get("BROKERBI_TRACEBACK"):
            raise
        complain(f"brokerbi: {sentence_of(error)}")
        return WRONG_USAGE if is_wrong_usage(error) else FAILED


def _month(text: str) -> Month:
    try:
        return Month.parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _export_format(text: str) -> str:
    if text not in EXPORTS:
        raise typer.BadParameter(f"{text!r} is none of {', '.join(EXPORTS)}")
    return text


def flag(name: str, text: str) -> Any:
    """An option that is on or off, and off without its name."""
    return typer.Option(name, help=text)


def option(text: str, metavar: str, *names: str, parser: Callable[[str], Any] | None = None) -> Any:
    """An option with a value, named like its parameter unless it has names."""
    return typer.Option(*names, metavar=metavar, help=text, parser=parser)


def options(text: str, metavar: str, *names: str, parser: Callable[[str], Any] | None = None) -> Any:
    """An option that can be repeated."""
    return typer.Option(
        *names,
        metavar=metavar,
        help=f"{text} (repeatable)",
        parser=parser,
        default_factory=list,
        show_default=False,
    )


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"brokerbi {version_of('brokerbi')}")
        raise typer.Exit


Json = Annotated[bool, flag("--json", "machine-readable output")]
First = Annotated[Month | None, option("first month", "YYYY-MM", "--from", parser=_month)]
Last = Annotated[Month | None, option("last month", "YYYY-MM", "--to", parser=_month)]
Customers = Annotated[list[str], options("only this customer", "ID", "--customer")]
Reports = Annotated[list[str], options("only this report", "NAME", "--report")]
Ids = Annotated[list[str], options("an estate, for reports on demand", "ID", "--id", "--estate")]
Refresh = Annotated[bool, flag("--refresh", "fetch even what is loaded")]


@app.callback()
def top(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="show the version")
    ] = False,
) -> None:
    """Reports of the Connect service, every morning, in one DuckDB file."""


@command()
def demo(
    data_dir: Annotated[Path, option("where the demo keeps its files", "DIR")] = Path(".demo"),
    months: Annotated[int, option("how many months of history", "NUMBER")] = 36,
    reports: Annotated[str, option("as BROKERBI_REPORTS, like +bids", "NAMES")] = "",
    keep: Annotated[bool, flag("--keep", "go on from an earlier demo's files")] = False,
) -> int:
    """Run everything once against a sandbox of our own."""
    from pipelines.cli.demo import run_demo

    return run_demo(data_dir, months=months, reports=reports, keep=keep)


@command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []})
def sandbox(context: typer.Context) -> int:
    """Serve an invented Connect service on this machine."""
    from pipelines.sandbox.options import add_arguments, run

    parser = ArgumentParser("brokerbi sandbox", description=sandbox.__doc__)
    add_arguments(parser)
    return run(parser.parse_args(context.args))


@command()
def reports(json: Json = False) -> int:
    """List the reports, their limits and whether they are on."""
    from pipelines.cli.status import run_reports

    return run_reports(as_json=json)


@command()
def plan(
    *,
    first: First = None,
    last: Last = None,
    customer: Customers,
    report: Reports,
    ids: Ids,
    refresh: Refresh = False,
    details: Annotated[bool, flag("--details", "a line for each report of a customer")] = False,
    json: Json = False,
) -> int:
    """Show what a sync would request, without a request."""
    from pipelines.cli.plan import run_plan
    from pipelines.planning.selection import Selection

    selection = Selection(first, last, tuple(customer), tuple(report), tuple(ids), refresh)
    return run_plan(selection, details=details, as_json=json)


@command()
def sync(
    *,
    first: First = None,
    last: Last = None,
    customer: Customers,
    report: Reports,
    ids: Ids,
    refresh: Refresh = False,
    accept_shrink: Annotated[bool, flag("--accept-shrink", "load what the guard held back")] = False,
    no_publish: Annotated[bool, flag("--no-publish", "leave the published file as it is")] = False,
) -> int:
    """Fetch what is missing or due, load it and publish."""
    from pipelines.cli.sync import run_sync
    from pipelines.planning.selection import Selection

    selection = Selection(first, last, tuple(customer), tuple(report), tuple(ids), refresh, accept_shrink)
    return run_sync(selection, publishes=not no_publish)


@command()
def status(
    check: Annotated[bool, flag("--check", "end with 1 while a condition is an error")] = False,
    forget_caps: Annotated[bool, flag("--forget-caps", "forget the learned windows and pages")] = False,
    details: Annotated[bool, flag("--details", "every report of every customer")] = False,
    quarantine: Annotated[bool, flag("--quarantine", "every row in quarantine as it came")] = False,
    json: Json = False,
) -> int:
    """Show what is loaded, missing, failed and published."""
    from pipelines.cli.status import run_status

    return run_status(check=check, forget=forget_caps, details=details, quarantine=quarantine, as_json=json)


@command()
def replay(
    *,
    customer: Customers,
    report: Reports,
    quarantine: Annotated[bool, flag("--quarantine", "only loads with rows in quarantine")] = False,
) -> int:
    """Rebuild tables from landing alone, without the service."""
    from pipelines.cli.maintenance import run_replay

    return run_replay(report, customer, quarantine=quarantine)


@command()
def publish() -> int:
    """Build the marts, run the checks and publish."""
    from pipelines.cli.maintenance import run_publish

    return run_publish()


@command()
def rollback(
    to: Annotated[str | None, option("a version that `status` lists; else the one before", "VERSION")] = None,
) -> int:
    """Put an earlier published file back."""
    from pipelines.cli.maintenance import run_rollback

    return run_rollback(to)


@command(budget, name="plan")
def budget_plan(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, Parquet, .xlsx; see docs/operators.md")],
    plan: Annotated[Path, option("where to keep the plan", "PLAN")],
    json: Json = False,
) -> int:
    """Compare a file with the present budgets; send nothing."""
    from pipelines.cli.budget import run_plan

    return run_plan(file, plan, as_json=json)


@command(budget, name="push")
def budget_push(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="a plan that was kept")],
    patience: Annotated[
        float, typer.Option(min=0, max=3600, metavar="SECONDS", help="how long a budget may take to be shown")
    ] = 120,
    json: Json = False,
) -> int:
    """Set at the service what a plan wants."""
    from pipelines.cli.budget import run_push

    return run_push(plan, patience=patience, as_json=json)


@command()
def explain(
    month: Annotated[Month, option("the month", "YYYY-MM", parser=_month)],
    measure: Annotated[str, option("a column of the mart of months, or budget_commission", "NAME")],
    office: Annotated[str, option("an id or part of a name; else the chain", "ID_OR_NAME")] = "",
    user: Annotated[str, option("an id or part of a name", "ID_OR_NAME")] = "",
    json: Json = False,
) -> int:
    """Follow a number back to its stored answers."""
    from pipelines.cli.explain import run_explain

    if office and user:
        raise ValueError("--office and --user exclude each other; name one of them")
    return run_explain(month, measure, office=office, user=user, as_json=json)


@command()
def query(
    question: Annotated[
        str | None, typer.Argument(metavar="SQL_OR_NAME", help="one statement or analysis; else their list")
    ] = None,
    form: Annotated[Literal["table", "csv", "json", "parquet"], typer.Option("--format")] = "table",
    out: Annotated[Path | None, option("where it is written; else to stdout", "FILE")] = None,
    year: Annotated[int | None, option("for analyses that take a year", "YYYY")] = None,
    office: Annotated[str | None, option("for analyses that take an office", "ID")] = None,
) -> int:
    """Put SQL or an analysis to the published file."""
    from pipelines.cli.query import run_query

    return run_query(question, {"year": year, "office": office}, form=form, out=out)


@command()
def export(
    *,
    formats: Annotated[
        list[str], options("else as set, else parquet", "|".join(EXPORTS), "--format", parser=_export_format)
    ],
    to: Annotated[str, option("a directory, or an address like s3://bucket/folder", "DIR_OR_URL")] = "",
    table: Annotated[list[str], options("only this table", "NAME", "--table")],
) -> int:
    """Write the published file as Parquet, CSV or Excel."""
    from pipelines.cli.maintenance import run_export

    return run_export(formats, to, table)


@command()
def erase(
    contact: Annotated[str | None, option("the contact with this id", "ID")] = None,
    user: Annotated[str | None, option("the user with this id", "ID")] = None,
) -> int:
    """Suppress a person in everything that is stored."""
    from pipelines.cli.maintenance import run_erase

    if (contact is None) == (user is None):
        raise ValueError("name one person, with --contact ID or --user ID")
    return run_erase(contact=contact, user=user)


@command()
def doctor(offline: Annotated[bool, flag("--offline", "send no request to the service")] = False) -> int:
    """Look for trouble in settings, disk, logins and rights."""
    from pipelines.cli.status import run_doctor

    return run_doctor(offline=offline)


if __name__ == "__main__":
    sys.exit(main())
