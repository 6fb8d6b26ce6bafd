"""Of which types are documented fields? A handful of aliases that row models are written with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


@dataclass(frozen=True)
class Stored:
    """The DuckDB type a documented field is stored as."""

    type: str


# The service sends money as JSON numbers (commissions fractional, prices whole): never int or float here.
Money = Annotated[Decimal | None, Stored("DECIMAL(18,4)")]
Parts = Annotated[Decimal | None, Stored("DECIMAL(18,8)")]  # a count, fractional when a sale is shared
Percent = Annotated[Decimal | None, Stored("DECIMAL(18,8)")]
Rate = Annotated[Decimal | None, Stored("DECIMAL(18,8)")]
Degrees = Annotated[Decimal | None, Stored("DECIMAL(18,8)")]
LocalTime = Annotated[datetime | None, Stored("TIMESTAMP")]  # the brokerage's wall clock
Text = Annotated[str | None, Stored("VARCHAR")]
Integer = Annotated[int | None, Stored("BIGINT")]
Boolean = Annotated[bool | None, Stored("BOOLEAN")]


class Row(BaseModel):
    """What every row model shares: camelCase in JSON (interface, first section), any field may be null."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        defer_build=True,  # no row is built from a model; its fields are read, and that at every start
    )


def field(description: str) -> Any:
    """A documented field that may be null, said in our own words."""
    return Field(default=None, description=description)
