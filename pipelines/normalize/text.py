"""How is a body read without losing anything? Strictly, keeping what a float or a dictionary would drop."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

Json = Any  # None, bool, int, float, str, list or dict: what the json module makes of a document

LONGEST_EXACT = 16  # characters of a fractional number that a float always gives back as they were
_SURROGATES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


class NotJson(ValueError):
    """A body that is no JSON document of objects or lists, said in a sentence."""


class Number(float):
    """A number of which a float holds less than its text says."""

    text: str

    def __new__(cls, text: str) -> Number:
        number = super().__new__(cls, text)
        number.text = text
        return number


def decoded(body: bytes) -> str:
    """The text of a body: UTF-8, or UTF-16 and UTF-32 by their marks; refuses every other encoding."""
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


def parsed(body: bytes, *, numbers_as_written: bool = False) -> Json:
    """The document that a body holds; refuses halves, trailing text, NaN and lone values."""
    text = decoded(body)
    if r"\u" in text:
        text = _SURROGATES.sub(lambda found: r"\ufffd" if found[1] else found[0], text)
    try:
        value = _loads(text, Number if numbers_as_written else None)
    except RecursionError as error:
        raise NotJson("The answer is nested too deeply to be read.") from error
    except json.JSONDecodeError as error:
        raise NotJson(_sentence(text, error)) from error
    if value is not None and not isinstance(value, dict | list):
        raise NotJson("The answer is a single value where an object or a list was expected.")
    return value


def to_json(value: Json) -> str:
    """Write a value as JSON, its numbers as they came, however deeply it is nested."""
    written: list[str] = []
    todo: list[Json | _Written] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, _Written):
            written.append(item)
        elif isinstance(item, dict):
            todo.extend(reversed(_members(item)))
        elif isinstance(item, list):
            todo.extend(reversed(_elements(item)))
        else:
            written.append(item.text if isinstance(item, Number) else json.dumps(item, ensure_ascii=False))
    return "".join(written)


class _Written(str):
    """Text that is JSON already."""

    __slots__ = ()


def _members(value: dict[str, Json]) -> list[Json | _Written]:
    items: list[Json | _Written] = [_Written("{")]
    for number, (key, member) in enumerate(value.items()):
        items += [_Written(f"{', ' if number else ''}{json.dumps(key, ensure_ascii=False)}: "), member]
    return [*items, _Written("}")]


def _elements(value: list[Json]) -> list[Json | _Written]:
    items: list[Json | _Written] = [_Written("[")]
    for number, element in enumerate(value):
        items += [_Written(", " if number else ""), element]
    return [*items, _Written("]")]


def _loads(text: str, number: type[Number] | None) -> Json:
    read = partial(json.loads, text, object_pairs_hook=_object, parse_constant=refused)
    try:
        with _no_search_for_garbage():
            return read(parse_float=number or _fraction, parse_int=number)
    except (json.JSONDecodeError, NotJson):
        raise
    except ValueError:  # Python reads no whole number of more than 4300 digits
        return read(parse_float=_fraction, parse_int=_whole)


@contextmanager
def _no_search_for_garbage() -> Iterator[None]:
    """A million new objects, none of them garbage: looking for some takes longer than reading them.

    Of threads that read at once, the one that came first turns the search on again.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else _told_apart(pairs)


def _told_apart(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """An object that says a key twice keeps both: the second is `key_2`."""
    members: dict[str, Json] = {}
    for key, value in pairs:
        name, number = key, 2
        while name in members:
            name, number = f"{key}_{number}", number + 1
        members[name] = value
    return members


def _fraction(text: str) -> float:
    number = float(text)
    is_finite = number - number == 0
    return number if is_finite and len(text) <= LONGEST_EXACT else Number(text)


def _whole(text: str) -> int | Number:
    return int(text) if len(text) < 4000 else Number(text)


def refused(constant: str) -> Json:
    """Refuse what the json module reads although JSON has no such number."""
    raise NotJson(f"The answer is not JSON: it holds {constant}, which is no number.")


def _sentence(text: str, error: json.JSONDecodeError) -> str:
    if text.lstrip().startswith("<"):
        return "The answer is HTML or XML where JSON was expected."
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return f"The answer breaks off after {len(text)} characters: it is half a JSON document."
    return f"The answer is not JSON: {error.msg} at character {error.pos} of {len(text)}."
