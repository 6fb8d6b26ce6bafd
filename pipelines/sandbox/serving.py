"""How is the sandbox started? From the command line, or around a piece of code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.sandbox.access import Login
    from pipelines.sandbox.faults import Fault
    from pipelines.sandbox.handle import Handle
    from pipelines.sandbox.service import Service
    from pipelines.sandbox.world.world import World

Argument = tuple[tuple[str, ...], dict[str, Any]]

DEFAULT_PORT = 8765
WORLD_ARGUMENTS: tuple[Argument, ...] = (
    (("--seed",), {"type": int, "default": 1, "help": "another seed is another world (default %(default)s)"}),
    (("--offices",), {"type": int, "default": 7, "help": "how many offices (default %(default)s)"}),
    (
        ("--from",),
        {
            "dest": "start",
            "default": "2023-01",
            "metavar": "YYYY-MM",
            "help": "where the history starts (default %(default)s)",
        },
    ),
    (
        ("--as-of",),
        {
            "type": date.fromisoformat,
            "metavar": "DATE",
            "help": "the world as it stood then (default: today, and moving on with the calendar)",
        },
    ),
    (
        ("--activity",),
        {"type": float, "default": 1.0, "help": "how busy the brokers are (default %(default)s)"},
    ),
)
SERVICE_ARGUMENTS: tuple[Argument, ...] = (
    (("--host",), {"default": "127.0.0.1", "help": "a loopback address (default %(default)s)"}),
    (("--port",), {"type": int, "default": DEFAULT_PORT, "help": "default %(default)s; 0 takes a free one"}),
    (("--shapes",), {"choices": ("a", "b"), "default": "a", "help": "shapes of what is not documented"}),
    (
        ("--date-to",),
        {
            "choices": ("inclusive", "exclusive", "day"),
            "default": "inclusive",
            "help": "how dateTo is read (default %(default)s)",
        },
    ),
    (
        ("--fault",),
        {
            "action": "append",
            "default": [],
            "metavar": "KIND[:NAME=VALUE,...]",
            "help": "something that goes wrong, for example 429:rate=0.2,path=Leads (repeatable)",
        },
    ),
    (
        ("--login",),
        {
            "action": "append",
            "default": [],
            "metavar": "USER:PASSWORD[:CUSTOMER,...]",
            "help": "a login, for some customers only if named (repeatable; default sandbox:sandbox)",
        },
    ),
    (
        ("--latency",),
        {"type": float, "default": 0.0, "metavar": "MS", "help": "milliseconds before every answer"},
    ),
    (("--log",), {"type": Path, "metavar": "FILE", "help": "append every request as a line of JSON"}),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `brokerbi sandbox` can be told."""
    for names, settings in (*WORLD_ARGUMENTS, *SERVICE_ARGUMENTS):
        parser.add_argument(*names, **settings)


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C; 2 if something asked for makes no sense."""
    from pipelines.sandbox.server import loopback

    try:
        service = service_of(arguments)
        host = loopback(arguments.host)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    try:
        with serving(service, host=host, port=arguments.port) as handle:
            sys.stdout.write(handle.introduction)
            sys.stdout.flush()
            handle.wait()
    except KeyboardInterrupt:
        sys.stdout.write("\nThe sandbox has ended.\n")
    except OSError as error:
        sys.stderr.write(f"the sandbox cannot listen on {host} port {arguments.port}: {error.strerror}\n")
        return 1
    return 0


def service_of(arguments: argparse.Namespace) -> Service:
    """The service the command line asks for; refuses what makes no sense with a sentence."""
    from pipelines.months import Month
    from pipelines.sandbox.faults import Fault
    from pipelines.sandbox.requestlog import RequestLog
    from pipelines.sandbox.service import Service
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
        logins=[_login(text) for text in arguments.login] or (_login("sandbox:sandbox"),),
        shapes=arguments.shapes,
        date_to=arguments.date_to,
        faults=[Fault.parse(text) for text in arguments.fault],
        latency=arguments.latency / 1000,
        log=RequestLog(arguments.log),
        today=None if as_of else _today,
    )


@contextmanager
def running(
    world: World,
    *,
    faults: Sequence[Fault] = (),
    shapes: Literal["a", "b"] = "a",
    logins: Sequence[Login] = (),
    latency: float = 0.0,
    date_to: Literal["inclusive", "exclusive", "day"] = "inclusive",
    host: str = "127.0.0.1",
    port: int = 0,
) -> Iterator[Handle]:
    """A world served on a real socket, in a thread of its own, for as long as the block lasts."""
    from pipelines.sandbox.service import Service

    logins = logins or (_login("sandbox:sandbox"),)
    service = Service(world, faults=faults, shapes=shapes, logins=logins, latency=latency, date_to=date_to)
    with serving(service, host=host, port=port) as handle:
        yield handle


@contextmanager
def serving(service: Service, *, host: str, port: int) -> Iterator[Handle]:
    """Any service on a real socket."""
    from pipelines.sandbox.handle import Handle

    handle = Handle(service)
    handle.start(host, port)
    try:
        yield handle
    finally:
        handle.stop()


def _login(text: str) -> Login:
    from pipelines.sandbox.access import Login

    username, colon, rest = text.partition(":")
    password, _, customers = rest.partition(":")
    if not (username and colon):
        raise ValueError(f"a login is written user:password, not {text!r}")
    return Login(username, password, frozenset(customers.split(",")) if customers else None)


def _today() -> date:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    return datetime.now(ZoneInfo("Europe/Stockholm")).date()
