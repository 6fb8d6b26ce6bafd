"""Control addresses under /_sandbox, without a login: the world, its day, the requests, the faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING

from pipelines.sandbox.calls import Call, Refusal, Reply, json_reply
from pipelines.sandbox.faults import read_faults

if TYPE_CHECKING:
    from pipelines.sandbox.service import Service


def concerns(call: Call) -> bool:
    """Whether a call is meant for the sandbox itself and not for the service it imitates."""
    return call.segments[0] == "_sandbox"


def respond(service: Service, call: Call) -> Reply:
    """The reply of a control address; what is not right is refused with 400."""
    handler = _HANDLERS.get((call.method, "/".join(call.segments[1:])))
    if handler is None:
        raise Refusal(404, f"There is no control endpoint {call.method} {call.path}.")
    try:
        return json_reply(200, handler(service, call))
    except ValueError as error:
        raise Refusal(400, str(error)) from error


def _world(service: Service, _: Call) -> object:
    world = service.world
    chain = world.history.chain
    return {
        "seed": world.history.seed,
        "from": str(world.history.start),
        "asOf": world.as_of.isoformat(),
        "shapes": service.shapes,
        "customers": list(world.customers),
        "groups": {group.customer_id: list(group.offices) for group in chain.groups.values()},
        "offices": [
            {"customerId": one.customer_id, "officeId": one.own_id, "name": one.name}
            for one in chain.offices.values()
        ],
    }


def _requests(service: Service, _: Call) -> object:
    requests = [asdict(entry) for entry in service.log.entries]
    return {"mostInFlight": service.log.most_in_flight, "requests": requests}


def _clear(service: Service, _: Call) -> object:
    service.log.clear()
    return {"requests": 0}


def _faults(service: Service, _: Call) -> object:
    return {"faults": service.faults.described()}


def _switch_faults(service: Service, call: Call) -> object:
    service.faults.switch(read_faults(json.loads(call.body or b"null")))
    return _faults(service, call)


def _as_of(service: Service, call: Call) -> object:
    body = json.loads(call.body or b"null")
    if not isinstance(body, dict) or "asOf" not in body:
        raise ValueError('the body is {"asOf": "YYYY-MM-DD"}')
    service.set_as_of(date.fromisoformat(str(body["asOf"])))
    return _world(service, call)


_HANDLERS: dict[tuple[str, str], Callable[[Service, Call], object]] = {
    ("GET", "world"): _world,
    ("GET", "requests"): _requests,
    ("POST", "requests/clear"): _clear,
    ("GET", "faults"): _faults,
    ("POST", "faults"): _switch_faults,
    ("POST", "as-of"): _as_of,
}
