"""Starting the sandbox from the command line, looking at it and switching it."""

from __future__ import annotations

import argparse
import json
from datetime import date
from pathlib import Path

from pipelines.sandbox.calls import Call, CallLog
from pipelines.sandbox.options import add_arguments, service_of
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


def test_the_command_line_sets_up_the_service() -> None:
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


def test_faults_and_the_day_can_be_switched_by_post() -> None:
    service = Service(world())
    _control(service, "POST", "faults", [{"kind": "500", "count": 1}])
    _control(service, "POST", "as-of", {"asOf": "2025-06-30"})
    statuses = [reply(service, f"{BI}/External/Users", customerId="G1").status for _ in range(2)]
    assert (statuses, service.world.as_of) == ([500, 200], date(2025, 6, 30))


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
