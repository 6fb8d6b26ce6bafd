"""Starting the sandbox from the command line, looking at it and switching it."""

from __future__ import annotations

import argparse
import json
import signal
import socket
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from pipelines.sandbox.calls import Call, CallLog
from pipelines.sandbox.options import add_arguments, run, service_of
from pipelines.sandbox.server import serving
from pipelines.sandbox.service import SandboxLogin, Service
from tests.unit.sandbox.asking import BI, Json, reply, world


def _arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(words)


def _control(service: Service, method: str, path: str, body: object = None) -> tuple[int, Json]:
    text = b"" if body is None else json.dumps(body).encode()
    with service.answering(Call(method, f"/_sandbox/{path}", {}, text)) as answered:
        return answered.status, json.loads(answered.body)


def test_the_command_line_makes_the_service_it_asks_for() -> None:
    words = (
        "--seed 9 --offices 3 --from 2025-02 --as-of 2025-03-31 --shapes b --fault 500:rate=0.5 "
        "--login me:secret:M30011,M30012 --login me:own::/CRM/,/Area/ --latency 20 --budget-delay 5 "
        "--omitted-budgets zeroed"
    )
    service = service_of(_arguments(*words.split()))
    assert (service.world.history.seed, service.world.as_of) == (9, date(2025, 3, 31))
    assert (service.shapes, service.latency) == ("b", 0.02)
    assert (service.budgets.visible_after, service.budgets.omitted) == (5, "zeroed")
    assert service.logins == (
        SandboxLogin("me", "secret", frozenset({"M30011", "M30012"})),
        SandboxLogin("me", "own", paths=("/CRM/", "/Area/")),
    )


@pytest.mark.parametrize(
    "word",
    [
        "--host=0.0.0.0",
        "--offices=0",
        "--from=1999-01",
        "--as-of=2020-01-01",
        "--fault=earthquake",
        "--login=me",
        "--log=/nowhere/at/all.jsonl",
    ],
)
def test_what_makes_no_sense_is_said_in_one_sentence(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(_arguments(word)) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)


def test_a_port_in_use_is_said_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Service(world())) as server:
        port = server.base_url.rpartition(":")[2]
        assert run(_arguments("--port", port)) == 1
    assert capsys.readouterr().err.startswith(f"the sandbox cannot listen on 127.0.0.1 port {port}: ")


def test_it_says_what_a_person_needs_and_ends_cleanly_with_ctrl_c() -> None:
    code = (
        # What a script starts in the background ignores Ctrl-C, the tests included.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "import argparse, pipelines.sandbox.options as s; p = argparse.ArgumentParser(); s.add_arguments(p)"
    )
    words = ["--port", "0", "--offices", "1", "--from", "2025-01", "--as-of", "2025-01-31"]
    command = [sys.executable, "-c", f"{code}; raise SystemExit(s.run(p.parse_args({words})))"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        said = [started.stdout.readline() for _ in range(5)]
        started.send_signal(signal.SIGINT)
        rest, complaints = started.communicate(timeout=60)
    assert said[0].startswith("Sandbox: http://127.0.0.1")
    assert said[1:3] == ["Login: sandbox / sandbox\n", "Customers: G1\n"]
    assert (started.returncode, rest, complaints) == (0, "\nThe sandbox has ended.\n", "")


def test_faults_and_the_day_can_be_switched_by_post() -> None:
    service = Service(world())
    _control(service, "POST", "faults", [{"kind": "500", "count": 1}])
    _control(service, "POST", "as-of", {"asOf": "2025-06-30"})
    statuses = [reply(service, f"{BI}/External/Users", customerId="G1").status for _ in range(2)]
    assert (statuses, service.world.as_of) == ([500, 200], date(2025, 6, 30))


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "faults", {"kind": "earthquake"}, 400),
        ("POST", "faults", [7], 400),
        ("POST", "as-of", {"asOf": "2020-01-01"}, 400),
        ("POST", "as-of", {}, 400),
        ("GET", "nothing", None, 404),
    ],
)
def test_a_control_request_that_makes_no_sense_is_refused(
    method: str, path: str, body: object, status: int
) -> None:
    assert _control(Service(world()), method, path, body)[0] == status


def test_requests_are_logged_until_they_are_cleared(tmp_path: Path) -> None:
    service = Service(world(), log=CallLog(tmp_path / "log.jsonl"))
    call = Call("GET", f"{BI}/External/Users?customerId=G1", {})
    with service.answering(call), service.answering(call):
        pass
    [entry, _] = service.log.entries
    assert (entry.method, entry.path, entry.query) == ("GET", f"{BI}/External/Users", {"customerid": "G1"})
    _, told = _control(service, "GET", "requests")
    before = [(one["customer"], one["in_flight"], one["status"]) for one in told["requests"]]
    _control(service, "POST", "requests/clear")
    assert (before, service.log.entries) == ([("G1", 1, 401), ("G1", 2, 401)], [])
    assert len((tmp_path / "log.jsonl").read_text("utf-8").splitlines()) == 2


def test_a_request_that_breaks_off_reaches_nobody() -> None:
    service = Service(world())
    head = f"POST {BI}/Budget/M30016/FIR30016/HAN/2026/5 HTTP/1.1\r\nContent-Length: 9\r\n\r\n"
    with (
        serving(service) as server,
        socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=10) as connection,
    ):
        connection.sendall(f"{head}{{}}".encode())
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100) == b""
    assert service.log.entries == []
