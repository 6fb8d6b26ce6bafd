"""A person to erase, and the erasure of that person's id from texts and documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from warehouse.persons.personal_data import KEY, PersonKind, emptied_columns, id_columns

if TYPE_CHECKING:
    from warehouse.protocols import Documented

MIN_ID_LENGTH = 6
"""Shorter ids, and plain numbers, are not searched for in texts: there they may mean something else."""
Place = tuple[dict[str, Any], str]
"""An object of a document, and the key of one of its values."""


@dataclass(frozen=True)
class Person:
    """A person to erase; `alias` replaces the id. `name_of` returns the column name for a path of keys."""

    kind: PersonKind
    id: str
    alias: str
    name_of: Callable[[tuple[str, ...]], str]

    @property
    def is_unmistakable(self) -> bool:
        """Whether the id, found in a text, can mean only this person."""
        return len(self.id) >= MIN_ID_LENGTH and not self.id.isdigit()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches the id in a text, plain or URL-encoded; matches nothing unless the id is unmistakable."""
        spellings = "|".join(map(re.escape, (self.id, quote(self.id, safe=""))))
        return re.compile(rf"(?<!\w)(?:{spellings})(?!\w)" if self.is_unmistakable else r"(?!)")

    def may_be_in(self, body: bytes) -> bool:
        """Whether a body may contain the id."""
        encoded_ids = {self.id.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be")}
        is_plain = re.fullmatch(r"[A-Za-z0-9_.-]+", self.id)
        # JSON may write a character that is not plain as an escape, which begins with a backslash.
        return any(id_ in body for id_ in encoded_ids) or (not is_plain and b"\\" in body)

    def erase_text(self, text: str) -> str:
        """Replace the id in a text."""
        return self.pattern.sub(self.alias, text)

    def erase_document(self, node: Any, documented: Documented, *, is_row: bool = True) -> Any:
        """A parsed document without the person; `documented` has the declared columns about persons.

        An object and the objects nested in it, except in lists, are one row. A row with the id loses all
        values about the person. If the id is unmistakable, nested objects are also searched as separate rows.
        """
        if isinstance(node, dict):
            if is_row or self.is_unmistakable:
                self._erase_row(dict(self._values(node)), documented)
            if self.is_unmistakable and isinstance(member := node.get(self.id), dict):
                _empty_row(KEY, dict(self._values(member)), documented)
            return {
                self.erase_text(key): self.erase_document(value, documented, is_row=False)
                for key, value in node.items()
            }
        if isinstance(node, list):
            return [self.erase_document(element, documented) for element in node]
        return self.erase_text(node) if isinstance(node, str) else node

    def _erase_row(self, row: Mapping[str, Place], documented: Documented) -> None:
        matching = [column for column, (node, key) in row.items() if self._is_id(node[key])]
        for column, kind in id_columns(matching, documented):
            if kind == self.kind:
                node, key = row[column]
                node[key] = self.alias if isinstance(node[key], str) else None
                _empty_row(column, row, documented)

    def _is_id(self, value: Any) -> bool:
        return str(getattr(value, "text", value)).strip() == self.id

    def _values(self, node: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, Place]]:
        """Yield the column and place of each value, also in nested objects, but not in lists of objects."""
        for key, value in node.items():
            if isinstance(value, dict):
                yield from self._values(value, (*above, key))
            elif not (isinstance(value, list) and any(isinstance(element, dict) for element in value)):
                yield self.name_of((*above, key)), (node, key)


def _empty_row(id_column: str, row: Mapping[str, Place], documented: Documented) -> None:
    for column in emptied_columns(id_column, [*row], documented):
        node, key = row[column]
        node[key] = None
