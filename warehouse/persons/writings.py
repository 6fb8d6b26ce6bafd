"""Writings of a text: patterns that find it however JSON, addresses or HTML escape it, in any encoding."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html.entities import codepoint2name
from unicodedata import normalize

ESCAPES = re.compile(r"[\\%&+]")
"""A text without one of these signs is written as it is."""
BEGINS = r"(?:(?<![^\W_])|(?<=\\[bfnrt])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9a-fA-F]{2}))"
ENDS = r"(?![^\W_])"
"""Where a word begins and ends; letters that belong to an escape before it are not part of it."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)


@dataclass(frozen=True)
class Decoded:
    """The text of a body; what is before and after it is no text. Encoded again it is the same bytes."""

    text: str
    encoding: str
    before: bytes = b""
    after: bytes = b""

    def encoded(self, text: str) -> bytes:
        """The body with another text."""
        return self.before + text.encode(self.encoding, _lenient(self.encoding)) + self.after


def decoded(body: bytes, encoding: str = "") -> Decoded:
    """The text of a body as the client reads it: UTF-8, or UTF-16 and UTF-32 by their marks or their zeros.

    Bytes that are not UTF-8 are read as Windows does; with an `encoding` they are read in that one.
    """
    mark, marked = next(((one, name) for one, name in _MARKS if body.startswith(one)), (b"", ""))
    known = encoding or marked or json.detect_encoding(body)
    rest = body[len(mark) :]
    if known == "utf-8" and not encoding:
        known = next(one for one in ("utf-8", "cp1252", "latin-1") if _is_in(rest, one))
    width = {"utf-16": 2, "utf-32": 4}.get(known[:6], 1)
    whole = len(rest) // width * width
    try:
        return Decoded(rest[:whole].decode(known, _lenient(known)), known, mark, rest[whole:])
    except UnicodeDecodeError:  # not even halves of signs
        return Decoded(rest.decode("latin-1"), "latin-1", mark)


def further_encodings(body: bytes, encoding: str) -> list[str]:
    """In which other encodings a body that is no document may hold a text as well."""
    mixed = ["utf-8"] if encoding in ("cp1252", "latin-1") else []
    return (
        [*mixed, "utf-16-le", "utf-16-be"] if b"\0" in body and not encoding.startswith("utf-16") else mixed
    )


def forms_of(text: str) -> set[str]:
    """The text, and the same with its accents composed and decomposed."""
    return {text, normalize("NFC", text), normalize("NFD", text)}


def as_it_is(texts: Iterable[str], *, any_case: bool) -> str:
    """A pattern of these texts, longest first, without any escape."""
    forms = {form for text in texts for form in forms_of(text)}
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return "|".join("".join(_plain(sign, any_case=any_case) for sign in form) for form in longest_first)


def in_any_writing(text: str, *, any_case: bool) -> str:
    r"""A pattern of a text in which every sign may be escaped, once or several times.

    Of `ü` it knows `\u00FC`, `\\u00fc`, `%C3%BC`, `%25C3%25BC`, `&uuml;`, `&#252;` and `&#xFC;`. It has only
    alternatives, classes and repetitions, so that all engines (Python's, DuckDB's, Polars') agree on it.
    """
    forms = sorted(forms_of(text), key=lambda form: (-len(form), form))
    return "|".join("".join(_escaped(sign, any_case=any_case) for sign in form) for form in forms)


def _plain(sign: str, *, any_case: bool) -> str:
    cases = _cases(sign, any_case=any_case)
    return re.escape(sign) if len(cases) == 1 else f"(?:{'|'.join(map(re.escape, cases))})"


def _escaped(sign: str, *, any_case: bool) -> str:
    """Every writing of a sign, each in a form that is no part of another's."""
    ways: list[str] = []
    for one in _cases(sign, any_case=any_case):
        ways.append({"\\": r"\\+"}.get(one) or (r"\\*" if one in "\"'/" else "") + re.escape(one))
        if len(one) > 1:
            continue
        units = one.encode("utf-16-be", "surrogatepass").hex()
        ways.append("".join(rf"\\+u{_hex(units[at : at + 4])}" for at in range(0, len(units), 4)))
        ways.append(_in_address(one.encode("utf-8", "surrogatepass")))
        if "\x7f" < one <= "\xff":
            ways.append(_in_address(one.encode("latin-1")))
        ways += [f"&#0*{ord(one)};", f"&#[xX]0*{_hex(f'{ord(one):x}')};"]
        if name := codepoint2name.get(ord(one)):
            ways.append(f"&{name};")
    if sign == " ":
        ways += [r"\+", "&nbsp;"]
    return f"(?:{'|'.join(dict.fromkeys(ways))})"


def _cases(sign: str, *, any_case: bool) -> list[str]:
    return sorted({sign, sign.lower(), sign.upper(), sign.casefold()}) if any_case else [sign]


def _in_address(content: bytes) -> str:
    return "".join(f"%(?:25)*{_hex(f'{byte:02x}')}" for byte in content)


def _hex(digits: str) -> str:
    return "".join(f"[{one}{one.upper()}]" if one.isalpha() else one for one in digits.lower())


def _is_in(body: bytes, encoding: str) -> bool:
    try:
        body.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _lenient(encoding: str) -> str:
    return (
        "surrogateescape" if encoding == "utf-8" else "surrogatepass" if encoding[:3] == "utf" else "strict"
    )
