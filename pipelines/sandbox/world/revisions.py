"""What was changed in a sale after it was first reported? Restatements, corrections, settling, cancelling."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, time, timedelta
from random import Random

from pipelines.sandbox.world.chance import happens, later
from pipelines.sandbox.world.facts import WITHDRAWN, Version
from pipelines.sandbox.world.money import in_kronor
from pipelines.sandbox.world.sharing import Parts, reweighted, shares

RESTATED = 0.10
REPRICED = 0.04
REDATED = 0.02
CANCELLED = 0.03


def revisions(chance: Random, agreed: Parts, sold: Version) -> tuple[Version, ...]:
    """Every later version, oldest first; a cancelled sale ends with being withdrawn."""
    planned: list[tuple[datetime, str]] = []
    for what, share, latest in (
        ("restate", RESTATED, 150),
        ("reprice", REPRICED, 40),
        ("redate", REDATED, 35),
        ("cancel", CANCELLED, 100),
    ):
        if happens(chance, share):
            planned.append((later(chance, sold.known_at, 3, latest), what))
    if sold.access_on is not None:
        access = datetime.combine(sold.access_on, time(9))
        planned.append((max(later(chance, access, 0, 9), later(chance, sold.known_at, 4, 12)), "settle"))
    return _played(chance, agreed, sold, sorted(planned))


def _played(
    chance: Random, agreed: Parts, sold: Version, planned: list[tuple[datetime, str]]
) -> tuple[Version, ...]:
    versions = [sold]
    for known_at, what in planned:
        last = versions[-1]
        if what == "cancel":
            versions.append(replace(last, known_at=known_at, status=WITHDRAWN))
            break
        if what == "restate":
            agreed, version = _restated(chance, agreed, last)
        elif what == "reprice":
            version = _repriced(chance, agreed, last)
        elif what == "redate":
            version = _redated(chance, last)
        else:
            version = _settled(last, known_at)
        versions.append(replace(version, known_at=known_at))
    return tuple(versions[1:])


def _restated(chance: Random, agreed: Parts, last: Version) -> tuple[Parts, Version]:
    """Other shares, or another commission."""
    if happens(chance, 0.4) and len(agreed) == 2:
        agreed = reweighted(chance, agreed)
        return agreed, _reshared(agreed, last)
    factor = chance.choice((0.85, 0.9, 0.95, 1.05, 1.1))
    if last.foreign is None:
        return agreed, _reshared(agreed, replace(last, commission=round(last.commission * factor)))
    abroad = replace(last.foreign, commission=round(last.foreign.commission * factor))
    earned = in_kronor(abroad.commission, abroad.rate)
    return agreed, _reshared(agreed, replace(last, commission=earned, foreign=abroad))


def _repriced(chance: Random, agreed: Parts, last: Version) -> Version:
    """A final price that had been typed wrongly."""
    if last.foreign is not None and last.foreign.final_price is not None:
        abroad = replace(last.foreign, final_price=last.foreign.final_price + chance.choice((-2_000, 3_000)))
        final = in_kronor(abroad.final_price or 0, abroad.rate)
        return _reshared(agreed, replace(last, final_price=final, foreign=abroad))
    final = (last.final_price or 0) + chance.choice((-15_000, -5_000, 10_000, 20_000, 50_000))
    return _reshared(agreed, replace(last, final_price=final))


def _redated(chance: Random, last: Version) -> Version:
    """A contract day that had been typed wrongly; it may move the sale to another month."""
    moved = timedelta(days=chance.choice((-12, -7, -3, 2, 5)))
    if last.contract_on is None or last.access_on is None:
        return last
    return replace(last, contract_on=last.contract_on + moved, access_on=last.access_on + timedelta(days=7))


def _settled(last: Version, known_at: datetime) -> Version:
    """The deposit accounted for and the commission received, once the buyer has moved in."""
    return replace(last, deposit_reported_at=known_at, commission_received_at=known_at + timedelta(days=1))


def _reshared(agreed: Parts, version: Version) -> Version:
    abroad = version.foreign.commission if version.foreign else None
    return replace(version, shares=shares(agreed, version.commission, version.final_price or 0, abroad))
