"""Person who is to be erased, and what is left of a row or an answer without the person.

A fact stays, and the person goes out of it: amounts and counts are kept, the id becomes a random one, and
names, addresses and messages beside it become null. Where no id is beside it, a value that was found with
the id elsewhere (a full name, a mail address, a phone number) gives the person away; a namesake has another
id beside the name, and stays. What is looked at is what a parser reads, not the bytes it reads it from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson
import polars as pl

from warehouse.persons.personal_data import KEY, PersonKind, describes, is_id_of, is_personal, owner_of
from warehouse.persons.writings import (
    BEGINS,
    ENDS,
    ESCAPES,
    as_it_is,
    decoded,
    forms_of,
    further_encodings,
    in_any_writing,
)

if TYPE_CHECKING:
    from warehouse.handed_over import Documented

_GIVES_AWAY = re.compile(r"mail|phone|mobile|employee_(id|number)$|social|(url|image_id)$")
SHORTEST = 6
"""Shorter values are found in the data of others too often to give anybody away."""
VALUES_IN_A_PATTERN = 20
"""Engines refuse patterns that are too long."""


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

    @property
    def is_short(self) -> bool:
        """Whether the id is too short to be looked for within texts."""
        return len(self.id) < SHORTEST

    @property
    def is_unmistakable(self) -> bool:
        """Whether any value that equals the id is the id; a small number may be anything."""
        return len(self.id) >= SHORTEST or not self.id.isdigit()

    def is_id(self, value: object) -> bool:
        """Whether a value is the id."""
        return str(value) in self.ids

    @cached_property
    def ids(self) -> set[str]:
        """The id, its accents composed or not."""
        return forms_of(self.id)

    @cached_property
    def patterns(self) -> list[str]:
        """Patterns one of which is in every text that `erase_text` would change, for any engine."""
        values = sorted(self.values)
        groups = [values[at : at + VALUES_IN_A_PATTERN] for at in range(0, len(values), VALUES_IN_A_PATTERN)]
        texts = ["|".join(in_any_writing(value, any_case=True) for value in group) for group in groups]
        return texts if self.is_short else [self.id_pattern, *texts]

    @cached_property
    def id_pattern(self) -> str:
        """A pattern of the id in any writing."""
        return in_any_writing(self.id, any_case=False)

    def may_be_in(self, text: str) -> bool:
        """Whether a text may hold the person, in whatever writing; in case of doubt it may."""
        return _has_any(text, {self.id_pattern, *self.patterns})

    def is_named_in(self, text: str) -> bool:
        """Whether a text may hold the id, in whatever writing."""
        return _has_any(text, {self.id_pattern})

    def ids_in(self, row: Mapping[str, object], documented: Documented, path: str = "") -> list[str]:
        """The columns of a row that hold the person's id; `path` is the key of the object it is read from.

        One is that of the keys that rows were kept by, where no other id is in the row.
        """
        return [
            name
            for name, value in row.items()
            if self.is_id(value)
            and (
                is_id_of(self.kind, self._column(path, name), documented)
                or (name == KEY and self.is_unmistakable and self.is_id(row.get("id", self.id)))
            )
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
        """The same of every object in a JSON text, and in JSON texts within it."""
        try:
            waiting = [_parsed(text)[0]]
        except (ValueError, RecursionError):
            return
        while waiting:
            one = waiting.pop()
            if isinstance(one, dict):
                yield from self.values_in(self._flat(one), documented)
                for key, member in one.items():
                    if self.is_id(key) and isinstance(member, dict):
                        yield from self.values_in({KEY: key, **self._flat(member)}, documented)
            if isinstance(one, dict | list):
                waiting.extend(one.values() if isinstance(one, dict) else one)
            elif type(one) is str and _is_like_json(one):
                yield from self.values_in_json(one, documented)

    def erase_row(
        self,
        row: Mapping[str, object],
        documented: Documented,
        *,
        by_id: bool = True,
    ) -> dict[str, str | list[str] | None]:
        """The columns of a table's row that change, with their new values."""
        ids = self.ids_in(row, documented) if by_id else []
        changed: dict[str, str | list[str] | None] = {}
        for column, value in row.items():
            new: Any = value
            if column in ids:
                new = self.alias if isinstance(value, str) else None  # no number says who it was
            elif any(describes(column, id_column, documented) for id_column in ids):
                new = None
            elif isinstance(value, str):
                new = self._erase_value(column, value, row, documented)
            elif isinstance(value, list):
                new = [self.erase_text(one) if isinstance(one, str) else one for one in value]
            if new != value:
                changed[column] = new
        return changed

    def erase_body(self, body: bytes, documented: Documented) -> bytes:
        """A body without the person, in its own encoding; all other values of a document stay as they are."""
        known = decoded(body)
        text = known.text
        if self.may_be_in(text) and (erased := self.erase_json(text, documented)) != text:
            body = known.encoded(erased)
        for encoding in further_encodings(body, known.encoding):
            other = decoded(body, encoding)
            if (erased := self.erase_text(other.text)) != other.text:
                body = other.encoded(erased)
        return body

    def erase_json(self, text: str, documented: Documented) -> str:
        """A JSON text without the person, numbers as they were written; any other text without the id.

        Of a key that an object has twice the last value is kept, as every parser does.
        """
        erased = self._erase_document(text, documented)
        return self.erase_text(self._written_id.sub(self.alias, text)) if erased is None else erased

    def erase_text(self, text: str) -> str:
        """A plain text without what gives the person away."""
        if self.is_unmistakable and self.is_id(text):
            return self.alias
        pattern = self._written if ESCAPES.search(text) else self._plain
        return pattern.sub(self.alias, text) if pattern else text

    def places_in(self, text: str) -> Iterator[tuple[int, int]]:
        """From where to where a text tells of the person."""
        yield from (found.span() for found in self._written.finditer(text)) if self._written else ()

    def erase_name(self, name: str) -> str:
        """The name of a column or table without what a key with the id or a value has left in it."""
        texts = {text for text in (self.id, *self.values) if len(text) >= SHORTEST}
        names = sorted({self.name_of((text,)) for text in texts}, key=len, reverse=True)
        pattern = re.compile(f"{BEGINS}(?:{'|'.join(map(re.escape, names))}){ENDS}", re.IGNORECASE)
        return pattern.sub(self.name_of((self.alias,)), name) if names else name

    def _erase_value(self, name: str, value: str, row: Mapping[str, object], documented: Documented) -> str:
        """A text of a row without the person; one that is somebody else's is only searched for the id."""
        if self._is_of_another(name, row):
            by_id = self._written_id.sub(self.alias, value) if not self.is_short else value
            return self.alias if self.is_unmistakable and self.is_id(value) else by_id
        return self._erase_string(value, documented)

    def _erase_string(self, text: str, documented: Documented) -> str:
        """A value without the person; one that is a document itself is read as such."""
        erased = self._erase_document(text, documented) if _is_like_json(text) else None
        return self.erase_text(text) if erased is None else erased

    def _erase_document(self, text: str, documented: Documented) -> str | None:
        """A JSON text without the person; None where it is none, or nested too deeply to be read as one."""
        try:
            tree, has_twins = _parsed(text)
            erased = self._erase_node(tree, documented)
            return text if erased == tree and not has_twins else _written(erased)
        except (ValueError, RecursionError):
            return None

    def _erase_node(
        self, node: Any, documented: Documented, path: str = "", gone: Collection[str] = ()
    ) -> Any:
        """Part of a JSON document without the person; `gone` are names that the object above has emptied."""
        if isinstance(node, list):
            return [self._erase_node(one, documented, path) for one in node]
        if not isinstance(node, dict):
            return self._erase_string(node, documented) if type(node) is str else node
        flat = self._flat(node)
        ids = self.ids_in(flat, documented, path)
        gone = {*gone, *(name for name in flat for one in ids if describes(name, one, documented))}
        row = {self.name_of((key,)): value for key, value in node.items()}
        erased: dict[str, Any] = {}
        for key, value in node.items():
            name = self.name_of((key,))
            new: Any
            if isinstance(value, dict | list):
                inner = {one.removeprefix(f"{name}_") for one in gone if one.startswith(f"{name}_")}
                if isinstance(value, dict) and self.is_id(key):
                    member = {KEY: key, **self._flat(value)}
                    inner |= {
                        one
                        for one in member
                        if KEY in self.ids_in(member, documented) and describes(one, KEY, documented)
                    }
                new = self._erase_node(value, documented, name, inner if isinstance(value, dict) else ())
                if "id" in ids and is_personal(name):  # undocumented data of the person, such as languages
                    new = [] if isinstance(value, list) else None
            elif name in ids and self.is_id(value):
                new = self.alias
            elif name in gone:
                new = None
            elif type(value) is str:
                new = self._erase_value(name, value, row, documented)
            else:
                new = value
            is_id = self.is_id(key) and (self.is_unmistakable or self._is_in_member(value, documented, name))
            erased[self.alias if is_id else self._erase_key(key, erased)] = new
        return erased

    def _is_in_member(self, member: Any, documented: Documented, path: str) -> bool:
        return isinstance(member, dict) and bool(self.ids_in(self._flat(member), documented, path))

    def _erase_key(self, key: str, taken: Collection[str]) -> str:
        """A key without the person, numbered where another of the object has become the same."""
        erased = free = self.erase_text(key)
        number = 2
        while erased != key and free in taken:
            free, number = f"{erased}-{number}", number + 1
        return free

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

    @cached_property
    def _written_id(self) -> re.Pattern[str]:
        return re.compile(f"{BEGINS}(?:{self.id_pattern}){ENDS}")

    @cached_property
    def _written(self) -> re.Pattern[str] | None:
        return re.compile(f"{BEGINS}(?:{'|'.join(self.patterns)}){ENDS}") if self.patterns else None

    @cached_property
    def _plain(self) -> re.Pattern[str] | None:
        texts = [] if self.is_short else [as_it_is([self.id], any_case=False)]
        texts += [as_it_is(self.values, any_case=True)] if self.values else []
        return re.compile(f"{BEGINS}(?:{'|'.join(texts)}){ENDS}") if texts else None


class _Number(str):
    """A JSON number as it was written."""

    __slots__ = ()


def _parsed(text: str) -> tuple[Any, bool]:
    """A JSON text, its numbers as they were written, and whether an object has a key twice."""
    has_twins = False

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal has_twins
        found = dict(pairs)
        has_twins |= len(found) != len(pairs)
        return found

    tree = json.loads(
        text.removeprefix("\ufeff"),
        object_pairs_hook=members,
        parse_float=_Number,
        parse_int=_Number,
        parse_constant=_Number,
    )
    return tree, has_twins


def _written(tree: Any) -> str:
    """A document as JSON; where orjson cannot write it, more slowly, with halves of signs as escapes."""
    try:
        return orjson.dumps(
            tree,
            default=lambda number: orjson.Fragment(number.encode()),
            option=orjson.OPT_PASSTHROUGH_SUBCLASS,
        ).decode()
    except orjson.JSONEncodeError:
        return _written_slowly(tree)


def _written_slowly(node: Any) -> str:
    if isinstance(node, dict):
        members = (f"{json.dumps(key)}:{_written_slowly(value)}" for key, value in node.items())
        return f"{{{','.join(members)}}}"
    if isinstance(node, list):
        return f"[{','.join(map(_written_slowly, node))}]"
    return node if isinstance(node, _Number) else json.dumps(node)


def _is_like_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[", '"')


def _has_any(text: str, patterns: Collection[str]) -> bool:
    try:
        whole = pl.Series([text], dtype=pl.String)
    except UnicodeEncodeError:  # halves of signs
        return True
    return any(whole.str.contains(pattern)[0] for pattern in patterns)
