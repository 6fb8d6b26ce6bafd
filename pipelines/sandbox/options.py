"""Options of `brokerbi sandbox`, and the service that they describe."""

from __future__ import annotations

import argparse
import sys
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipelines.sandbox.faults import KINDS, OPTIONS

if TYPE_CHECKING:
    from pipelines.sandbox.service import SandboxLogin, Service


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the world, then those of the service."""
    add, default = parser.add_argument, "(default %(default)s)"
    add("--seed", type=int, default=1, help=f"each seed is a different world {default}")
    add("--offices", type=int, default=7, help=f"the number of offices {default}")
    start_help = f"the first month of the history {default}"
    add("--from", dest="start", default="2023-01", metavar="YYYY-MM", help=start_help)
    day_help = "the day on which the sandbox's clock stands still (default: it follows the real date)"
    add("--as-of", type=date.fromisoformat, metavar="DATE", help=day_help)
    add("--activity", type=float, default=1.0, help=f"how busy the agents are {default}")
    add("--host", default="127.0.0.1", help=f"a loopback address {default}")
    add("--port", type=int, default=8765, help="default %(default)s; 0 takes a free one")
    add("--shapes", choices=("a", "b"), default="a", help="a or b: two guesses at what the interface omits")
    readings = ("inclusive", "exclusive", "day")
    add("--date-to", choices=readings, default=readings[0], help=f"how dateTo is read {default}")
    page_help = f"the largest accepted pageSize {default}"
    add("--largest-page", type=int, default=100_000, metavar="ROWS", help=page_help)
    fault_help = "a fault, for example 429:rate=0.2,path=Leads (repeatable); see below"
    add("--fault", action="append", default=[], metavar="KIND[:NAME=VALUE,...]", help=fault_help)
    login = "a login, for all customers and paths if it names none (repeatable; default sandbox:sandbox)"
    add(
        "--login", action="append", default=[], metavar="USER:PASSWORD[:CUSTOMER,...[:/PATH,...]]", help=login
    )
    add("--latency", type=float, default=0.0, metavar="MS", help="milliseconds before every answer")
    delay_help = f"seconds until the service shows a new budget {default}"
    add("--budget-delay", type=float, default=0.0, metavar="SECONDS", help=delay_help)
    omitted_help = f"what happens to a measure that a budget omits {default}"
    add("--omitted-budgets", choices=("kept", "zeroed"), default="kept", help=omitted_help)
    add("--log", type=Path, metavar="FILE", help="append every request as a line of JSON")
    parser.formatter_class, parser.epilog = argparse.RawDescriptionHelpFormatter, _fault_tables()


def _fault_tables() -> str:
    tables = {"KIND of a fault: what the sandbox does": KINDS, "NAME: meaning of its VALUE": OPTIONS}
    return "\n\n".join(
        "\n".join((f"{head}:", *(f"  {name:<20}  {words}" for name, words in table.items())))
        for head, table in tables.items()
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C; returns 1 if it cannot listen, and 2 if the arguments are invalid."""
    from pipelines.sandbox.server import SandboxServer, loopback

    try:
        service = service_of(arguments)
        host = loopback(arguments.host)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    try:
        with SandboxServer(service, host, arguments.port) as server:
            sys.stdout.write(server.introduction)
            sys.stdout.flush()
            server.serve_forever()
    except KeyboardInterrupt:
        sys.stdout.write("\nThe sandbox has ended.\n")
    except OSError as error:
        sys.stderr.write(f"the sandbox cannot listen on {host} port {arguments.port}: {error.strerror}\n")
        return 1
    return 0


def service_of(arguments: argparse.Namespace) -> Service:
    """The service that the command line describes; raises ValueError for invalid options."""
    from pipelines.months import Month
    from pipelines.sandbox.budget_writes import BudgetWrites
    from pipelines.sandbox.calls import CallLog
    from pipelines.sandbox.faults import Fault
    from pipelines.sandbox.service import SandboxLogin, Service
    from pipelines.sandbox.world.world import World

    as_of = arguments.as_of
    world = World.build(
        seed=arguments.seed,
        offices=arguments.offices,
        start=Month.parse(arguments.start),
        as_of=as_of or _today(),
        activity=arguments.activity,
    )
    return Service(
        world,
        logins=[_login(text) for text in arguments.login] or [SandboxLogin()],
        shapes=arguments.shapes,
        date_to=arguments.date_to,
        largest_page=arguments.largest_page,
        faults=[Fault.parse(text) for text in arguments.fault],
        latency=arguments.latency / 1000,
        log=CallLog(arguments.log),
        today=None if as_of else _today,
        budgets=BudgetWrites(arguments.budget_delay, arguments.omitted_budgets),
    )


def _login(text: str) -> SandboxLogin:
    from pipelines.sandbox.service import SandboxLogin

    username, colon, rest = text.partition(":")
    password, _, rest = rest.partition(":")
    customers, _, paths = rest.partition(":")
    if not (username and colon):
        raise ValueError(f"a login is written user:password, not {text!r}")
    return SandboxLogin(
        username,
        password,
        frozenset(customers.split(",")) if customers else None,
        tuple(paths.split(",")) if paths else None,
    )


def _today() -> date:
    return datetime.now(ZoneInfo("Europe/Stockholm")).date()
