"""A PostgreSQL of the tests' own: BROKERBI_TEST_POSTGRES, or one that is made here and goes with them."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

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
def server(request: pytest.FixtureRequest) -> str:
    """The address of a PostgreSQL in which databases may be made."""
    named = os.environ.get("BROKERBI_TEST_POSTGRES", "")
    made: Cluster | None = None if named else request.getfixturevalue("cluster")
    return made.url if made else named


@pytest.fixture
def database(server: str) -> Iterator[Callable[..., SecretStr]]:
    """The address of an empty database; sessions may say which time zone they are in."""
    name = f"test_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")

    def address(timezone: str = "UTC") -> SecretStr:
        parts = urlsplit(server)
        return SecretStr(parts._replace(path=f"/{name}", query=f"options=-ctimezone%3D{timezone}").geturl())

    yield address
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
