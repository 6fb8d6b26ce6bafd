"""What can be said on the command line? Every command with its arguments; cheap, so that help is instant."""

from __future__ import annotations

import argparse
from collections.abc import Collection

from pipelines.months import Month

COMMANDS = {
    "demo": "run everything once against a sandbox of our own: sync, publish, and a summary",
    "sandbox": "serve an invented Connect service on this machine, to try things out",
    "reports": "list the reports, their limits and their tables",
    "plan": "say what a sync would ask, per customer and report, without asking anything",
    "sync": "ask what is missing or due, load it and publish",
    "status": "say what is held, missing, failed and published",
    "replay": "rebuild tables from landing alone, without the service",
    "publish": "build the marts, run the checks and publish the working file",
    "rollback": "put an earlier published file back",
    "report": "draw the published file as one page that any browser opens",
    "explain": "say where a number comes from, down to the stored answer, and count it anew",
    "erase": "take a person out of everything that is kept, and say what was touched",
    "compact": "make the working file small again",
    "doctor": "look for trouble in settings, disk, login and rights, and name each remedy",
}
JSON = frozenset({"reports", "plan", "status"})


def parser(only: Collection[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser of `brokerbi`; what is wrong is said by argparse, with exit code 2.

    With `only`, the options of other commands are left out: who asks for one pays for no other.
    """
    top = argparse.ArgumentParser(
        prog="brokerbi",
        description="Reports of the Connect service, every morning, in one DuckDB file.",
        epilog="Settings come from BROKERBI_* variables or brokerbi.toml. "
        "Exit codes: 0 all well, 1 something failed, 2 wrong usage or settings.",
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name not in only:
            continue
        if name in JSON:
            command.add_argument("--json", action="store_true", help="machine-readable output")
        if name in ("plan", "sync", "replay"):
            _add_selection(command, months=name != "replay")
        if name in _ADDITIONS:
            _ADDITIONS[name](command)
    return top


def _month(text: str) -> Month:
    try:
        return Month.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _add_selection(command: argparse.ArgumentParser, *, months: bool) -> None:
    if months:
        command.add_argument("--from", dest="first", type=_month, metavar="YYYY-MM", help="first month")
        command.add_argument("--to", dest="last", type=_month, metavar="YYYY-MM", help="last month")
        command.add_argument(
            "--estate",
            action="append",
            default=[],
            metavar="ID",
            help="an estate for the reports on demand (repeatable)",
        )
        command.add_argument("--refresh", action="store_true", help="ask even for what is held")
    command.add_argument(
        "--customer", action="append", default=[], metavar="ID", help="only this customer (repeatable)"
    )
    command.add_argument(
        "--report", action="append", default=[], metavar="NAME", help="only this report (repeatable)"
    )


def _sync(command: argparse.ArgumentParser) -> None:
    command.add_argument("--no-publish", action="store_true", help="leave the published file as it is")
    command.add_argument(
        "--accept-shrink",
        action="store_true",
        help="load answers even if more than half of a customer's rows of a report go",
    )


def _replay(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--quarantine", action="store_true", help="only repeat loads that have rows in quarantine"
    )


def _rollback(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--to", metavar="VERSION", help="a version listed by `brokerbi status`; else the one before"
    )


def _demo(command: argparse.ArgumentParser) -> None:
    command.add_argument("--data-dir", default=".demo", metavar="DIR", help="where the demo keeps its files")
    command.add_argument("--months", type=int, default=36, help="how many months of history (default 36)")
    command.add_argument("--keep", action="store_true", help="go on from an earlier demo's files")


def _doctor(command: argparse.ArgumentParser) -> None:
    command.add_argument("--offline", action="store_true", help="ask the service nothing")


def _status(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--forget-caps", action="store_true", help="forget the shorter windows that refusals have taught us"
    )
    command.add_argument(
        "--quarantine", action="store_true", help="show every row in quarantine as it came, from landing"
    )


def _report(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--out", metavar="FILE", help="where to put it; else report.html beside the published file"
    )


def _explain(command: argparse.ArgumentParser) -> None:
    whose = command.add_mutually_exclusive_group(required=True)
    whose.add_argument("--office", metavar="ID", help="customer id of the office")
    whose.add_argument("--user", metavar="ID", help="id of the user")
    command.add_argument("--month", required=True, type=_month, metavar="YYYY-MM", help="the month")
    command.add_argument(
        "--measure", required=True, metavar="NAME", help="a column of the mart of months, such as commission"
    )


def _erase(command: argparse.ArgumentParser) -> None:
    person = command.add_mutually_exclusive_group(required=True)
    person.add_argument("--contact", metavar="ID", help="the contact with this id")
    person.add_argument("--user", metavar="ID", help="the user with this id")


def _sandbox(command: argparse.ArgumentParser) -> None:
    from pipelines.sandbox.serving import add_arguments

    add_arguments(command)


_ADDITIONS = {
    "sync": _sync,
    "replay": _replay,
    "rollback": _rollback,
    "demo": _demo,
    "doctor": _doctor,
    "status": _status,
    "report": _report,
    "explain": _explain,
    "sandbox": _sandbox,
    "erase": _erase,
}
