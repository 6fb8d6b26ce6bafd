"""The JSON document of one answer: read by orjson, and by the json module where digits would be lost."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import orjson

Json = Any  # None, bool, int, float, str, list or dict: what a JSON parser makes of a document

LONGEST_EXACT = 16  # characters of a fractional number that a float always gives back as they were
_DIGITS = bytes(ord("0") if sign in b"0123456789." else ord(" ") for sign in range(256))
_TOO_MANY_DIGITS = b"0" * LONGEST_EXACT
_SURROGATES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


class NotJson(ValueError):
    """A body that is no JSON document of objects or lists, said in a sentence."""


class Number(float):
    """A number with its text, of which a float may hold less."""

    text: str

    def __new__(cls, text: str) -> Number:
        number = super().__new__(cls, text)
        number.text = text
        return number


class Document:
    """The document of one body; its values are read again after they were forgotten."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self._with_all_digits = False

    @cached_property
    def value(self) -> Json:
        """The whole document; raises NotJson."""
        if not self._with_all_digits:
            try:
                with garbage_collection_off():
                    return _document(orjson.loads(self.body))
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
        for name in ("value", "may_lack_digits", "_as_written"):
            self.__dict__.pop(name, None)

    def raw(self, steps: Sequence[str | int]) -> str:
        """The value at the end of these keys and places, as JSON, every number as it was written."""
        value = self._as_written
        for step in steps:
            value = value[step]
        return to_json(value)

    @cached_property
    def _as_written(self) -> Json:
        return parse_exactly(self.body, numbers_as_written=True)


def read_document(body: bytes) -> Document:
    """Read a body; raises NotJson for halves, other formats and single values."""
    document = Document(body)
    _ = document.value
    return document


def parse_exactly(body: bytes, *, numbers_as_written: bool = False) -> Json:
    """The document of a body, read by the json module; a number that a float does not hold is a Number.

    `numbers_as_written` makes every number one. Raises NotJson.
    """
    text = _decoded(body)
    if r"\u" in text:
        text = _SURROGATES.sub(lambda found: r"\ufffd" if found[1] else found[0], text)
    whole, fraction = (Number, Number) if numbers_as_written else (None, _fraction)
    try:
        with garbage_collection_off():
            return _document(_loads(text, whole, fraction))
    except RecursionError as error:
        raise NotJson("The answer is nested too deeply to be read.") from error
    except json.JSONDecodeError as error:
        raise NotJson(_sentence(text, error)) from error


def to_json(value: Json) -> str:
    """Write a value as JSON, its numbers as they came, however deeply it is nested."""
    written: list[str] = []
    todo: list[Json | _Written] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, _Written):
            written.append(item)
        elif isinstance(item, dict | list):
            opening, closing = "{}" if isinstance(item, dict) else "[]"
            inner: list[Json | _Written] = [_Written(opening)]
            for number, element in enumerate(item):
                inner.append(_Written(", " if number else ""))
                if isinstance(item, dict):
                    inner += [element, _Written(": "), item[element]]
                else:
                    inner.append(element)
            todo += reversed([*inner, _Written(closing)])
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


class _Written(str):
    """Text that is JSON already."""

    __slots__ = ()


def _document(value: Json) -> Json:
    if value is not None and not isinstance(value, dict | list):
        raise NotJson("The answer is a single value where an object or a list was expected.")
    return value


def _decoded(body: bytes) -> str:
    """The text of a body: UTF-8, or UTF-16 and UTF-32 by their marks."""
    if not body.strip():
        raise NotJson("The answer is empty where JSON was expected.")
    encoding = json.detect_encoding(body)
    try:
        return body.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        raise NotJson(
            f"The answer is not {encoding.upper()}: byte {error.start} of {len(body)} does not belong there. "
            "It may have been sent in another character set."
        ) from error


def _loads(text: str, whole: Any, fraction: Any) -> Json:
    try:
        return json.loads(text, parse_float=fraction, parse_int=whole, parse_constant=_refused)
    except (json.JSONDecodeError, NotJson):
        raise
    except ValueError:  # Python reads no whole number of more than 4300 digits
        return json.loads(text, parse_float=fraction, parse_int=_long_whole, parse_constant=_refused)


def _fraction(text: str) -> float:
    number = float(text)
    is_finite = number - number == 0
    return number if is_finite and len(text) <= LONGEST_EXACT else Number(text)


def _long_whole(text: str) -> int | Number:
    return int(text) if len(text) < 4000 else Number(text)


def _refused(constant: str) -> Json:
    raise NotJson(f"The answer is not JSON: it holds {constant}, which is no number.")


def _sentence(text: str, error: json.JSONDecodeError) -> str:
    if text.lstrip().startswith("<"):
        return "The answer is HTML or XML where JSON was expected."
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return f"The answer breaks off after {len(text)} characters: it is half a JSON document."
    return f"The answer is not JSON: {error.msg} at character {error.pos} of {len(text)}."
