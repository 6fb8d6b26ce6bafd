"""Tests of reading a body: strictly and whole, with the numbers and keys that a parser might lose."""

from __future__ import annotations

import gc
import json

import pytest

from pipelines.normalize.document import InvalidJson, Number, parse_exactly, read_document, to_json


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "The answer is empty where JSON was expected."),
        (b" \r\n", "The answer is empty where JSON was expected."),
        (b"<!DOCTYPE html><html>", "The answer is HTML or XML where JSON was expected."),
        (b'[{"a": 1}', "The answer breaks off after 9 characters: it is half a JSON document."),
        (b'[{"a": "text', "The answer breaks off after 12 characters: it is half a JSON document."),
        (b'[{"a"', "The answer breaks off after 5 characters: it is half a JSON document."),
        (b"[1] trailing", "The answer is not JSON: Extra data at character 4 of 12."),
        (b"[NaN]", "The answer is not JSON: it holds NaN, which is no number."),
        (b'"text"', "The answer is a single value where an object or a list was expected."),
        (b"7", "The answer is a single value where an object or a list was expected."),
        (b"[" * 100_000 + b"]" * 100_000, "The answer is nested too deeply to be read."),
    ],
)
def test_a_body_that_is_no_document_is_refused_with_a_sentence(body: bytes, sentence: str) -> None:
    with pytest.raises(InvalidJson) as refused:
        read_document(body)
    assert str(refused.value) == sentence


def test_a_body_in_another_character_set_is_refused_with_the_place() -> None:
    with pytest.raises(InvalidJson, match=r"not UTF-8: byte 2 of 6 does not belong there"):
        read_document('["é "]'.encode("latin-1"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_unicode_is_read_in_every_form_that_json_allows(encoding: str) -> None:
    assert read_document('[{"ort": "Åmål"}]'.encode(encoding)).value == [{"ort": "Åmål"}]


@pytest.mark.parametrize(("body", "value"), [(b"null", None), (b"[]", []), (b"{}", {})])
def test_nothing_is_a_document_too(body: bytes, value: object) -> None:
    assert read_document(body).value == value


@pytest.mark.parametrize("digits", ["2", "2.00000000000000000000"])
def test_of_a_key_said_twice_the_last_counts(digits: str) -> None:
    assert read_document(f'{{"a": 1, "a": {digits}}}'.encode()).value == {"a": 2}


@pytest.mark.parametrize("text", ["1e400", "12345678901234567.25", "0.1000000000000000055511151231257827"])
def test_a_number_that_no_float_holds_keeps_its_text(text: str) -> None:
    (number,) = parse_exactly(f"[{text}]".encode())
    assert isinstance(number, Number)
    assert to_json(number) == text


def test_a_whole_number_of_any_length_is_read() -> None:
    digits = "9" * 5_000
    assert to_json(parse_exactly(f'[{digits}, {{"a": 1.5}}]'.encode())) == f'[{digits}, {{"a": 1.5}}]'


def test_half_a_character_becomes_the_sign_for_an_unknown_one() -> None:
    assert parse_exactly(rb'["\ud800 \ud83d\ude00 \\ud800"]') == ["\ufffd \U0001f600 \\ud800"]


def test_reading_leaves_the_search_for_garbage_as_it_was() -> None:
    gc.disable()
    try:
        parse_exactly(b"[]")
        assert not gc.isenabled()
    finally:
        gc.enable()
    parse_exactly(b"[]")
    assert gc.isenabled()


def test_json_is_written_as_deeply_as_it_is_read() -> None:
    body = b"[" * 900 + b"1" + b"]" * 900
    assert to_json(parse_exactly(body)) == body.decode()


def test_json_is_written_as_the_json_module_writes_it() -> None:
    value = {"a": [1, 2.5, None, True, 'å"\n'], "b": {}, "c": [], "": {"d": [[], [{}]]}}
    assert to_json(value) == json.dumps(value, ensure_ascii=False)


def test_a_row_is_given_back_with_its_numbers_as_they_were_written() -> None:
    page = read_document(b'{"rows": [{"amount": 1.50}, {"amount":1E2,"n":-0}]}')
    assert page.raw(["rows", 1]) == '{"amount": 1E2, "n": -0}'


def test_a_document_that_forgot_its_values_reads_them_again() -> None:
    document = read_document(b'[{"a": 1}]')
    before = document.value
    document.forget()
    assert document.value == before
    assert document.value is not before


@pytest.mark.parametrize(
    ("body", "may_lack"),
    [
        (b'[{"amount": 12345678901.25}]', False),
        (b'[{"amount": 1234567890123.4567}]', True),
        (b'[{"id": "1234567890123456"}]', True),
        ('["1234567890123456"]'.encode("utf-16"), False),
    ],
)
def test_only_a_body_with_a_long_row_of_digits_may_lack_some(body: bytes, may_lack: bool) -> None:
    document = read_document(body)
    assert document.may_lack_digits is may_lack
    document.read_all_digits()
    assert not document.may_lack_digits
