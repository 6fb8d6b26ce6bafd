"""Sales as a stored answer last had them, for those that the sales list has no more."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pipelines.diagnosis.recount import every_object
from warehouse.errors import LandingDamaged
from warehouse.load.landing import Landing

Row = Mapping[str, Any]


@dataclass(frozen=True)
class StoredSale:
    """What a stored answer says of a sale: its home, the responsible agent, and what each agent earned."""

    street_address: str | None
    responsible_agent: str | None
    commissions: Mapping[str, Decimal | None]  # by the agents' ids


def news_with_homes(landing: Landing, news: Sequence[Row], most: int) -> tuple[Row, ...]:
    """The rows of news, with home and responsible agent of sales that are listed no more.

    They come from the answer before, for at most so many sales of an office and kind; without that the rows
    stay as they are.
    """
    counts: Counter[tuple[str, str]] = Counter()
    wanted: list[Row] = []
    for one in news:
        if one["landing"] and not one["home"] and counts[one["office_id"], one["kind"]] < most:
            counts[one["office_id"], one["kind"]] += 1
            wanted.append(one)
    known = stored_sales(landing, [(one["landing"], one["sha256"], one["estate_id"]) for one in wanted])
    return tuple(
        {**one, "home": sale.street_address, "agent": sale.responsible_agent}
        if (sale := known.get((one["landing"], one["estate_id"])))
        else one
        for one in news
    )


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
                            _responsible_agent(one),
                            {str(agent.get("id")): _commission(agent) for agent in _agents(one)},
                        )
        except (LandingDamaged, ValueError):  # gone, or no JSON
            continue
    return found


def _agents(sale: Row) -> Iterator[Row]:
    agents = sale.get("agents")
    return (one for one in (agents if isinstance(agents, list) else ()) if isinstance(one, Mapping))


def _responsible_agent(sale: Row) -> str | None:
    return next((_text(one, "name") for one in _agents(sale) if one.get("responsible") is True), None)


def _commission(agent: Row) -> Decimal | None:
    value = _object(agent, "commission").get("value")
    return value if isinstance(value, Decimal) else None


def _text(row: Row, key: str) -> str | None:
    value = row.get(key)
    return value if isinstance(value, str) and value else None


def _object(row: Row, key: str) -> Row:
    value = row.get(key)
    return value if isinstance(value, Mapping) else {}
