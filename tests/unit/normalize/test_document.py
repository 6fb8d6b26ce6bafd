"""Reading a body: strictly and completely, with the numbers and keys that a parser might lose."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from pipelines.normalize.document import InvalidJson, parse_exactly, read_document, to_json


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "The answer is empty where JSON was expected."),
        (b"<html>", "The answer is not JSON: Expecting value at character 0 of 6."),
        (b'[{"a": 1}', "The answer breaks off after 9 characters, inside a JSON document."),
        (b'[{"a"', "The answer breaks off after 5 characters, inside a JSON document."),
        (b"[1] trailing", "The answer is not JSON: Extra data at character 4 of 12."),
        (b'"text"', "The answer is a text where an object or a list was expected."),
        (b"[nan]", "The answer is not JSON: Expecting value at character 1 of 5."),
        (b"7", "The answer is a number where an object or a list was expected."),
        (b"[" * 100_000 + b"]" * 100_000, "The answer is nested too deeply to be read."),
    ],
)
def test_a_body_that_is_not_a_document_is_an_error_with_a_reason(body: bytes, sentence: str) -> None:
    with pytest.raises(InvalidJson) as raised:
        read_document(body)
    assert str(raised.value) == sentence


def test_a_body_in_another_character_set_is_an_error_with_the_place() -> None:
    with pytest.raises(InvalidJson, match=r"not UTF-8: byte 2 of 6 is invalid"):
        read_document('["é "]'.encode("latin-1"))


ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32")


@pytest.mark.parametrize(
    ("body", "value"),
    [
        *(('[{"ort": "Åmål"}]'.encode(encoding), [{"ort": "Åmål"}]) for encoding in ENCODINGS),
        (b"null", None),
        (b"[]", []),
        (b"{}", {}),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'{"a": 1, "a": 2.00000000000000000000}', {"a": 2}),
        (b'[NaN, Infinity, {"a": -Infinity}, "NaN"]', [None, None, {"a": None}, "NaN"]),
    ],
)
def test_a_document_is_read_in_every_form_that_json_allows(body: bytes, value: object) -> None:
    assert read_document(body).value == value


OF_EVERY_KIND = {"a": [1, 2.5, None, True, 'å"\n'], "b": {}, "c": [], "": {"d": [[], [{}]]}}


@pytest.mark.parametrize(
    "text",
    [
        "[1E+400, 12345678901234567.25, 0.1000000000000000055511151231257827]",
        f'[{"9" * 5_000}, {{"a": 1.5}}]',
        "[" * 900 + "1" + "]" * 900,
        json.dumps(OF_EVERY_KIND, ensure_ascii=False),
    ],
    ids=["numbers that no float holds", "a long whole number", "deep", "as the json module writes it"],
)
def test_an_exactly_read_document_is_written_unchanged(text: str) -> None:
    assert to_json(parse_exactly(text.encode())) == text


def test_an_unpaired_surrogate_becomes_the_replacement_character() -> None:
    assert parse_exactly(rb'["\ud800 \ud83d\ude00 \\ud800"]') == ["\ufffd \U0001f600 \\ud800"]


def test_a_document_is_read_again_after_forget() -> None:
    document = read_document(b'[{"a": 1}]')
    before = document.value
    document.forget()
    assert document.value == before
    assert document.value is not before


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("1234567890123.4567", Decimal("1234567890123.4567")),
        ("123456.7890123456", 123456.7890123456),
        ("12345678901.25", 12345678901.25),
    ],
)
def test_a_number_whose_digits_a_float_may_lose_is_read_exactly(number: str, value: object) -> None:
    assert read_document(f'[{{"amount": {number}}}]'.encode()).value == [{"amount": value}]
