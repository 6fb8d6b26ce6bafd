"""Can the sandbox be started, looked at and switched, by whom and from where?"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from pipelines.sandbox.calls import Call
from pipelines.sandbox.faults import Fault
from pipelines.sandbox.requestlog import RequestLog
from pipelines.sandbox.server import loopback
from pipelines.sandbox.service import Service
from pipelines.sandbox.serving import add_arguments, run, running, service_of
from tests.unit.sandbox.asking import BI, Json, own_world, reply, world


def _arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(words)


def _control(service: Service, method: str, path: str, body: object = None) -> tuple[int, Json]:
    text = b"" if body is None else json.dumps(body).encode()
    answered = service.respond(Call(method, f"/_sandbox/{path}", {}, text))
    return answered.status, json.loads(answered.body)


def test_the_command_line_makes_the_service_it_asks_for() -> None:
    arguments = _arguments(
        *("--seed", "9", "--offices", "3", "--from", "2025-02", "--as-of", "2025-03-31", "--shapes", "b"),
        *("--fault", "500:rate=0.5", "--login", "me:secret:M30011,M30012", "--latency", "20"),
    )
    service = service_of(arguments)
    [login] = service.logins
    assert (service.world.history.seed, service.world.as_of, service.shapes, service.latency) == (
        9,
        date(2025, 3, 31),
        "b",
        0.02,
    )
    assert (login.username, login.customers) == ("me", frozenset({"M30011", "M30012"}))


@pytest.mark.parametrize(
    "words",
    [
        ("--host", "0.0.0.0"),
        ("--host", "10.0.0.5"),
        ("--host", "example.com"),
        ("--offices", "0"),
        ("--from", "last year"),
        ("--from", "1999-01"),
        ("--as-of", "2020-01-01"),
        ("--fault", "earthquake"),
        ("--login", "me"),
        ("--log", "/nowhere/at/all.jsonl"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_sentence(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(_arguments(*words)) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)


def test_a_port_in_use_is_said_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with running(own_world()) as handle:
        port = handle.base_url.rpartition(":")[2]
        assert run(_arguments("--port", port)) == 1
    assert capsys.readouterr().err.startswith(f"the sandbox cannot listen on 127.0.0.1 port {port}: ")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_loopback_addresses_are_allowed(host: str) -> None:
    assert loopback(host) in ("127.0.0.1", "127.0.0.2", "::1")


def test_it_says_what_a_person_needs_and_ends_cleanly_with_ctrl_c() -> None:
    code = (
        "import argparse, pipelines.sandbox.serving as s; p = argparse.ArgumentParser(); s.add_arguments(p)"
    )
    words = ["--port", "0", "--offices", "1", "--from", "2025-01", "--as-of", "2025-01-31"]
    command = [sys.executable, "-c", f"{code}; raise SystemExit(s.run(p.parse_args({words})))"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        said = [started.stdout.readline() for _ in range(5)]
        started.send_signal(signal.SIGINT)
        rest, complaints = started.communicate()
    assert (said[0][:25], said[1:3]) == (
        "Sandbox: http://127.0.0.1",
        ["Login: sandbox / sandbox\n", "Customers: G1\n"],
    )
    assert (started.returncode, rest, complaints) == (0, "\nThe sandbox has ended.\n", "")


def test_a_handle_switches_faults_and_days_and_knows_the_truth() -> None:
    with running(own_world()) as handle:
        handle.faults(Fault("500"))
        handle.set_as_of(date(2025, 6, 30))
        told = handle.truth("G1", date(2025, 1, 1), date(2025, 1, 31))
        assert (told["asOf"], handle.customers, (handle.username, handle.password)) == (
            date(2025, 6, 30),
            ("G1", "M30016", "M30017"),
            ("sandbox", "sandbox"),
        )


def test_two_sandboxes_run_side_by_side() -> None:
    with running(own_world()) as one, running(own_world()) as other:
        assert one.base_url != other.base_url


def test_naming_the_arguments_builds_nothing() -> None:
    code = "import sys, pipelines.sandbox.serving; print(*sorted(m for m in sys.modules if 'sandbox' in m))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["pipelines.sandbox", "pipelines.sandbox.serving"]


def test_the_world_describes_itself() -> None:
    status, told = _control(Service(world()), "GET", "world")
    assert (status, told["customers"], told["groups"]["G1"][0], told["offices"][0]["officeId"]) == (
        200,
        ["G1", "M30016", "M30017"],
        "M30011",
        "FIR30011",
    )


def test_faults_shapes_rights_and_the_day_can_be_switched_by_post() -> None:
    service = Service(own_world())
    _control(service, "POST", "faults", [{"kind": "500", "count": 1}])
    _control(service, "POST", "shapes", {"shapes": "b"})
    _control(service, "POST", "access", {"denied": [{"customer": "M30016"}]})
    _control(service, "POST", "as-of", {"asOf": "2025-06-30"})
    statuses = [
        reply(service, f"{BI}/External/Users", customerId=one).status for one in ("G1", "G1", "M30016")
    ]
    assert (statuses, service.shapes, service.world.as_of) == ([500, 200, 403], "b", date(2025, 6, 30))


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "faults", {"kind": "earthquake"}, 400),
        ("POST", "faults", [7], 400),
        ("POST", "as-of", {"asOf": "2020-01-01"}, 400),
        ("POST", "as-of", {}, 400),
        ("POST", "shapes", {"shapes": "c"}, 400),
        ("POST", "access", {}, 400),
        ("GET", "truth?customerId=M1&from=2025-01-01&to=2025-01-31", None, 400),
        ("GET", "truth", None, 400),
        ("GET", "nothing", None, 404),
    ],
)
def test_a_control_request_that_makes_no_sense_is_refused(
    method: str, path: str, body: object, status: int
) -> None:
    assert _control(Service(own_world()), method, path, body)[0] == status


def test_requests_are_kept_until_they_are_cleared(tmp_path: Path) -> None:
    service = Service(own_world(), log=RequestLog(tmp_path / "log.jsonl", monotonic=iter(range(9)).__next__))
    call = Call("GET", f"{BI}/External/Users?customerId=G1", {})
    with service.log.entry(call, "G1") as first, service.log.entry(call, "G1"):
        service.respond(call, first)
    before = service.log.described()
    _control(service, "POST", "requests/clear")
    assert ([row["in_flight"] for row in before], before[0]["status"], service.log.described()) == (
        [1, 2],
        401,
        [],
    )
    assert len((tmp_path / "log.jsonl").read_text("utf-8").splitlines()) == 2
