"""The market: seasons, growth, kinds of estates, prices, commissions, and splits of amounts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from random import Random

from pipelines.months import Month
from pipelines.sandbox.world.records import Town

WHOLE = 10_000
"""100 percent, in hundredths of a percent."""

SEASON = (0.70, 0.85, 1.05, 1.15, 1.35, 1.25, 0.55, 0.95, 1.20, 1.15, 1.00, 0.70)

HOUSE = "House"
ROW_HOUSE = "RowHouse"
HOUSING_COOPERATIVE = "HousingCooperative"
COTTAGE = "Cottage"
PLOT = "Plot"
FARM = "Farm"
CONDOMINIUM = "Condominium"
COMMERCIAL = "CommercialProperty"
FOREIGN = "ForeignProperty"

KINDS = (
    (HOUSING_COOPERATIVE, 46.0), (HOUSE, 30.0), (ROW_HOUSE, 7.0), (COTTAGE, 6.0), (PLOT, 4.0), (FARM, 2.5),
    (CONDOMINIUM, 1.5), (COMMERCIAL, 1.0), (FOREIGN, 2.0),
)  # fmt: skip
"""Each kind of estate, with its share of all estates in percent."""

HOUSE_FACTORS = {HOUSE: 1.0, ROW_HOUSE: 0.8, COTTAGE: 0.55, PLOT: 0.28, FARM: 1.5, COMMERCIAL: 2.2}
FLAT_FACTORS = {HOUSING_COOPERATIVE: 1.0, CONDOMINIUM: 1.15}
"""The price of each kind as a multiple of the town's house price (HOUSE_FACTORS) or flat price."""


def season(month: Month) -> float:
    """The activity in a month; 1 in an average month."""
    return SEASON[month.number - 1]


def price_level(month: Month) -> float:
    """Prices relative to 2020: three percent growth per year, with slow waves."""
    years = month.year - 2020 + (month.number - 1) / 12
    return float(1.03**years * (1 + 0.04 * math.sin(years * 1.3)))


def listing_price(rng: Random, kind: str, town: Town, month: Month) -> int:
    """The asking price in kronor, rounded as in advertisements."""
    is_house = kind in HOUSE_FACTORS
    level = town.house_price * HOUSE_FACTORS[kind] if is_house else town.flat_price * FLAT_FACTORS[kind]
    price = level * price_level(month) * rng.lognormvariate(0, 0.33)
    step = 5_000 if price < 2_000_000 else 25_000
    return max(120_000, round(price / step) * step)


def foreign_listing_price(rng: Random, rate: int, month: Month) -> int:
    """The asking price in a foreign currency, rounded to thousands; `rate` is that of records.Place."""
    price = 3_600_000 * price_level(month) * rng.lognormvariate(0, 0.4) * 10_000 / rate
    return max(20_000, round(price / 1_000) * 1_000)


def final_price(rng: Random, starting: int) -> int:
    """The price after the bidding, usually higher than the asking price."""
    return round(starting * max(0.85, rng.gauss(1.045, 0.06)) / 5_000) * 5_000


def commission(rng: Random, price: int) -> int:
    """A commission in öre for a price in kronor: a lower percentage of higher prices, with a minimum fee."""
    percent = 4.1 - 0.75 * math.log(max(price, 300_000) / 500_000) + rng.gauss(0, 0.2)
    return max(3_495_000, round(price * 100 * (round(min(4.0, max(1.5, percent)), 3) / 100)))


def split(amount: int, basis_points: Sequence[int]) -> list[int]:
    """Split an amount by shares that add up to 100 percent; the parts add up to the amount exactly."""
    edges = [0]
    reached = 0
    for share in basis_points:
        reached += share
        edges.append((amount * reached + WHOLE // 2) // WHOLE)
    return [end - start for start, end in pairwise(edges)]


def in_kronor(foreign: int, rate: int) -> int:
    """Convert a foreign amount to kronor, or cents to öre; `rate` is that of records.Place."""
    return (foreign * rate + WHOLE // 2) // WHOLE
