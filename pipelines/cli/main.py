"""Entry point of `brokerbi`: the parser of all commands, their dispatch, and exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import version

from pipelines.cli.output import complain, is_wrong_usage, sentence_of
from pipelines.months import Month

COMMANDS = {
    "demo": "run everything once against a sandbox of our own: sync, publish, and a summary",
    "sandbox": "serve an invented Connect service on this machine, to try things out",
    "reports": "list the reports, their limits and their tables",
    "plan": "say what a sync would ask of each customer, without asking anything",
    "sync": "ask what is missing or due, load it and publish",
    "status": "say what is held, missing, failed and published",
    "replay": "rebuild tables from landing alone, without the service",
    "publish": "build the marts, run the checks and publish the working file",
    "rollback": "put an earlier published file back",
    "budget": "plan from a file what budgets to set at the service, and push a plan that is right",
    "explain": "say where a number comes from, down to the stored answer, and count it anew",
    "query": "put a statement of SQL, or one of the analyses, to the published file",
    "export": "write the published file as Parquet, CSV or an Excel workbook",
    "erase": "suppress a person in everything that is stored, and say what was changed",
    "doctor": "look for trouble in settings, disk, login and rights, and name each remedy",
}
# The modules of commands that are not named like theirs; the function of a command is run_NAME.
MODULES = {
    "sandbox": "demo",
    "reports": "status",
    "doctor": "status",
    "replay": "maintenance",
    "publish": "maintenance",
    "export": "maintenance",
    "rollback": "maintenance",
    "erase": "maintenance",
}
LONGEST_PATIENCE = 3600.0
WELL, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; everything that goes wrong is one sentence on stderr and an exit code."""
    # Else polars gives back memory half a second late: 360 instead of 335 MB for a sync of 1.3 million rows.
    os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")
    words = sys.argv[1:] if words is None else words
    if words and words[0] not in COMMANDS and (meant := get_close_matches(words[0], COMMANDS, n=1)):
        complain(f"brokerbi: there is no command {words[0]!r}; did you mean {meant[0]}?")
        return WRONG_USAGE
    arguments = parser(with_sandbox=words[:1] == ["sandbox"]).parse_args(words)
    try:
        return command(arguments.command)(arguments)
    except KeyboardInterrupt:
        complain("brokerbi: stopped; what was loaded is kept, and the next sync goes on from there")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WELL
    except Exception as error:
        if os.environ.get("BROKERBI_TRACEBACK"):
            raise
        return _report_error(error)


def command(name: str) -> Callable[[argparse.Namespace], int]:
    """The function of a command; its module is imported only now, so that help is instant."""
    module = import_module(f"pipelines.cli.{MODULES.get(name, name)}")
    run: Callable[[argparse.Namespace], int] = getattr(module, f"run_{name}")
    return run


def _report_error(error: Exception) -> int:
    """Errors of ours are sentences already; another is named as a fault. The exit code for it."""
    complain(f"brokerbi: {sentence_of(error)}")
    return WRONG_USAGE if is_wrong_usage(error) else FAILED


def parser(*, with_sandbox: bool = True) -> argparse.ArgumentParser:
    """The parser of `brokerbi`; argparse itself refuses wrong usage, with exit code 2.

    The options of the sandbox are its own: other commands are spared importing it.
    """
    top = argparse.ArgumentParser(
        prog="brokerbi",
        description="Reports of the Connect service, every morning, in one DuckDB file.",
        epilog="Settings come from BROKERBI_* variables or brokerbi.toml. "
        "Exit codes: 0 all well, 1 something failed, 2 wrong usage or settings.",
    )
    top.add_argument("--version", action="version", version=f"brokerbi {version('brokerbi')}")
    subparsers = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    commands = {
        name: subparsers.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        for name, text in COMMANDS.items()
    }
    for name in ("reports", "plan", "status", "explain"):
        commands[name].add_argument("--json", action="store_true", help="machine-readable output")
    for name in ("plan", "sync"):
        add = commands[name].add_argument
        add("--from", dest="first", type=_month, metavar="YYYY-MM", help="first month")
        add("--to", dest="last", type=_month, metavar="YYYY-MM", help="last month")
        add(
            "--id",
            "--estate",
            dest="id",
            action="append",
            default=[],
            metavar="ID",
            help="what to ask the reports on demand for, like an estate (repeatable)",
        )
        add("--refresh", action="store_true", help="ask even for what is held")
    commands["plan"].add_argument(
        "--details", action="store_true", help="every report of every customer on a line of its own"
    )
    for name in ("plan", "sync", "replay"):
        add = commands[name].add_argument
        add("--customer", action="append", default=[], metavar="ID", help="only this customer (repeatable)")
        add("--report", action="append", default=[], metavar="NAME", help="only this report (repeatable)")
    sync = commands["sync"]
    sync.add_argument("--no-publish", action="store_true", help="leave the published file as it is")
    sync.add_argument(
        "--accept-shrink",
        action="store_true",
        help="load answers that were held back: too many rows gone, or a column empty",
    )
    commands["replay"].add_argument(
        "--quarantine", action="store_true", help="only repeat loads that have rows in quarantine"
    )
    commands["rollback"].add_argument(
        "--to", metavar="VERSION", help="a version listed by `brokerbi status`; else the one before"
    )
    demo = commands["demo"]
    demo.add_argument("--data-dir", default=".demo", metavar="DIR", help="where the demo keeps its files")
    demo.add_argument("--months", type=int, default=36, help="how many months of history (default 36)")
    demo.add_argument("--reports", default="", metavar="NAMES", help="as BROKERBI_REPORTS, like +bids")
    demo.add_argument("--keep", action="store_true", help="go on from an earlier demo's files")
    commands["doctor"].add_argument("--offline", action="store_true", help="ask the service nothing")
    status = commands["status"]
    status.add_argument(
        "--check", action="store_true", help="end with 1 while a condition is an error, for a monitor"
    )
    status.add_argument(
        "--forget-caps",
        action="store_true",
        help="forget the shorter windows and smaller pages that refusals have taught us",
    )
    status.add_argument(
        "--details", action="store_true", help="every report of every customer, and earlier publications"
    )
    status.add_argument(
        "--quarantine", action="store_true", help="show every row in quarantine as it came, from landing"
    )
    explain = commands["explain"]
    whose = explain.add_mutually_exclusive_group()  # neither: the chain
    whose.add_argument(
        "--office",
        metavar="ID_OR_NAME",
        help="the office: its customer id, or (part of) its name; the chain without --office and --user",
    )
    whose.add_argument("--user", metavar="ID_OR_NAME", help="the user: an id, or (part of) a name")
    explain.add_argument("--month", required=True, type=_month, metavar="YYYY-MM", help="the month")
    explain.add_argument(
        "--measure",
        required=True,
        metavar="NAME",
        help="a column of the mart of months, or budget_commission, year_to_date_commission",
    )
    query = commands["query"]
    query.add_argument(
        "question",
        nargs="?",
        metavar="SQL_OR_NAME",
        help="one statement that reads, or the name or number of an analysis; without it, all are listed",
    )
    query.add_argument(
        "--format", choices=("table", "csv", "json", "parquet"), default="table", help="default: table"
    )
    query.add_argument("--out", metavar="FILE", help="where csv, json or parquet goes; else to stdout")
    query.add_argument("--year", type=int, metavar="YYYY", help="the year, for analyses that take one")
    query.add_argument("--office", metavar="ID", help="the office, for analyses that take one")
    export = commands["export"]
    export.add_argument(
        "--format",
        action="append",
        default=[],
        choices=("parquet", "csv", "xlsx"),
        help="repeatable; else those of the settings, else parquet",
    )
    export.add_argument(
        "--to", metavar="DIR_OR_URL", help="a directory or an address such as s3://bucket/folder"
    )
    export.add_argument(
        "--table", action="append", default=[], metavar="NAME", help="only this table (repeatable)"
    )
    steps = commands["budget"].add_subparsers(dest="step", metavar="plan|push", required=True)
    plan = steps.add_parser("plan", help="compare a file with the present budgets; sends nothing")
    plan.add_argument("file", metavar="FILE", help="CSV, Parquet or .xlsx, see docs/budgets.md")
    plan.add_argument("--plan", required=True, metavar="PLAN", help="where to keep the plan")
    push = steps.add_parser("push", help="set what a plan wants; goes on where an earlier push ended")
    push.add_argument("plan", metavar="PLAN", help="a plan that was kept")
    shown = "how long a budget that was sent may take to be shown (default %(default)s)"
    push.add_argument("--patience", type=_seconds, default=120.0, metavar="SECONDS", help=shown)
    for step in (plan, push):
        step.add_argument("--json", action="store_true", help="machine-readable output")
    person = commands["erase"].add_mutually_exclusive_group(required=True)
    person.add_argument("--contact", metavar="ID", help="the contact with this id")
    person.add_argument("--user", metavar="ID", help="the user with this id")
    if with_sandbox:
        from pipelines.sandbox.options import add_arguments

        add_arguments(commands["sandbox"])
    return top


def _month(text: str) -> Month:
    try:
        return Month.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds <= LONGEST_PATIENCE:
        raise argparse.ArgumentTypeError(f"{text} is not from 0 to {LONGEST_PATIENCE:.0f} seconds")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
