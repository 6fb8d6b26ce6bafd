"""Person who is to be erased, and what is left of a row or an answer without the person.

A fact stays, and the person goes out of it: amounts and counts are kept, the id becomes a random one, and
names, addresses and messages beside it become null. Where no id is beside it, a value that was found with
the id elsewhere (a full name, a mail address, a phone number) gives the person away; a namesake has another
id beside the name, and stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from warehouse.personal_data import PersonKind, describes, is_id_of, is_personal, owner_of

if TYPE_CHECKING:
    from warehouse.handed_over import Documented

_GIVES_AWAY = re.compile(r"mail|phone|mobile|employee_(id|number)$|social|(url|image_id)$")
SHORTEST = 6
"""Shorter values are found in the data of others too often to give anybody away."""


@dataclass(frozen=True)
class Person:
    """Somebody who is to be erased; `alias` replaces the id, `values` give the person away without it.

    `name_of` is how columns are named after the keys of an answer. Without the id, values are only looked for
    in what was answered for these customers; none means all.
    """

    kind: PersonKind
    id: str
    alias: str
    name_of: Callable[[tuple[str, ...]], str]
    values: frozenset[str] = frozenset()
    customers: frozenset[str] = frozenset()

    def ids_in(self, row: Mapping[str, object], documented: Documented, path: str = "") -> list[str]:
        """The columns of a row that hold the person's id; `path` is the key of the object it is read from."""
        return [
            name
            for name, value in row.items()
            if str(value) == self.id and is_id_of(self.kind, self._column(path, name), documented)
        ]

    def values_in(self, row: Mapping[str, object], documented: Documented) -> Iterator[str]:
        """Values of a row with the person's id that give the person away elsewhere too."""
        for id_column in self.ids_in(row, documented):
            found = {
                name: str(one) for name, one in row.items() if one and describes(name, id_column, documented)
            }
            for name, value in found.items():
                is_full_name = name.endswith("name") and " " in value.strip()
                if len(value) >= SHORTEST and (is_full_name or _GIVES_AWAY.search(name)):
                    yield value
                last_name = found.get(f"{name.removesuffix('first_name')}last_name", "")
                if name.endswith("first_name") and last_name:
                    yield from (f"{value} {last_name}", f"{last_name}, {value}")

    def values_in_json(self, text: str, documented: Documented) -> Iterator[str]:
        """The same of every object in a JSON text."""
        try:
            waiting = [json.loads(text)]
        except ValueError:
            return
        while waiting:
            one = waiting.pop()
            if isinstance(one, dict):
                yield from self.values_in(self._flat(one), documented)
            if isinstance(one, dict | list):
                waiting.extend(one.values() if isinstance(one, dict) else one)

    def is_in(self, text: str) -> bool:
        """Whether a text may hold the id or one of the values, also as JSON writes them in ASCII."""
        return bool(self._id.search(text) or self._any_value.search(text.casefold()))

    def erase_row(
        self,
        row: Mapping[str, object],
        json_columns: Collection[str],
        documented: Documented,
        *,
        by_id: bool = True,
        by_value: bool = True,
    ) -> dict[str, str | None]:
        """The columns of a table's row that change, with their new values."""
        ids = self.ids_in(row, documented) if by_id else []
        changed: dict[str, str | None] = {}
        for column, value in row.items():
            new: object = value
            if column in ids:
                new = self.alias if isinstance(value, str) else None  # no number says who it was
            elif any(describes(column, id_column, documented) for id_column in ids):
                new = None
            elif isinstance(value, str) and by_value and not self._is_of_another(column, row):
                new = self.erase_json(value, documented) if column in json_columns else self.erase_text(value)
            if new != value:
                changed[column] = new if isinstance(new, str) else None
        return changed

    def erase_json(self, text: str, documented: Documented) -> str:
        """A JSON text without the person, numbers as they were written; any other text without the id."""
        try:
            tree = json.loads(text, parse_float=_Number, parse_int=_Number, parse_constant=_Number)
            erased = self._erase_node(tree, documented)
            if erased == tree:
                return text
            return orjson.dumps(
                erased,
                default=lambda number: orjson.Fragment(number.encode()),
                option=orjson.OPT_PASSTHROUGH_SUBCLASS,
            ).decode()
        except (ValueError, orjson.JSONEncodeError):
            return self.erase_text(self._id.sub(self.alias, text))

    def erase_text(self, text: str) -> str:
        """A plain text without what gives the person away."""
        if text == self.id and self._is_unmistakable:
            return self.alias
        erased = self._id.sub(self.alias, text) if len(self.id) >= SHORTEST else text
        return self._whole_value.sub(self.alias, erased) if self.values else erased

    def _erase_node(
        self, node: Any, documented: Documented, path: str = "", gone: Collection[str] = ()
    ) -> Any:
        """Part of a JSON document without the person; `gone` are names that the object above has emptied."""
        if isinstance(node, list):
            return [self._erase_node(one, documented, path) for one in node]
        if not isinstance(node, dict):
            return self.erase_text(node) if type(node) is str else node
        flat = self._flat(node)
        ids = self.ids_in(flat, documented, path)
        gone = {*gone, *(name for name in flat for one in ids if describes(name, one, documented))}
        row = {self.name_of((key,)): value for key, value in node.items()}
        erased = {}
        for key, value in node.items():
            name = self.name_of((key,))
            new: Any
            if isinstance(value, dict | list):
                inner = {one.removeprefix(f"{name}_") for one in gone if one.startswith(f"{name}_")}
                new = self._erase_node(value, documented, name, inner if isinstance(value, dict) else ())
                if "id" in ids and is_personal(name):  # undocumented data of the person, such as languages
                    new = [] if isinstance(value, list) else None
            elif name in ids and str(value) == self.id:
                new = self.alias
            elif name in gone:
                new = None
            elif self._is_of_another(name, row):
                new = self.alias if value == self.id and self._is_unmistakable else value
            else:
                new = self._erase_node(value, documented)
            erased[self.alias if key == self.id and self._is_unmistakable else key] = new
        return erased

    def _flat(self, value: Mapping[str, Any], above: tuple[str, ...] = ()) -> dict[str, Any]:
        """The plain values of an object and of the objects in it, by the names of their columns."""
        found: dict[str, Any] = {}
        for key, one in value.items():
            if isinstance(one, dict):
                found |= self._flat(one, (*above, key))
            elif not isinstance(one, list):
                found[self.name_of((*above, key))] = one
        return found

    def _is_of_another(self, column: str, row: Mapping[str, object]) -> bool:
        """Whether an id beside a value says that it is somebody else's."""
        beside = owner_of(column, row)
        found = row.get(beside) if beside else None
        return found is not None and str(found) not in (self.id, self.alias)

    def _column(self, path: str, name: str) -> str:
        """The column of a key: `id` in an object `contact` is `contact_id`; in a list of rows it is `id`."""
        return f"{path}_id" if self.kind == "contact" and name == "id" and path else name

    @property
    def _is_unmistakable(self) -> bool:
        """Whether any value that equals the id is the id; a small number may be anything."""
        return len(self.id) >= SHORTEST or not self.id.isdigit()

    @cached_property
    def _id(self) -> re.Pattern[str]:
        forms = sorted({self.id, _in_ascii(self.id)})
        return re.compile("|".join(rf"(?<!\w){re.escape(form)}(?!\w)" for form in forms))

    @cached_property
    def _any_value(self) -> re.Pattern[str]:
        forms = {form.casefold() for value in self.values for form in (value, _in_ascii(value))}
        return re.compile("|".join(map(re.escape, sorted(forms))) or r"(?!)")

    @cached_property
    def _whole_value(self) -> re.Pattern[str]:
        longest_first = sorted(self.values, key=len, reverse=True)
        return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)


class _Number(str):
    """A JSON number as it was written."""

    __slots__ = ()


def written_forms(value: str) -> set[str]:
    """How a value may be written in a file: as it is, in JSON, and in JSON within JSON."""
    return {value, _in_ascii(value), _in_ascii(_in_ascii(value))}


def _in_ascii(value: str) -> str:
    """How JSON may write a text: letters beyond ASCII as escapes."""
    return json.dumps(value)[1:-1]
