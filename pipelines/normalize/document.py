"""The JSON document of one answer. The json module reads it if orjson fails or may lose digits."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, partial
from itertools import chain
from math import isfinite
from typing import Any

import orjson

from pipelines.shapes.places import describe

Json = Any  # None, bool, int, float, Decimal, str, list or dict: the values of a parsed document
Object = dict[str, Json]
Keys = tuple[str, ...]  # the names that lead from an object to a value in it, through nested objects

MAX_INTEGER_LENGTH = 4_000  # a longer integer becomes a Decimal; `int` reads at most 4,300 digits
MAX_EXACT_LENGTH = 16  # a float keeps all digits of a fractional number with at most this many characters
_DIGITS_TO_ZEROS = bytes(ord("0") if byte in b"0123456789." else ord(" ") for byte in range(256))
_SIXTEEN_ZEROS = b"0" * MAX_EXACT_LENGTH  # quick test: a translated body without these has no _LONG_NUMBER
_LONG_NUMBER = re.compile(rb"(?<![0-9.])(?=[0-9.]{16})[0-9]{7}")
"""The start of a number that orjson may round. After at most 6 digits and a point, 9 decimals are exact."""
_SURROGATES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


class InvalidJson(ValueError):
    """A body that is not JSON, or is JSON but not an object, a list or null."""


@dataclass(eq=False)
class Document:
    """The document of a body. `value` is parsed on first use, and again if it is used after `forget`."""

    body: bytes

    @cached_property
    def value(self) -> Json:
        """The whole document; raises InvalidJson if the body is not JSON."""
        if _SIXTEEN_ZEROS not in self.body.translate(_DIGITS_TO_ZEROS) or not _LONG_NUMBER.search(self.body):
            with suppress(orjson.JSONDecodeError):
                return orjson.loads(self.body)
        return parse_exactly(self.body)

    def forget(self) -> None:
        """Free the memory of `value`."""
        self.__dict__.pop("value", None)


def read_document(body: bytes) -> Document:
    """Read a body; raises InvalidJson unless it is a complete JSON object, list or null."""
    document = Document(body)
    if document.value is not None and not isinstance(document.value, dict | list):
        raise InvalidJson(f"The answer is {describe(document.value)} where an object or a list was expected.")
    return document


def parse_exactly(body: bytes) -> Json:
    """Parse a body with the json module; raises InvalidJson if the body is not JSON.

    An integer becomes a Decimal if it has more than 4,000 characters. Any other number becomes a Decimal if
    it has more than 16 characters, or is too large for a float. NaN and Infinity, which JSON does not allow,
    become None. An unpaired surrogate becomes U+FFFD.
    """
    text = _decode(body)
    if r"\u" in text:
        text = _SURROGATES.sub(lambda match: r"\ufffd" if match[1] else match[0], text)
    loads = partial(json.loads, text, parse_float=_parse_fraction, parse_constant=lambda _: None)
    try:
        return loads(parse_int=_parse_integer)
    except RecursionError as error:
        raise InvalidJson("The answer is nested too deeply to be read.") from error
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            sentence = f"The answer breaks off after {len(text)} characters, inside a JSON document."
        else:
            sentence = f"The answer is not JSON: {error.msg} at character {error.pos} of {len(text)}."
        raise InvalidJson(sentence) from error


def to_json(value: Json) -> str:
    """The JSON text of a value nested to any depth, with exact numbers."""
    written: list[str] = []
    todo: list[tuple[Json, bool]] = [(value, False)]
    while todo:
        item, is_json_text = todo.pop()
        if is_json_text:
            written.append(item)
        elif isinstance(item, dict):
            members = (
                [(", ", True), (key, False), (": ", True), (member, False)] for key, member in item.items()
            )
            todo += reversed([("{", True), *list(chain.from_iterable(members))[1:], ("}", True)])
        elif isinstance(item, list):
            elements = ([(", ", True), (element, False)] for element in item)
            todo += reversed([("[", True), *list(chain.from_iterable(elements))[1:], ("]", True)])
        else:
            written.append(str(item) if isinstance(item, Decimal) else json.dumps(item, ensure_ascii=False))
    return "".join(written)


def _decode(body: bytes) -> str:
    if not body.strip():
        raise InvalidJson("The answer is empty where JSON was expected.")
    encoding = json.detect_encoding(body)
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        raise InvalidJson(
            f"The answer is not {encoding.upper()}: byte {error.start} of {len(body)} is invalid. "
            "It may have been sent in another character set."
        ) from error


def _parse_fraction(text: str) -> float | Decimal:
    number = float(text)
    return number if isfinite(number) and len(text) <= MAX_EXACT_LENGTH else Decimal(text)


def _parse_integer(text: str) -> int | Decimal:
    return int(text) if len(text) <= MAX_INTEGER_LENGTH else Decimal(text)
