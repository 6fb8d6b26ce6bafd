"""What of a person stands in an answer or a table? Told by the id, found by the words around it.

A fact stays, and the person goes out of it: amounts and counts are kept, the id becomes a number that
nobody knows, and names, addresses and messages beside it become null. Where no id stands beside it, what
was found with the id elsewhere (a full name, a mail address, a phone number) tells the person; a namesake
is known by another id beside the name, and stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

_PERSONAL = re.compile(
    r"name|mail|phone|message|comment|employee|social|birth|address|image|url|title|text|language|note"
)
_OF_OTHERS = re.compile(r"company|office|customer|estate|status|type|source")
_OWN = re.compile(r"(first_|last_|full_)?name|initials|.*mail.*|.*phone.*|mobile.*")
_TELLING = re.compile(r"mail|phone|mobile|employee_(id|number)$|social|(url|image_id)$")
_USERS_ID = re.compile(r"(^|_)(user|agent|sender|receiver|broker|realtor|assistant|owner)_id$")
_PERSONS_ID = re.compile(r"(^|_)(user|agent|sender|receiver|broker|realtor|assistant|owner|contact)_id$")
_FREE_TEXT = re.compile(r"(message|comment|text|title|note|description)$")
_SHORTEST = 6
"""Shorter words are found in the company of others too often to tell anybody."""
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
    values: frozenset[str] = frozenset()

    def is_meant(self, column: str) -> bool:
        """Whether a column (or flattened path) holds ids of such persons."""
        if self.kind is Kind.CONTACT:
            return column.endswith("contact_id")
        return column == "id" or bool(_USERS_ID.search(column))

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
            return self.anonymous(self._alone.sub(self.alias, text))
        told = json.dumps(self._values(self._tree(found, "")), ensure_ascii=False, separators=(",", ":"))
        told = _NUMBERS.sub(r"\1", told)
        return told.replace(_as_text(self.id), _as_text(self.alias)) if self._is_odd else told

    @property
    def nobody(self) -> Person:
        """Whom no text tells of: what writing a text anew changes by itself."""
        return Person(self.kind, "\x00", "\x00")

    def stands_in(self, text: str) -> bool:
        """Whether a text may hold the id or one of the values, also as JSON writes them in ASCII."""
        return bool(self._alone.search(text) or self._sought.search(text.casefold()))

    def anonymous(self, text: str) -> str:
        """A plain text without what tells the person."""
        if text == self.id and self._is_odd:
            return self.alias
        told = self._alone.sub(self.alias, text) if self._is_long else text
        return self._whole.sub(self.alias, told) if self.values else told

    def is_of_another(self, column: str, row: Mapping[str, object]) -> bool:
        """Whether an id beside a value says that it is somebody else's."""
        beside = companion(column, row)
        found = row.get(beside) if beside else None
        return found is not None and str(found) not in (self.id, self.alias)

    def told_by(self, row: Mapping[str, object]) -> Iterator[str]:
        """What of a flat row that names the person would tell her elsewhere too."""
        for named in [name for name, one in row.items() if str(one) == self.id and self.is_meant(name)]:
            along = {name: str(one) for name, one in row.items() if one and self.takes_along(name, named)}
            yield from (one for name, one in along.items() if _tells(name, one))
            for name, first in along.items():
                last = along.get(f"{name.removesuffix('first_name')}last_name", "")
                if name.endswith("first_name") and last:
                    yield f"{first} {last}"
                    yield f"{last}, {first}"

    def told_by_text(self, text: str) -> Iterator[str]:
        """The same of all rows in a JSON text."""
        try:
            found = json.loads(text)
        except ValueError:
            return
        for row in _objects(found):
            yield from self.told_by(row)

    @property
    def _is_long(self) -> bool:
        """Whether the id may be looked for within texts: short ones stand in many that are not about her."""
        return len(self.id) >= _SHORTEST

    @property
    def _is_odd(self) -> bool:
        """Whether a value that equals the id is her id, whatever it is called; a small number may not be."""
        return self._is_long or not self.id.isdigit()

    @cached_property
    def _alone(self) -> re.Pattern[str]:
        forms = sorted({self.id, _ascii(self.id)})
        return re.compile("|".join(rf"(?<!\w){re.escape(form)}(?!\w)" for form in forms))

    @cached_property
    def _sought(self) -> re.Pattern[str]:
        forms = {form.casefold() for value in self.values for form in (value, _ascii(value))}
        return re.compile("|".join(map(re.escape, sorted(forms))) or r"(?!)")

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        longest = sorted(self.values, key=len, reverse=True)
        words = "|".join(map(re.escape, longest))
        return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)

    def _values(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._values(one) for one in value]
        if isinstance(value, dict):
            row = {snake(key): one for key, one in value.items()}
            others = {key for key in value if self.is_of_another(snake(key), row)}
            return {
                key: one if key in others and isinstance(one, str) else self._values(one)
                for key, one in value.items()
            }
        if isinstance(value, str) and not value.startswith(_NUMBER):
            return self.anonymous(value)
        return value

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


def companion(column: str, row: Iterable[str]) -> str | None:
    """The column whose id says whose value another column holds: `sender_id` of `sender_name`."""
    columns = {name for name in row if name == "id" or _PERSONS_ID.search(name)}
    if _FREE_TEXT.search(column):
        return None
    for end in (match.end() for match in reversed(list(re.finditer("_", column)))):
        if f"{column[:end]}id" in columns:
            return f"{column[:end]}id"
    return "id" if "id" in columns and _OWN.fullmatch(column) else None


def _tells(column: str, value: str) -> bool:
    """Whether a value would tell the person without an id beside it."""
    if len(value) < _SHORTEST:
        return False
    return bool(_TELLING.search(column)) or (column.endswith("name") and " " in value.strip())


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a document, flattened as a row would be."""
    if isinstance(value, list):
        for one in value:
            yield from _objects(one)
    elif isinstance(value, dict):
        yield _flat(value, "")
        for one in value.values():
            yield from _objects(one)


def written_forms(value: str) -> set[str]:
    """How a value may stand in a file: as it is, in JSON, and in JSON within JSON."""
    return {value, _ascii(value), _ascii(_ascii(value))}


def _ascii(value: str) -> str:
    """How JSON may write a text: letters beyond ASCII as escapes."""
    return json.dumps(value)[1:-1]
