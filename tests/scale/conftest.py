"""Object stores of three makers: a directory and two servers, started once, each test with its own bucket."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

import httpx
import pytest

SERVERS = Path(__file__).resolve().parents[2] / ".venv-servers" / "bin"
START_SECONDS = 60.0
_NUMBERS = count()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def server(name: str, port: int) -> Iterator[str]:
    """An object store that speaks S3, until the body ends; its address."""
    arguments = {"moto": ["moto_server", "-H", "127.0.0.1", "-p", str(port)], "ministack": ["ministack"]}[
        name
    ]
    environment = {
        "PATH": os.environ["PATH"],
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "HOME": mkdtemp(),
    }
    with subprocess.Popen(
        [SERVERS / arguments[0], *arguments[1:]],
        env=environment, cwd=mkdtemp(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
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
