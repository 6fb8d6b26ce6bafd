"""What is a table of schema meta? A name, what it is for, and columns with type and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class MetaTable:
    """A table of ours: what it is for, and each column with its type and meaning."""

    name: str
    description: str
    columns: Mapping[str, tuple[str, str]]

    @property
    def types(self) -> dict[str, str]:
        return {name: type_ for name, (type_, _) in self.columns.items()}
