"""Sales as a stored answer last had them, for those that the sales list has no more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from pipelines.operations.recount import every_object
from warehouse.errors import LandingDamaged
from warehouse.load.landing import Landing

Row = Mapping[str, Any]


def sales_as_last_held(
    landing: Landing, changes: Sequence[Row], *, office: str = "", user: str = ""
) -> list[Row]:
    """The changes of sales, each with the share that the office or user has, or had, in the sale.

    Of a sale that is listed no more address, agents and share come from the answer before (`landing`,
    `sha256`); without that the whole sale counts at the office that listed it. Sales of others are left out.
    """
    known = _stored_sales(landing, [one for one in changes if one["estate_id"] and one["share"] is None])
    found: list[Row] = []
    for one in changes:
        sale = known.get((one["landing"], one["estate_id"]))
        if not one["estate_id"] or one["share"] is not None:
            found.append(one)
        elif sale is not None and (share := _share(sale, office, user)):
            found.append(
                {
                    **one,
                    "street_address": _object(sale, "address").get("streetAddress"),
                    "agents": ", ".join(str(agent.get("name") or agent.get("id")) for agent in _agents(sale)),
                    "share": share,
                }
            )
        elif sale is None and one["is_listed_here"]:
            found.append({**one, "agents": "whole, its agents are not kept", "share": Decimal(1)})
    return found


def _stored_sales(landing: Landing, changes: Sequence[Row]) -> dict[tuple[str, str], Row]:
    """These sales in the answers that had them, by landing file and id; nothing of a file that is gone."""
    wanted: dict[str, str | None] = {one["landing"]: one["sha256"] for one in changes if one["landing"]}
    ids = {one["estate_id"] for one in changes}
    found: dict[tuple[str, str], Row] = {}
    for path, sha256 in wanted.items():
        try:
            for _, body in landing.read_used(path, sha256):
                answer = json.loads(body, parse_float=Decimal, parse_int=Decimal)
                found.update(
                    {
                        (path, one["id"]): one
                        for one in every_object(answer)
                        if "agents" in one and isinstance(one.get("id"), str) and one["id"] in ids
                    }
                )
        except (LandingDamaged, ValueError):  # gone, or no JSON
            continue
    return found


def _share(sale: Row, office: str, user: str) -> Decimal:
    """The part of a sale's commission that the office's agents or the user had."""
    agents = list(_agents(sale))
    ours = [
        one
        for one in agents
        if (office and _object(one, "primaryOffice").get("customerId") == office)
        or (user and one.get("id") == user)
    ]
    whole = _sum(agents, "value")
    if whole:
        return _sum(ours, "value") / whole
    return _sum(ours, "percentageOfTotal") / 100


def _agents(sale: Row) -> Iterator[Row]:
    agents = sale.get("agents")
    return (one for one in (agents if isinstance(agents, list) else ()) if isinstance(one, Mapping))


def _sum(agents: Sequence[Row], key: str) -> Decimal:
    amounts = [_object(one, "commission").get(key) for one in agents]
    return sum((one for one in amounts if isinstance(one, Decimal)), Decimal(0))


def _object(row: Row, key: str) -> Row:
    value = row.get(key)
    return value if isinstance(value, Mapping) else {}
