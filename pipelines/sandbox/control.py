"""How is the sandbox looked at and switched while it runs? Endpoints under /_sandbox, without a login."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING

from pipelines.sandbox.access import Denial
from pipelines.sandbox.calls import Call, Refusal, Reply, json_reply
from pipelines.sandbox.faults import read_faults
from pipelines.sandbox.truth import truth, written

if TYPE_CHECKING:
    from pipelines.sandbox.service import Service


def concerns(call: Call) -> bool:
    """Whether a call is meant for the sandbox and not for the service it plays."""
    return call.segments[0] == "_sandbox"


def respond(service: Service, call: Call) -> Reply:
    """The reply of a control endpoint; what is not right is refused with 400."""
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


def _truth(service: Service, call: Call) -> object:
    query = call.query
    first, last = date.fromisoformat(query.get("from", "")), date.fromisoformat(query.get("to", ""))
    return written(truth(service.world, query.get("customerid", ""), first, last))


def _requests(service: Service, _: Call) -> object:
    return {"mostInFlight": service.log.most_in_flight, "requests": service.log.described()}


def _clear(service: Service, _: Call) -> object:
    service.log.clear()
    return {"requests": 0}


def _faults(service: Service, _: Call) -> object:
    return {"faults": service.faults.described()}


def _switch_faults(service: Service, call: Call) -> object:
    service.faults.switch(read_faults(_body(call)))
    return _faults(service, call)


def _as_of(service: Service, call: Call) -> object:
    body = _body(call)
    if not isinstance(body, dict) or "asOf" not in body:
        raise ValueError('the body is {"asOf": "YYYY-MM-DD"}')
    service.follow(None)
    service.set_as_of(date.fromisoformat(str(body["asOf"])))
    return _world(service, call)


def _shapes(service: Service, call: Call) -> object:
    body = _body(call)
    if not isinstance(body, dict) or body.get("shapes") not in ("a", "b"):
        raise ValueError('the body is {"shapes": "a"} or {"shapes": "b"}')
    service.switch_shapes("b" if body["shapes"] == "b" else "a")
    return {"shapes": service.shapes}


def _access(service: Service, call: Call) -> object:
    body = _body(call)
    entries = body.get("denied") if isinstance(body, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError('the body is {"denied": [{"path": "...", "customer": "..."}]}; both may be left out')
    service.deny([Denial(entry.get("path"), entry.get("customer")) for entry in entries])
    return {"denied": entries}


def _body(call: Call) -> object:
    return json.loads(call.body or b"null")


_HANDLERS: dict[tuple[str, str], Callable[[Service, Call], object]] = {
    ("GET", "world"): _world,
    ("GET", "truth"): _truth,
    ("GET", "requests"): _requests,
    ("POST", "requests/clear"): _clear,
    ("GET", "faults"): _faults,
    ("POST", "faults"): _switch_faults,
    ("POST", "as-of"): _as_of,
    ("POST", "shapes"): _shapes,
    ("POST", "access"): _access,
}
