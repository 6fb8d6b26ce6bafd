"""Addresses under /_sandbox that show and change the sandbox itself; they need no login."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import date
from typing import Any, Protocol

from pipelines.months import Month
from pipelines.sandbox.budget_writes import BODY_PATHS, BudgetWrites
from pipelines.sandbox.calls import Call, CallLog, HttpError, Reply, json_reply
from pipelines.sandbox.faults import Fault, Faults
from pipelines.sandbox.world.records import Budget
from pipelines.sandbox.world.world import World


class ControlledService(Protocol):
    """The members of a service that these addresses use."""

    @property
    def shapes(self) -> str: ...

    faults: Faults
    log: CallLog

    @property
    def world(self) -> World: ...

    def set_as_of(self, as_of: date) -> None: ...

    budgets: BudgetWrites

    def budget(self, office_id: str, user_id: str, month: Month) -> Budget: ...


def is_control_call(call: Call) -> bool:
    """Whether a call is for the sandbox itself, not for the service it simulates."""
    return call.segments[0] == "_sandbox"


def respond(service: ControlledService, call: Call) -> Reply:
    """The reply of a control address; a ValueError becomes an HttpError with status 400."""
    try:
        return json_reply(200, _answer(service, call))
    except ValueError as error:
        raise HttpError(400, str(error)) from error


def _answer(service: ControlledService, call: Call) -> object:
    match call.method, "/".join(call.segments[1:]):
        case "GET", "world":
            return _world(service)
        case "GET", "requests":
            requests = [asdict(entry) for entry in service.log.entries]
            return {"mostInFlight": service.log.most_in_flight, "requests": requests}
        case "POST", "requests/clear":
            service.log.clear()
            return {"requests": 0}
        case "GET", "faults":
            return {"faults": service.faults.summary()}
        case "POST", "faults":
            service.faults.switch(_faults(json.loads(call.body)))
            return {"faults": service.faults.summary()}
        case "POST", "budgets":
            service.budgets.set(_changed_budget(service, json.loads(call.body)), at_once=True)
            return {"budgets": len(service.budgets.written)}
        case "POST", "as-of":
            body = json.loads(call.body)
            if not isinstance(body, dict) or "asOf" not in body:
                raise ValueError('the body must be {"asOf": "YYYY-MM-DD"}')
            service.set_as_of(date.fromisoformat(str(body["asOf"])))
            return _world(service)
    raise HttpError(404, f"There is no control endpoint {call.method} {call.path}.")


def _world(service: ControlledService) -> object:
    world = service.world
    chain = world.history.chain
    return {
        "seed": world.history.seed,
        "from": str(world.history.start),
        "asOf": world.as_of.isoformat(),
        "shapes": service.shapes,
        "customers": list(world.customers),
        "groups": {group: list(offices) for group, offices in chain.groups.items()},
        "offices": [
            {"customerId": office.customer_id, "officeId": office.own_id, "name": office.name}
            for office in chain.offices.values()
        ],
    }


def _changed_budget(service: ControlledService, body: object) -> Budget:
    if not isinstance(body, dict) or not {"customerId", "userId", "month"} <= set(body):
        raise ValueError(
            'the body must be {"customerId": ..., "userId": ..., "month": "YYYY-MM", "commission": 1}'
        )
    shown = service.budget(body["customerId"], body["userId"], Month.parse(body["month"]))
    changed: dict[str, Any] = {name: int(body[name]) for name in BODY_PATHS if name in body}
    return replace(shown, **changed)


def _faults(body: object) -> list[Fault]:
    if not isinstance(body, list) or not all(isinstance(fault, dict) for fault in body):
        raise ValueError('the body must be a list of faults: [{"kind": "429", "rate": 0.2}]')
    return [Fault.from_options(fault) for fault in body]
