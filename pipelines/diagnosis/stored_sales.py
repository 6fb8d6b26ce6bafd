"""Sales as a stored answer last had them, for those that the sales list has no more."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pipelines.diagnosis.recount import every_object
from warehouse.errors import WarehouseError
from warehouse.load.landing import Landing

Row = Mapping[str, Any]


@dataclass(frozen=True)
class StoredSale:
    """What a stored answer says of a sale: its home, and what each agent earned."""

    street_address: str | None
    commissions: Mapping[str, Decimal | None]  # by the agents' ids


def stored_sales(
    landing: Landing, wanted: Iterable[tuple[str, str | None, str]]
) -> dict[tuple[str, str], StoredSale]:
    """Sales in the answers that had them, by landing file and id; nothing of a file that is gone.

    They are asked for by landing file, its sha256 and id.
    """
    files: dict[tuple[str, str | None], set[str]] = {}
    for path, sha256, estate_id in wanted:
        files.setdefault((path, sha256), set()).add(estate_id)
    found: dict[tuple[str, str], StoredSale] = {}
    for (path, sha256), ids in files.items():
        try:
            for _, body in landing.read_used(path, sha256):
                for one in every_object(json.loads(body, parse_float=Decimal, parse_int=Decimal)):
                    if "agents" in one and isinstance(one.get("id"), str) and one["id"] in ids:
                        found[path, one["id"]] = StoredSale(
                            _text(_object(one, "address"), "streetAddress"),
                            {str(agent.get("id")): _commission(agent) for agent in _agents(one)},
                        )
        except (WarehouseError, ValueError):  # gone, or no JSON
            continue
    return found


def _agents(sale: Row) -> Iterator[Row]:
    agents = sale.get("agents")
    return (one for one in (agents if isinstance(agents, list) else ()) if isinstance(one, Mapping))


def _commission(agent: Row) -> Decimal | None:
    value = _object(agent, "commission").get("value")
    return value if isinstance(value, Decimal) else None


def _text(row: Row, key: str) -> str | None:
    value = row.get(key)
    return value if isinstance(value, str) and value else None


def _object(row: Row, key: str) -> Row:
    value = row.get(key)
    return value if isinstance(value, Mapping) else {}
