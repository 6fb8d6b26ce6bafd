"""What the tests of more than one machine need: a PostgreSQL, and object stores of three makers.

The PostgreSQL is that of BROKERBI_TEST_POSTGRES, or one that is made here and goes with the tests. The object
stores are a directory and two servers, started once; each test has its own bucket.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest
from pydantic import SecretStr

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


class Cluster:
    """A PostgreSQL in a directory of its own, which can be stopped as a machine that loses power."""

    def __init__(self, folder: Path, host: str = "127.0.0.1") -> None:
        self._folder, self._host = folder, host
        with socket.socket() as free:
            free.bind((host, 0))
            self.port = free.getsockname()[1]
        self.url = f"postgresql://postgres@{host}:{self.port}/postgres"
        self._run("initdb", "--username=postgres", "--auth=trust", "--no-instructions", "--no-sync")

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses={self._host} -k {self._folder.parent}"
        self._run("pg_ctl", "-w", "-l", str(self._folder.parent / "log"), "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-w", "-m", mode, "stop")

    def _run(self, name: str, *words: str) -> None:
        as_postgres = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        command = [*as_postgres, str(BINARIES[-1] / name), "-D", str(self._folder), *words]
        subprocess.run(command, check=True, capture_output=True, cwd="/")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL that is made for this run, by a user that is not root: it refuses to run as that."""
    if not BINARIES:
        pytest.skip("no PostgreSQL is installed below /usr/lib/postgresql; BROKERBI_TEST_POSTGRES names one")
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        made = Cluster(Path(folder) / "data")
        made.start()
        yield made
        made.stop()


@pytest.fixture(scope="session")
def postgresql(request: pytest.FixtureRequest) -> str:
    """The address of a PostgreSQL in which databases may be made."""
    named = os.environ.get("BROKERBI_TEST_POSTGRES", "")
    made: Cluster | None = None if named else request.getfixturevalue("cluster")
    return made.url if made else named


@pytest.fixture
def database(postgresql: str) -> Iterator[Callable[..., SecretStr]]:
    """The address of an empty database; sessions may say which time zone they are in."""
    name = f"test_{secrets.token_hex(4)}"
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")

    def address(timezone: str = "UTC") -> SecretStr:
        parts = urlsplit(postgresql)
        return SecretStr(parts._replace(path=f"/{name}", query=f"options=-ctimezone%3D{timezone}").geturl())

    yield address
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


ROOT = Path(__file__).resolve().parents[2]
SERVERS = ROOT / ".venv-servers" / "bin"
START_SECONDS = 60.0
ONE_BY_ONE = """
import sys
import moto.server
run = moto.server.run_simple
moto.server.run_simple = lambda *given, **named: run(*given, **{**named, "threaded": False})
moto.server.main(sys.argv[1:])
"""
"""Moto looks whether there is an object, and then puts one: with threads it would take two of one name."""
_NUMBERS = count()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def server(name: str, port: int, *behind: str) -> Iterator[str]:
    """An object store that speaks S3, until the body ends; its address. The liar is before another one."""
    arguments = {
        "moto": [str(SERVERS / "python"), "-c", ONE_BY_ONE, "-H", "127.0.0.1", "-p", str(port)],
        "ministack": [str(SERVERS / "ministack")],
        "liar": [sys.executable, "-m", "tests.scale.liar", str(port), *behind],
    }[name]
    environment = {
        "PATH": os.environ["PATH"],
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "HOME": mkdtemp(),
        "PYTHONPATH": str(ROOT) if name == "liar" else "",
    }
    with subprocess.Popen(
        arguments, env=environment, cwd=mkdtemp(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        address, until = f"http://127.0.0.1:{port}", time.monotonic() + START_SECONDS
        try:
            while True:
                try:
                    httpx.put(f"{address}/probe-{next(_NUMBERS)}")
                    break
                except httpx.TransportError:
                    assert process.poll() is None, f"{name} ended"
                    assert time.monotonic() < until, f"{name} does not answer"
                    time.sleep(0.2)
            yield address
        finally:
            process.kill()


def environment_of(address: str) -> dict[str, str]:
    """What lets the libraries reach a server of this machine."""
    return {
        "AWS_ENDPOINT_URL": address, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
    }  # fmt: skip


@pytest.fixture(scope="session")
def addresses() -> Iterator[dict[str, str]]:
    with server("moto", free_port()) as moto, server("ministack", free_port()) as ministack:
        yield {"moto": moto, "ministack": ministack}


@pytest.fixture(params=["directory", "moto", "ministack"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty place in a directory or a bucket."""
    if request.param == "directory":
        return str(tmp_path / "place")
    address = request.getfixturevalue("addresses")[request.param]
    for name, value in environment_of(address).items():
        monkeypatch.setenv(name, value)
    bucket = f"bucket-{next(_NUMBERS)}"
    httpx.put(f"{address}/{bucket}")
    return f"s3://{bucket}/place"
