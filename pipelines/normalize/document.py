"""The JSON document of one answer: read by orjson, and by the json module where digits would be lost."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import Any

import orjson

Json = Any  # None, bool, int, float, str, list or dict: what a JSON parser makes of a document
Object = dict[str, Json]
Keys = tuple[str, ...]  # the keys that lead from an object to a value in it, through objects only

OURS = "\udc00"  # half a character, which no document has: keys that begin with it are ours
ROOT = OURS  # the key of the list that a document itself is

LARGEST_AS_WRITTEN = 4_000_000  # bytes of a body
MOST_OPENED = 1_000_000  # objects, with those that references stand for
LONGEST_EXACT = 16  # characters of a fractional number that a float always gives back as they were
_OF_REFERENCES = frozenset({"$id", "$type"})
_TOO_DEEP = "The answer is nested too deeply to be read."
_KINDS = {str: "a text", bool: "true or false"}
_DIGITS = bytes(ord("0") if sign in b"0123456789." else ord(" ") for sign in range(256))
_TOO_MANY_DIGITS = b"0" * LONGEST_EXACT
_SURROGATES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


class InvalidJson(ValueError):
    """A body that is no JSON document of objects or lists, said in a sentence."""


class Number(float):
    """A number with its text, of which a float may hold less."""

    text: str

    def __new__(cls, text: str) -> Number:
        number = super().__new__(cls, text)
        number.text = text
        return number


@dataclass(eq=False)
class Document:
    """The document of one body; its values are read again after they were forgotten."""

    body: bytes
    _with_all_digits: bool = False

    @cached_property
    def value(self) -> Json:
        """The whole document; raises InvalidJson."""
        if not self._with_all_digits:
            try:
                with garbage_collection_off():
                    return self._with_references(orjson.loads(self.body))
            except orjson.JSONDecodeError:
                self._with_all_digits = True
        return self._with_references(parse_exactly(self.body))

    @property
    def page(self) -> Object:
        """The document as an object; one that is a list, or nothing, is an object that holds just that."""
        return self.value if type(self.value) is dict else {ROOT: self.value}

    @cached_property
    def may_lack_digits(self) -> bool:
        """Whether the body has a number, or a text, with more digits than a float holds for certain."""
        return not self._with_all_digits and _TOO_MANY_DIGITS in self.body.translate(_DIGITS)

    def read_all_digits(self) -> None:
        """Read the body again, with every digit of its numbers."""
        self.forget()
        self._with_all_digits = True

    def forget(self) -> None:
        """Free the memory of the values."""
        for name in ("value", "may_lack_digits", "as_written", "opened"):
            self.__dict__.pop(name, None)

    @cached_property
    def opened(self) -> dict[int, list[Json]]:
        """Rows that were looked for in values of `as_written`, by the identity of these."""
        return {}

    @cached_property
    def as_written(self) -> Json:
        """The whole document with its numbers as they were written.

        Those of a very large body are as they were read: each would take a hundred bytes otherwise.
        """
        if len(self.body) > LARGEST_AS_WRITTEN:
            return self.value
        return self._with_references(parse_exactly(self.body, numbers_as_written=True))

    def _with_references(self, value: Json) -> Json:
        return with_references(value) if b'"$id"' in self.body else value


def read_document(body: bytes) -> Document:
    """Read a body; raises InvalidJson for halves, other formats and single values."""
    document = Document(body)
    if document.value is not None and not isinstance(document.value, dict | list):
        kind = _KINDS.get(type(document.value), "a number")
        raise InvalidJson(f"The answer is {kind} where an object or a list was expected.")
    return document


def parse_exactly(body: bytes, *, numbers_as_written: bool = False) -> Json:
    """The document of a body, read by the json module; a number that a float does not hold is a Number.

    `numbers_as_written` makes every number one. NaN and Infinity, which no JSON has, are null. Raises
    InvalidJson.
    """
    text = _decoded(body)
    if r"\u" in text:
        text = _SURROGATES.sub(lambda found: r"\ufffd" if found[1] else found[0], text)
    whole, fraction = (Number, Number) if numbers_as_written else (None, _fraction)
    loads = partial(json.loads, text, parse_float=fraction, parse_constant=lambda _: None)
    try:
        with garbage_collection_off():
            try:
                return loads(parse_int=whole)
            except json.JSONDecodeError:
                raise
            except ValueError:  # Python reads no whole number of more than 4300 digits
                return loads(parse_int=lambda digits: int(digits) if len(digits) < 4000 else Number(digits))
    except RecursionError as error:
        raise InvalidJson(_TOO_DEEP) from error
    except json.JSONDecodeError as error:
        if text.lstrip().startswith("<"):
            sentence = "The answer is HTML or XML where JSON was expected."
        elif error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            sentence = f"The answer breaks off after {len(text)} characters: it is half a JSON document."
        else:
            sentence = f"The answer is not JSON: {error.msg} at character {error.pos} of {len(text)}."
        raise InvalidJson(sentence) from error


def with_references(value: Json) -> Json:
    """A document with objects in place of references to them: `{"$ref": "7"}` is the last with `"$id": "7"`.

    .NET may number all objects so, and writes each only once. A reference to an object around it is null, and
    so is one to none. Raises InvalidJson where all that is referred to would be too much.
    """
    whole: dict[str, tuple[Object, int]] = {}  # with how many objects it consists of
    count = 0

    def opened(one: Json) -> Json:
        nonlocal count
        if type(one) is list:
            return [opened(element) for element in one]
        if type(one) is not dict:
            return one
        before = count
        if type(name := one.get("$ref")) is str:
            members, size = whole.get(name, (None, 0))
            count += size
        else:
            count += 1
            members = {key: opened(member) for key, member in one.items() if key not in _OF_REFERENCES}
            if type(name := one.get("$id")) is str:
                whole[name] = members, count - before
        if count > MOST_OPENED:
            raise InvalidJson(f"The answer refers to more than {MOST_OPENED} objects.")
        return members

    try:
        return opened(value)
    except RecursionError as error:
        raise InvalidJson(_TOO_DEEP) from error


def value_at(one: Json, keys: Keys) -> Json:
    """The value in an object under these keys, None when there is nothing."""
    for key in keys:
        one = one.get(key) if type(one) is dict else None
    return one


def to_json(value: Json) -> str:
    """Write a value as JSON, its numbers as they came, however deeply it is nested."""
    written: list[str] = []
    todo: list[tuple[Json, bool]] = [(value, False)]
    while todo:
        item, is_written = todo.pop()
        if is_written:
            written.append(item)
        elif isinstance(item, dict):
            members = ([(", ", True), (key, False), (": ", True), (one, False)] for key, one in item.items())
            todo += reversed([("{", True), *list(chain.from_iterable(members))[1:], ("}", True)])
        elif isinstance(item, list):
            elements = ([(", ", True), (one, False)] for one in item)
            todo += reversed([("[", True), *list(chain.from_iterable(elements))[1:], ("]", True)])
        else:
            written.append(item.text if isinstance(item, Number) else json.dumps(item, ensure_ascii=False))
    return "".join(written)


@contextmanager
def garbage_collection_off() -> Iterator[None]:
    """A million new objects, none of them garbage: looking for some takes longer than reading them.

    Of threads that read at once, the one that came first turns the collection on again.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _decoded(body: bytes) -> str:
    """The text of a body: UTF-8, or UTF-16 and UTF-32 by their marks."""
    if not body.strip():
        raise InvalidJson("The answer is empty where JSON was expected.")
    encoding = json.detect_encoding(body)
    try:
        return body.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        raise InvalidJson(
            f"The answer is not {encoding.upper()}: byte {error.start} of {len(body)} does not belong there. "
            "It may have been sent in another character set."
        ) from error


def _fraction(text: str) -> float:
    number = float(text)
    is_finite = number - number == 0
    return number if is_finite and len(text) <= LONGEST_EXACT else Number(text)
