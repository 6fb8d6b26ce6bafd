"""What of a person stands in an answer or a table? Told by the id, found by the words around it.

A fact stays, and the person goes out of it: amounts and counts are kept, the id becomes a number that
nobody knows, and names, addresses and messages beside it become null.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_PERSONAL = re.compile(
    r"name|mail|phone|message|comment|employee|social|birth|address|image|url|title|text|language|note"
)
_OF_OTHERS = re.compile(r"company|office|customer|estate|status|type|source")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NUMBER = "\x00number:"
_NUMBERS = re.compile(r'"\\u0000number:([^"]*)"')


class Kind(StrEnum):
    """Whom an id stands for."""

    CONTACT = "contact"
    USER = "user"


@dataclass(frozen=True)
class Person:
    """Somebody who is to be forgotten; `alias` stands where the id stood."""

    kind: Kind
    id: str
    alias: str

    def is_meant(self, column: str) -> bool:
        """Whether a column (or flattened path) holds ids of such persons."""
        if self.kind is Kind.CONTACT:
            return column.endswith("contact_id")
        return column == "id" or bool(re.search(r"(^|_)(user|agent|sender|receiver)_id$", column))

    def takes_along(self, column: str, named: str) -> bool:
        """Whether `column` tells of the person that the column `named` identifies."""
        prefix = named.removesuffix("id")
        if re.search(r"(message|comment)$", column):
            return True
        inner = column.removeprefix(prefix)
        if not column.startswith(prefix) or _OF_OTHERS.search(inner):
            return False
        return bool(_PERSONAL.search(inner)) and (
            bool(prefix) or not re.match(r"(contact|sender|receiver)_", column)
        )

    def without(self, text: str) -> str:
        """A JSON text without the person; any other text without the id."""
        try:
            found = json.loads(text, parse_float=lambda number: _NUMBER + number)
        except ValueError:
            return text.replace(self.id, self.alias)
        told = json.dumps(self._tree(found, ""), ensure_ascii=False, separators=(",", ":"))
        told = _NUMBERS.sub(r"\1", told)
        return told.replace(_as_text(self.id), _as_text(self.alias))

    def _tree(self, value: Any, path: str) -> Any:
        if isinstance(value, list):
            return [self._tree(one, path) for one in value]
        if not isinstance(value, dict):
            return value
        flat = _flat(value, "")
        named = [
            name
            for name, found in flat.items()
            if str(found) == self.id and self.is_meant(self._full(path, name))
        ]
        gone = {name for name in flat for one in named if self.takes_along(name, one)}
        whole = "id" in named
        return {key: self._member(key, one, gone, whole=whole, path=path) for key, one in value.items()}

    def _member(self, key: str, value: Any, gone: set[str], *, whole: bool, path: str) -> Any:
        word = snake(key)
        if (
            whole
            and isinstance(value, dict | list)
            and _PERSONAL.search(word)
            and not _OF_OTHERS.search(word)
        ):
            return [] if isinstance(value, list) else None
        if isinstance(value, dict):
            inner = {name.removeprefix(f"{word}_") for name in gone if name.startswith(f"{word}_")}
            kept = {
                name: None if snake(name) in inner and not isinstance(one, dict | list) else one
                for name, one in value.items()
            }
            return self._tree(kept, word)
        if isinstance(value, list):
            return self._tree(value, word)
        if str(value) == self.id and self.is_meant(self._full(path, word)):
            return self.alias
        return None if word in gone else value

    def _full(self, path: str, word: str) -> str:
        """`id` inside an object `contact` is `contact_id`; in a list of rows it is plain `id`."""
        return f"{path}_{word}" if self.kind is Kind.CONTACT and word == "id" and path else word


def snake(key: str) -> str:
    """A key of the service as a column is named."""
    return _WORDS.sub("_", key).lower()


def _flat(value: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The plain values of an object and of the objects in it, by flattened name."""
    found: dict[str, Any] = {}
    for key, one in value.items():
        name = prefix + snake(key)
        if isinstance(one, dict):
            found |= _flat(one, f"{name}_")
        elif not isinstance(one, list):
            found[name] = one
    return found


def _as_text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
