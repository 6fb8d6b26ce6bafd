"""The JSON document of one answer: read by orjson, and by the json module where digits would be lost."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, partial
from itertools import chain
from typing import Any

import orjson

Json = Any  # None, bool, int, float, Decimal, str, list or dict: what a JSON parser makes of a document
Object = dict[str, Json]
Keys = tuple[str, ...]  # the names that lead from an object to a value in it, through objects only

LONGEST_WHOLE = 4_000  # digits of a whole number; Python reads none of more than 4,300
LONGEST_EXACT = 16  # characters of a fractional number that a float always gives back as they were
_KINDS = {str: "a text", bool: "true or false"}
_DIGITS = bytes(ord("0") if sign in b"0123456789." else ord(" ") for sign in range(256))
_TOO_MANY_DIGITS = b"0" * LONGEST_EXACT
_SURROGATES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


class InvalidJson(ValueError):
    """A body that is no JSON document of objects or lists, said in a sentence."""


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
                    return orjson.loads(self.body)
            except orjson.JSONDecodeError:
                self._with_all_digits = True
        return parse_exactly(self.body)

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
        for name in ("value", "may_lack_digits"):
            self.__dict__.pop(name, None)


def read_document(body: bytes) -> Document:
    """Read a body; raises InvalidJson for halves, other formats and single values."""
    document = Document(body)
    if document.value is not None and not isinstance(document.value, dict | list):
        kind = _KINDS.get(type(document.value), "a number")
        raise InvalidJson(f"The answer is {kind} where an object or a list was expected.")
    return document


def parse_exactly(body: bytes) -> Json:
    """The document of a body, read by the json module; a number that a float does not hold is a Decimal.

    NaN and Infinity, which no JSON has, are null. Raises InvalidJson.
    """
    text = _decoded(body)
    if r"\u" in text:
        text = _SURROGATES.sub(lambda found: r"\ufffd" if found[1] else found[0], text)
    loads = partial(json.loads, text, parse_float=_fraction, parse_constant=lambda _: None)
    try:
        with garbage_collection_off():
            return loads(parse_int=_whole)
    except RecursionError as error:
        raise InvalidJson("The answer is nested too deeply to be read.") from error
    except json.JSONDecodeError as error:
        if text.lstrip().startswith("<"):
            sentence = "The answer is HTML or XML where JSON was expected."
        elif error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            sentence = f"The answer breaks off after {len(text)} characters: it is half a JSON document."
        else:
            sentence = f"The answer is not JSON: {error.msg} at character {error.pos} of {len(text)}."
        raise InvalidJson(sentence) from error


def to_json(value: Json) -> str:
    """Write a value as JSON, its numbers exactly, however deeply it is nested."""
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
            written.append(str(item) if isinstance(item, Decimal) else json.dumps(item, ensure_ascii=False))
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


def _fraction(text: str) -> float | Decimal:
    number = float(text)
    is_finite = number - number == 0
    return number if is_finite and len(text) <= LONGEST_EXACT else Decimal(text)


def _whole(text: str) -> int | Decimal:
    return int(text) if len(text) <= LONGEST_WHOLE else Decimal(text)
